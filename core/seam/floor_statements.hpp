#pragma once

/// @file
/// Looks for read floors, and reads that begin at them. Only for databases with
/// capabilities::deleted_rows_linger. See core/floor/read_floor.hpp.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/claim_statements.hpp"
#include "core/seam/limit_statements.hpp"
#include "core/seam/queue_statements.hpp"

namespace tableq::inline v0::core {

/// The layout of the catalogue from which on it has the table of floors, and that of a pending
/// queue whose late messages have an index.
inline constexpr int layout_with_floors = 2;

/// The first message from an id on, and the writers: see writers_watch.hpp.
struct floor_request {
  std::int64_t floor = 0;
  std::string_view writers = {};

  static constexpr auto fields() {
    return std::tuple(integer("floor", &floor_request::floor),
                      text("writers", &floor_request::writers));
  }
};

/// The first message, and the writers. See read_floor.hpp.
struct floor_row {
  std::optional<std::int64_t> first = {};
  std::optional<std::int64_t> last = {};  ///< The highest id that was drawn, if the user may know.
  std::optional<std::string> writers = {};
  bool ended = false;

  static constexpr auto fields() {
    return std::tuple(integer("first", &floor_row::first), integer("last", &floor_row::last),
                      text("writers", &floor_row::writers), integer("ended", &floor_row::ended));
  }
};

/// The read floors of a claim queue. See read_floor.hpp.
struct levels_request {
  std::int64_t oldest = 0;
  std::int64_t passed = 0;
  std::string_view writers = {};
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(
        integer("oldest", &levels_request::oldest), integer("passed", &levels_request::passed),
        text("writers", &levels_request::writers), integer("now", &levels_request::now));
  }
};

/// A level and its floor.
struct level_item {
  std::int64_t level = 0;
  std::int64_t floor = 0;

  static constexpr auto fields() {
    return std::tuple(integer("level", &level_item::level), integer("floor", &level_item::floor));
  }
};

/// A level, and the writers. See read_floor.hpp.
struct level_row {
  std::optional<std::int64_t> first = {};
  std::optional<std::int64_t> oldest = {};
  std::optional<std::int64_t> due = {};
  std::int64_t clock = 0;
  std::optional<std::int64_t> last = {};  ///< As in floor_row.
  std::optional<std::string> writers = {};
  bool ended = false;

  static constexpr auto fields() {
    return std::tuple(integer("first", &level_row::first), integer("oldest", &level_row::oldest),
                      integer("due", &level_row::due), integer("clock", &level_row::clock),
                      integer("last", &level_row::last), text("writers", &level_row::writers),
                      integer("ended", &level_row::ended));
  }
};

/// The first message of one level, if no other may come first.
/// Begins with the fields of take_request.
struct take_level_request {
  std::size_t max = 0;  ///< Always one.
  std::chrono::milliseconds lease{0};
  std::optional<timestamp> claimed_at = {};
  bool guard = false;
  std::int64_t token = 0;
  bool unkey = false;
  std::optional<timestamp> now = {};
  std::int64_t level = 0;
  std::int64_t floor = 0;
  std::int64_t oldest = 0;
  std::int64_t passed = 0;

  static constexpr auto fields() {
    return std::tuple(
        integer("max", &take_level_request::max), integer("lease", &take_level_request::lease),
        integer("claimed_at", &take_level_request::claimed_at),
        integer("guard", &take_level_request::guard), integer("token", &take_level_request::token),
        integer("unkey", &take_level_request::unkey), integer("now", &take_level_request::now),
        integer("level", &take_level_request::level), integer("floor", &take_level_request::floor),
        integer("oldest", &take_level_request::oldest),
        integer("passed", &take_level_request::passed));
  }
};

/// The first due message from a time on, and the writers.
struct due_floor_request {
  std::int64_t passed = 0;
  std::string_view writers = {};
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("passed", &due_floor_request::passed),
                      text("writers", &due_floor_request::writers),
                      integer("now", &due_floor_request::now));
  }
};

