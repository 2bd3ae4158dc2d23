#pragma once

/// @file
/// The part of the seam for notifications. Private, as core/seam/driver.hpp.

#include <chrono>
#include <string>
#include <vector>

#include "core/base/wake_pipe.hpp"

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

  /// From now on receives notifications of the queue with these names and this identity; or none
  /// any more, also if an earlier call has returned false.
  /// @return true: every later commit will be notified. False: some are, perhaps; call again soon.
  /// @throws error when the connection is lost; the listener is then unusable.
  virtual bool follow(const table_names& names, bool begins) = 0;

  /// Waits for a notification, an interruption, or the end of the time. The same errors.
  virtual received_notices wait(std::chrono::milliseconds longest) = 0;

  /// Ends a wait, or the next one if no thread waits.
  void interrupt() noexcept { wakes_.raise(); }

 protected:
  /// Raised by `interrupt`.
  wake_pipe& wakes() noexcept { return wakes_; }

 private:
  wake_pipe wakes_;
};

}  // namespace tableq::inline v0::core
