#pragma once

/// @file
/// Requests and rows of the limits of queues.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// The name of a queue.
struct limits_request {
  std::string_view queue = {};

  static constexpr auto fields() { return std::tuple(text("queue", &limits_request::queue)); }
};

/// The name of a queue, and the clock.
struct limits_lock_request {
  std::string_view queue = {};
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(text("queue", &limits_lock_request::queue),
                      integer("now", &limits_lock_request::now));
  }
};

/// The tokens that a read leaves.
struct spend_request {
  std::string_view queue = {};
  std::int64_t tokens = 0;
  std::int64_t refilled_at = 0;

  static constexpr auto fields() {
    return std::tuple(text("queue", &spend_request::queue),
                      integer("tokens", &spend_request::tokens),
                      integer("refilled_at", &spend_request::refilled_at));
  }
};

/// Whether reads stop.
struct pause_request {
  std::string_view queue = {};
  bool paused = false;

  static constexpr auto fields() {
    return std::tuple(text("queue", &pause_request::queue),
                      integer("paused", &pause_request::paused));
  }
};

/// All limits of a queue. Rates are millionths, tokens are billionths of a message.
struct limits_set_request {
  std::string_view queue = {};
  std::optional<std::size_t> capacity = {};
  std::optional<std::int64_t> rate = {};
  std::optional<int> burst = {};
  std::optional<int> concurrency = {};
  std::int64_t tokens = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(
        text("queue", &limits_set_request::queue),
        integer("capacity", &limits_set_request::capacity),
        integer("rate", &limits_set_request::rate), integer("burst", &limits_set_request::burst),
        integer("concurrency", &limits_set_request::concurrency),
        integer("tokens", &limits_set_request::tokens), integer("now", &limits_set_request::now));
  }
};

/// Counts messages, up to `max`. For a number up to `enough` an upper bound is sufficient.
struct room_request {
  std::size_t enough = 0;
  std::size_t max = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("enough", &room_request::enough), integer("max", &room_request::max),
                      integer("now", &room_request::now));
  }
};

/// Counts leases that have not ended, up to `max` or some more.
struct leased_request {
  std::size_t max = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("max", &leased_request::max), integer("now", &leased_request::now));
  }
};

/// The queue that has the name, and its limits. No row: no queue has it.
struct limits_row {
  std::int64_t identity = 0;
  std::string kind = {};
  bool paused = false;
  std::optional<std::size_t> capacity = {};
  std::optional<std::int64_t> rate = {};
  std::optional<int> burst = {};
  std::optional<int> concurrency = {};

  static constexpr auto fields() {
    return std::tuple(integer("identity", &limits_row::identity), text("kind", &limits_row::kind),
                      integer("paused", &limits_row::paused),
                      integer("capacity", &limits_row::capacity),
                      integer("rate", &limits_row::rate), integer("burst", &limits_row::burst),
                      integer("concurrency", &limits_row::concurrency));
  }
};

/// The limits of a queue, and the tokens of its rate.
struct limits_lock_row {
  bool paused = false;
  std::optional<std::int64_t> rate = {};
  std::optional<std::int64_t> burst = {};
  std::optional<std::size_t> concurrency = {};
  std::optional<std::int64_t> tokens = {};
  std::optional<std::int64_t> refilled_at = {};
  std::optional<std::int64_t> clock = {};

  static constexpr auto fields() {
    return std::tuple(integer("paused", &limits_lock_row::paused),
                      integer("rate", &limits_lock_row::rate),
                      integer("burst", &limits_lock_row::burst),
                      integer("concurrency", &limits_lock_row::concurrency),
                      integer("tokens", &limits_lock_row::tokens),
                      integer("refilled_at", &limits_lock_row::refilled_at),
                      integer("clock", &limits_lock_row::clock));
  }
};

/// A number.
struct number_row {
  std::size_t number = 0;

  static constexpr auto fields() { return std::tuple(integer("number", &number_row::number)); }
};

namespace statements {

inline constexpr typed_statement<limits_request, nothing, limits_row> limits_read{
    statement::limits_read};
inline constexpr typed_statement<limits_request, nothing, limits_row> limits_ask{
    statement::limits_ask};
inline constexpr typed_statement<limits_lock_request, nothing, limits_lock_row> limits_lock{
    statement::limits_lock};
inline constexpr typed_statement<spend_request, nothing, nothing> limits_spend{
    statement::limits_spend};
inline constexpr typed_statement<pause_request, nothing, nothing> limits_pause{
    statement::limits_pause};
inline constexpr typed_statement<limits_set_request, nothing, nothing> limits_set{
    statement::limits_set};
inline constexpr typed_statement<limits_request, nothing, nothing> limits_remove{
    statement::limits_remove};
inline constexpr typed_statement<room_request, nothing, number_row> queue_count{
    statement::queue_count};
inline constexpr typed_statement<room_request, nothing, number_row> claim_count{
    statement::claim_count};
inline constexpr typed_statement<leased_request, nothing, number_row> claim_leased{
    statement::claim_leased};

}  // namespace statements

}  // namespace tableq::inline v0::core
