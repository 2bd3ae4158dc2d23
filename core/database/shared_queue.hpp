#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include <tableq/schema.hpp>

#include "core/limits/known_limits.hpp"
#include "core/seam/driver.hpp"
#include "core/session/combiner.hpp"
#include "core/waking/watched_queue.hpp"

namespace tableq::inline v0::core {

/// Which queue it is, within one database.
struct queue_key {
  explicit queue_key(const table_names& names)
      : identity(names.identity), schema(names.schema), table(names.table) {}

  std::int64_t identity;
  std::string schema;
  std::string table;

  auto operator<=>(const queue_key&) const = default;
};

/// The state that all handles of one queue share in one database object. Lives at least as long as
/// they do.
///
/// @par Thread safety
/// Shared objects: safe.
struct shared_queue : std::enable_shared_from_this<shared_queue> {
  /// @param spinning shortcuts::spinning.
  shared_queue(const table_names& names, poll_plan::timing due_timing, bool spinning)
      : key(names), watched(names, due_timing), calls(spinning) {}

  const queue_key key;
  watched_queue watched;
  combiners calls;
  limits_watch limits;
  /// No look for hidden messages by a waiting read before; of a steady clock.
  std::atomic<std::chrono::steady_clock::rep> hidden_look_at = 0;

  /// Its waiting readers, for the watcher; keeps the whole.
  [[nodiscard]] std::shared_ptr<watched_queue> readers() { return {shared_from_this(), &watched}; }
};

}  // namespace tableq::inline v0::core
