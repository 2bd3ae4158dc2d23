#pragma once

/// @file
/// The part of the seam for notifications. Private, as core/seam/driver.hpp.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tableq::inline v0::core {

struct table_names;

/// A notification of one channel.
struct notice {
  std::string channel = {};
  std::string payload = {};
};

/// The result of a wait. All of it is a hint: it may be late, repeated or wrong.
struct received_notices {
  bool any_queue = false;            ///< Any queue may have changed.
  std::vector<notice> notices = {};  ///< Notifications of single queues.
};

/// Receives notifications of changes by other sessions, for all queues that are followed.
///
/// Owns at most one session.
///
/// @par Thread safety
/// One thread; any thread may call `interrupt`.
class listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;

  /// From now on receives notifications of the queue.
  /// @return true: every later commit will be notified. False: some are, perhaps; call again soon.
  /// @throws error when the connection is lost; the listener is then unusable.
  virtual bool follow(const table_names& names, std::int64_t identity) = 0;
  /// Ends what `follow` has begun, also if that has returned false. The same errors.
  virtual void leave(const table_names& names, std::int64_t identity) = 0;

  /// Waits for a notification, an interruption, or the end of the time. The same errors.
  virtual received_notices wait(std::chrono::milliseconds longest) = 0;

  /// Ends a wait, or the next one if no thread waits.
  virtual void interrupt() noexcept = 0;
};

}  // namespace tableq::inline v0::core
