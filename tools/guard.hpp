#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include "signals.hpp"

namespace tool {

/// A small process that lasts longer than this one. When this process is gone, however it ended, it
/// kills the commands that still run, with all processes of their groups: the messages go to
/// another worker after their lease, which must not meet a command that still works on them.
///
/// Owns that process and a memory that both share.
///
/// @par Thread safety
/// Shared objects: safe, but for `end` and `wait`.
class guard {
 public:
  /// Construct it before any thread, with the signals blocked that end this process by intent.
  /// @param commands the most at once.
  /// @throws std::system_error
  explicit guard(std::size_t commands);
  /// Ends it, and waits for that.
  ~guard();
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  /// The process groups to kill, one place for each command; 0: none.
  using place = std::atomic<pid_t>;
  [[nodiscard]] std::span<place> groups() const noexcept { return groups_; }

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  /// Lets it end. It is then a child of this process that has ended.
  void end() noexcept { const descriptor closed(std::move(alive_)); }
  /// Waits until it has ended, and thus killed what still ran. After `end`.
  void wait() const noexcept;

 private:
  std::span<place> groups_;
  descriptor alive_;  ///< The guard waits for the end of this pipe.
  pid_t id_ = 0;
};

}  // namespace tool
