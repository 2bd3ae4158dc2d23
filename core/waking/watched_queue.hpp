#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "core/seam/driver.hpp"
#include "core/waking/due_watch.hpp"
#include "core/waking/notify_pace.hpp"
#include "core/waking/poll_plan.hpp"
#include "core/waking/waker.hpp"

namespace tableq::inline v0::core {

/// The state of one queue in a database object, for waiting reads and additions.
///
/// @par Thread safety
/// Shared objects: safe, except for the watcher's part.
struct watched_queue {
  watched_queue(table_names table, poll_plan::timing due_timing)
      : names(std::move(table)), timed(due_timing != poll_plan::timing::none), plan(due_timing) {}

  const table_names names;
  const bool timed;  ///< Messages may fall due.
  waker readers;
  due_watch due;
  std::atomic<std::size_t> waiting{0};  ///< Changed under the watcher's mutex.
  notify_pace pace;

  // The watcher's own, guarded by its mutex.
  poll_plan plan;
  bool attended = false;  ///< It is in the watcher's list.
  bool listened = false;  ///< The listener has begun: some senders notify it.
  poll_plan::moment listened_since = poll_plan::moment::min();
  bool followed = false;  ///< The listener reports all of its changes.
  poll_plan::moment follow_at = poll_plan::moment::min();
  poll_plan::moment left_at = poll_plan::moment::min();
};

}  // namespace tableq::inline v0::core
