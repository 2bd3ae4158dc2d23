#pragma once

/// @file
/// The part of the seam through which a database tells that something changed. Private, as
/// core/seam/driver.hpp is.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tableq::core {

struct table_names;

/// What others told through a channel.
struct notice {
  std::string channel = {};
  std::string payload = {};
};

/// What was heard. All of it is a hint: it may be late, doubled, or about nothing.
struct heard {
  bool anything = false;             ///< Something changed, in an unknown queue.
  std::vector<notice> notices = {};  ///< Or what was told of single queues.
};

/// Hears of changes that other sessions make, for as many queues as are followed.
///
/// Owns what it takes for that: one session at the most.
///
/// @par Thread safety
/// One thread; `interrupt` from any.
class listener {
 public:
  listener() = default;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  virtual ~listener() = default;

  /// From now on hears of the queue.
  /// @return whether everything that is committed after this call will be told. If not, ask again
  /// soon.
  /// @throws error when the link is lost; the listener is then of no more use.
  virtual bool follow(const table_names& names, std::int64_t identity) = 0;
  /// The same errors.
  virtual void leave(const table_names& names, std::int64_t identity) = 0;

  /// Waits until something is heard, it is interrupted, or the time is over. The same errors.
  virtual heard wait(std::chrono::milliseconds longest) = 0;

  /// Ends a wait, or the next one if none is under way.
  virtual void interrupt() noexcept = 0;
};

}  // namespace tableq::core
