#include "core/claim/dead_letters.hpp"

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/claim/operations.hpp"
#include "core/input/codec.hpp"
#include "core/queue/limit_gates.hpp"

namespace tableq::core {
namespace {

/// Takes messages out of one queue and puts them into another, ready.
/// @param state what they must be; others are left.
/// @param edit changes the headers on the way.
template <class Edit>
std::size_t move_messages(const queue_state& from, const queue_state& to, transaction& tx,
                          message_state state, std::span<const message_id> ids, Edit edit) {
  std::vector<value> removed;
  removed.reserve(ids.size());
  for (const message_id id : ids) removed.emplace_back(id.value);
  const value wanted(static_cast<std::int64_t>(state));
  row_set rows = from.execute_batch(&tx, statement::claim_remove, {&wanted, 1}, removed);
  std::deque<std::string> texts;  // keeps its elements where they are
  const auto keep = [&](std::optional<std::string> text) {
    return text ? value(std::string_view(texts.emplace_back(*std::move(text)))) : value();
  };
  std::vector<value> items;
  items.reserve(rows.size() * contract_of(statement::claim_adopt).items.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // The item's number comes first.
    const auto at = [](stored_column c) { return static_cast<std::size_t>(c) + 1; };
    const std::optional<std::string> json = rows.take_maybe_text(i, at(stored_column::headers));
    headers values = json ? decode_headers(*json) : headers();
    edit(values);
    items.push_back(keep(rows.take_text(i, at(stored_column::payload))));
    items.emplace_back(rows.integer(i, at(stored_column::priority)));
    items.emplace_back(rows.integer(i, at(stored_column::created_at)));
    items.push_back(keep(rows.take_maybe_text(i, at(stored_column::key))));
    items.push_back(values.empty() ? value() : keep(encode_headers(values)));
    items.push_back(keep(rows.take_maybe_text(i, at(stored_column::errors))));
  }
  if (items.empty()) return 0;
  to.execute_batch(&tx, statement::claim_adopt, {}, items);
  to.announce(&tx, rows.size());
  came_back(to, &tx);
  return rows.size();
}

}  // namespace

void bury(const queue_state& of, transaction& tx, std::span<const message_id> ids) {
  if (ids.empty()) return;
  move_messages(of, *of.dead_letters(), tx, message_state::dead, ids, [&](headers& values) {
    values.insert_or_assign(std::string(source_header), of.name());
  });
}

std::size_t exhume(const queue_state& of, transaction& tx, std::span<const message_id> ids) {
  return move_messages(*of.dead_letters(), of, tx, message_state::ready, ids, [](headers& values) {
    if (const auto at = values.find(source_header); at != values.end()) values.erase(at);
  });
}

}  // namespace tableq::core
