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

/// The result of a wait. All of it is a hint: it may be late, repeated, or about nothing.
struct heard {
  bool anything = false;             ///< Something changed, in an unknown queue.
  std::vector<notice> notices = {};  ///< Or what was told of single queues.
};

/// Receives notifications of changes by other sessions, for as many queues as are followed.
///
/// Owns its means: one session at the most.
///
/// @par Thread safety
/// One thread; `interrupt` from any.
class listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;

  /// From now on receives notifications of the queue.
  /// @return whether everything that is committed after this call will be notified. If not, ask
  ///   again soon.
  /// @throws error when the link is lost; the listener is then useless.
  virtual bool follow(const table_names& names, std::int64_t identity) = 0;
  /// The same errors.
  virtual void leave(const table_names& names, std::int64_t identity) = 0;

  /// Waits for a notification, an interruption, or the end of the time. The same errors.
  virtual heard wait(std::chrono::milliseconds longest) = 0;

  /// Ends a wait, or the next one if no thread waits.
  virtual void interrupt() noexcept = 0;
};

}  // namespace tableq::inline v0::core
