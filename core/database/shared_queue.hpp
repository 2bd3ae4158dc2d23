#pragma once

#include "core/combining/lanes.hpp"
#include "core/floor/read_floor.hpp"
#include "core/waking/watched_queue.hpp"

namespace tableq::inline v0::core {

/// The state that all handles of one queue share in one database object. Lives as long as that
/// object.
///
/// @par Thread safety
/// Shared objects: safe.
struct shared_queue {
  /// @param spinning shortcuts::spinning.
  shared_queue(watched_queue& waited_on, bool spinning) : watched(waited_on), calls(spinning) {}

  watched_queue& watched;  ///< Its waiting readers; belongs to the watcher.
  combiners calls;
  read_floor floor;
};

}  // namespace tableq::inline v0::core
