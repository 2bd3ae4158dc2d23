#include "core/seam/contract.hpp"

#include <array>
#include <string_view>

#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr std::array by_time{sorted_by{place_of<message_row>("due_at")},
                             sorted_by{place_of<message_row>("id")}};
constexpr std::array newest_first{sorted_by{place_of<message_row>("id"), true}};
constexpr std::array by_priority{sorted_by{place_of<delivery_row>("priority"), true},
                                 sorted_by{place_of<delivery_row>("ready_at")},
                                 sorted_by{place_of<delivery_row>("id")}};
constexpr std::array by_place{sorted_by{place_of<placed_row>("place")}};

template <class Shared, class Item, class Row>
constexpr contract completed(contract out) {
  out.shared = described<Shared>;
  out.items = described<Item>;
  out.columns = described<Row>;
  if (out.operation.empty()) out.operation = out.name;
  out.adds = out.adds || out.lane == lane::add;
  const auto has = [&](std::string_view column) {
    return place_among(out.columns, column) != contract::no_place;
  };
  // A row of an application's table has no id.
  out.counts_messages = has("id") || has("place") || has("state");
  out.max_at = place_among(out.shared, "max");
  out.token_at = place_among(out.shared, "token");
  out.key_at = place_among(out.items, "key");
  out.fence_at = place_among(out.items, "fence");
  return out;
}

#define TABLEQ_CONTRACT(is_write, changes, group, is_named, of_all, of_item, of_row, ...) \
  completed<of_all, of_item, of_row>({.id = statement::group##_##is_named,                \
                                      .name = #group "." #is_named,                       \
                                      .writes = is_write,                                 \
                                      .changes_messages = changes,                        \
                                      __VA_ARGS__}),
#define TABLEQ_QUERY(...) TABLEQ_CONTRACT(false, false, __VA_ARGS__)
#define TABLEQ_CHANGE(...) TABLEQ_CONTRACT(true, true, __VA_ARGS__)
#define TABLEQ_RECORD(...) TABLEQ_CONTRACT(true, false, __VA_ARGS__)

constexpr std::array listed{TABLEQ_STATEMENTS(TABLEQ_QUERY, TABLEQ_CHANGE, TABLEQ_RECORD)};

}  // namespace

std::span<const contract> contracts() noexcept {
  return listed;
}

const contract& contract_of(statement id) noexcept {
  return listed[static_cast<std::size_t>(id)];
}

std::string_view text_name(const contract& of) noexcept {
  if (of.detail == message_detail::all) return of.name;
  return listed[static_cast<std::size_t>(of.id) - static_cast<std::size_t>(of.detail)].name;
}

}  // namespace tableq::inline v0::core
