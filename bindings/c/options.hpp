#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>

#include "call.hpp"

struct tq_stop : tableq_c::handle<tq_stop> {
  static constexpr const char* name_of_type = "tq_stop";
  std::stop_source source;
};

struct tq_clock : tableq_c::handle<tq_clock> {
  static constexpr const char* name_of_type = "tq_clock";
  explicit tq_clock(std::int64_t at)
      : now(std::make_shared<std::atomic<std::int64_t>>(at)),
        clock(tableq::testing::clock_of(
            [now = now] { return tableq::timestamp(std::chrono::milliseconds(now->load())); })) {}

  std::shared_ptr<std::atomic<std::int64_t>> now;
  std::shared_ptr<const tableq::testing::set_clock> clock;
};

namespace tableq_c {

/// Delays after failed attempts, as their keys give them.
struct retry_values {
  std::optional<tableq::retry_delays> delays = {};
  std::optional<int> jitter = {};

  /// @throws tableq::error errc::invalid_argument for a jitter of nothing.
  [[nodiscard]] tableq::optional_retry delays_with_jitter() const;
};
/// The id of a batch and the receipt of a member, as their keys give them.
struct batch_values {
  std::optional<std::int64_t> id = {};
  std::optional<std::string> member = {};

  /// @throws tableq::error errc::invalid_argument for a member without an id, and for a text that
  ///   is no receipt.
  [[nodiscard]] std::optional<tableq::batch_id> all() const;
};

struct open_values : tableq::open_options {
  bool metrics = false;
};
struct queue_values : tableq::order_options, tableq::claim_options, retry_values {
  std::optional<tableq::lifetime> retain_done = {};
  std::optional<tableq::lifetime> retain_dead = {};
  bool for_claim = false;               ///< A key of "claim" was given.
  bool for_groups = false;              ///< One of groups was given.
  std::optional<bool> has_groups = {};  ///< As its key says.

  void note(std::string_view given) noexcept {
    for_claim = for_claim || given != "ordering";
    for_groups = for_groups || given.starts_with("group_");
  }
  [[nodiscard]] tableq::claim_options claim() const;
};
struct message_values : tableq::claim_enqueue_options, retry_values {
  batch_values batch_given = {};
  tableq::when_full full = {};
  std::vector<std::string_view> keys = {};  ///< As given.

  void note(std::string_view given) { keys.push_back(given); }
  [[nodiscard]] tableq::claim_enqueue_options claim_options() const;
  /// For kinds with fewer options. @throws tableq::error errc::invalid_argument for others.
  [[nodiscard]] tableq::enqueue_options plain_options() const;
  [[nodiscard]] tableq::pending_options pending_options() const;
};
struct begin_values : tableq::batch_end {
  batch_values parent = {};
  std::string name = {};
  std::optional<std::string> then = {};

  [[nodiscard]] tableq::batch_options all(std::string_view bytes) const;
};
struct read_values : tableq::take_options {
  bool for_claim = false;  ///< A key of `tq_take` alone was given.

  void note(std::string_view given) noexcept { for_claim = for_claim || given != "wait_ms"; }
};
struct failure_values : tableq::fail_options {
  std::optional<std::string> error = {};
};
struct filter_values : tableq::message_filter {
  bool dry_run = false;
  std::size_t batch = tableq::bulk_options().batch;
  std::size_t max = tableq::filter_page().max;
  std::optional<std::string> after = {};
  std::stop_token stop = {};
  tableq::look_options with = {};
};
struct alter_values : tableq::queue_changes, retry_values {
  bool dry_run = false;
};

/// The enumerator of the name; they count from 0. @param key that of the value.
template <class Enum>
Enum named(std::string_view name, std::string_view key) {
  std::string names;
  for (int each = 0; to_string(static_cast<Enum>(each)) != "unknown"; ++each) {
    const std::string_view known = to_string(static_cast<Enum>(each));
    if (known == name) return static_cast<Enum>(each);
    names.append(each == 0 ? "" : ", ").append(known);
  }
  refuse("the value of " + std::string(key) + " must be one of: " + names);
}

}  // namespace tableq_c

struct tq_options : tableq_c::handle<tq_options> {
  static constexpr const char* name_of_type = "tq_options";
  /// In the order of tq_purpose.
  std::variant<tableq_c::open_values, tableq_c::queue_values, tableq_c::message_values, tableq::row,
               tableq::when_full, tableq_c::read_values, tableq_c::failure_values,
               tableq::queue_limits, tableq::stats_options, tableq::purge_options,
               tableq::redrive_options, tableq::migrate_options, tableq_c::filter_values,
               tableq_c::alter_values, tableq::schedule, tableq_c::begin_values,
               tableq::group_limits, tableq::look_options>
      values;
};

namespace tableq_c {

/// The values of the options of a call; those without any for NULL.
/// @throws tableq::error errc::invalid_argument for another purpose.
template <class Values>
[[nodiscard]] const Values& values_of(const tq_options* options) {
  static const Values none{};
  if (options == nullptr) return none;
  const auto* const found = std::get_if<Values>(&checked(options).values);
  if (found == nullptr) refuse("the options are for another purpose than this call");
  return *found;
}

}  // namespace tableq_c
