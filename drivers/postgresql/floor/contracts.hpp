#pragma once

/// @file
/// The statements that serve reads behind deleted rows. Core does not know them, and none of the
/// parameters that they share with core's reads.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/contract.hpp"
#include "core/seam/fields.hpp"

namespace tableq::inline v0::drivers::postgresql {

/// The statements of this driver alone, with numbers after core's.
enum class own_statement : std::uint8_t {
  queue_floor = core::statement_count,
  claim_floor,
  pending_floor,
  pending_dequeue_from,
  pending_next_due_from,
  claim_take_first,
  claim_take_first_limited,
  claim_take_first_metered,
  limits_hold,
  claim_stats_from,
  claim_count_from,
  floors_read,
  floors_write,
  floors_exist,
  floors_remove,
};

/// How one of core's statements begins.
enum class beginning : std::uint8_t {
  front,   ///< At the front of its index.
  read,    ///< Behind deleted rows. It takes messages, and tells something about the places.
  search,  ///< At a due time. It takes none.
  glance,  ///< At all places. It takes none.
  among,   ///< At the first message of all. It changes messages that are there.
};
beginning beginning_of(core::statement id) noexcept;

/// The parameters that the driver fills in, after core's. Lists are never NULL, because a session
/// may read NULL as text.
struct place_request {
  std::string_view highs = {};
  std::string_view lows = {};
  std::string_view floors = {};
  std::int64_t level = 0;
  std::int64_t floor = 0;
  std::int64_t oldest = 0;
  std::int64_t passed = 0;
  TABLEQ_FIELDS(place_request, highs, lows, floors, level, floor, oldest, passed)
};

/// A look: the same, and the writers that it searches for. See writers_watch.hpp.
struct look_request : place_request {
  std::string_view writers = {};
  TABLEQ_MORE_FIELDS(look_request, place_request, writers)
};

/// The row of a look, one for each priority: see table_places::sight.
struct look_row {
  std::int64_t level = 0;
  std::optional<std::int64_t> ready = {};  ///< The first ready message of the level, or the line.
  std::optional<std::int64_t> first = {};
  std::optional<std::int64_t> due = {};
  std::optional<std::int64_t> clock = {};
  std::optional<std::int64_t> last = {};  ///< The highest id that was drawn, if the user may know.
  std::optional<std::string> writers = {};
  bool ended = false;
  TABLEQ_FIELDS(look_row, level, ready, first, due, clock, last, writers, ended)
};

/// The places that the processes of a queue share.
struct floors_request {
  std::string_view floors = {};  ///< To be stored.
  TABLEQ_FIELDS(floors_request, floors)
};

struct floors_row {
  std::string floors = {};  ///< Empty: nobody has stored any.
  std::chrono::milliseconds age{0};
  bool writable = false;  ///< The session may store them.
  TABLEQ_FIELDS(floors_row, floors, age, writable)
};

/// The statements of this driver alone.
std::span<const core::contract> own_contracts() noexcept;
const core::contract& contract_of(own_statement id) noexcept;

/// One of core's statements with the parameters that the driver fills in, or unchanged.
const core::contract& with_places(const core::contract& of) noexcept;

}  // namespace tableq::inline v0::drivers::postgresql