struct due_floor_row {
  std::optional<std::int64_t> due = {};
  std::int64_t clock = 0;
  std::optional<std::string> writers = {};
  bool ended = false;

  static constexpr auto fields() {
    return std::tuple(integer("due", &due_floor_row::due), integer("clock", &due_floor_row::clock),
                      text("writers", &due_floor_row::writers),
                      integer("ended", &due_floor_row::ended));
  }
};

/// At most `max` due messages: late ones, and those that fell due from a time on.
struct due_from_request {
  std::size_t max = 0;
  std::int64_t passed = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("max", &due_from_request::max),
                      integer("passed", &due_from_request::passed),
                      integer("now", &due_from_request::now));
  }
};

/// The next due message, from a time on.
struct next_from_request {
  std::int64_t passed = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("passed", &next_from_request::passed),
                      integer("now", &next_from_request::now));
  }
};

/// The highest message in some ranges of ids, and the writers. The lists begin with the highest.
struct gaps_request {
  std::string_view highs = {};
  std::string_view lows = {};
  std::string_view writers = {};

  static constexpr auto fields() {
    return std::tuple(text("highs", &gaps_request::highs), text("lows", &gaps_request::lows),
                      text("writers", &gaps_request::writers));
  }
};

/// At most `max` messages with the highest ids in some ranges.
struct around_request {
  std::size_t max = 0;
  std::string_view highs = {};
  std::string_view lows = {};

  static constexpr auto fields() {
    return std::tuple(integer("max", &around_request::max), text("highs", &around_request::highs),
                      text("lows", &around_request::lows));
  }
};

/// The floors that the processes of a queue share.
struct floors_request {
  std::string_view queue = {};
  std::int64_t identity = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(text("queue", &floors_request::queue),
                      integer("identity", &floors_request::identity),
                      integer("now", &floors_request::now));
  }
};

struct floors_row {
  std::string floors = {};
  std::chrono::milliseconds age{0};

  static constexpr auto fields() {
    return std::tuple(text("floors", &floors_row::floors), integer("age", &floors_row::age));
  }
};

struct new_floors_request {
  std::string_view queue = {};
  std::int64_t identity = 0;
  std::string_view floors = {};
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(text("queue", &new_floors_request::queue),
                      integer("identity", &new_floors_request::identity),
                      text("floors", &new_floors_request::floors),
                      integer("now", &new_floors_request::now));
  }
};

namespace statements {

inline constexpr typed_statement<floor_request, nothing, floor_row> queue_floor{
    statement::queue_floor};
inline constexpr typed_statement<levels_request, level_item, level_row> claim_floor{
    statement::claim_floor};
inline constexpr typed_statement<take_level_request, nothing, delivery_row> claim_take_level{
    statement::claim_take_level};
inline constexpr typed_statement<first_request, nothing, claim_count_row> claim_stats_from{
    statement::claim_stats_from};
inline constexpr typed_statement<room_request, nothing, number_row> claim_count_from{
    statement::claim_count_from};
inline constexpr typed_statement<due_floor_request, nothing, due_floor_row> pending_floor{
    statement::pending_floor};
inline constexpr typed_statement<due_from_request, nothing, message_row> pending_dequeue_from{
    statement::pending_dequeue_from};
inline constexpr typed_statement<next_from_request, nothing, delay_row> pending_next_due_from{
    statement::pending_next_due_from};
inline constexpr typed_statement<gaps_request, nothing, floor_row> lifo_floor{
    statement::lifo_floor};
inline constexpr typed_statement<around_request, nothing, message_row> lifo_dequeue_around{
    statement::lifo_dequeue_around};
inline constexpr typed_statement<floors_request, nothing, floors_row> floors_read{
    statement::floors_read};
inline constexpr typed_statement<new_floors_request, nothing, nothing> floors_write{
    statement::floors_write};

}  // namespace statements
}  // namespace tableq::inline v0::core
