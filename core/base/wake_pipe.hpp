#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tableq::inline v0::core {

/// A descriptor that is readable while it is raised: of a pipe; on Windows of a socket.
///
/// @par Thread safety
/// Shared objects: any thread may raise it; one thread at a time lowers it or waits.
class wake_pipe {
 public:
  /// @throws error errc::busy when the system has no descriptor left.
  wake_pipe();
  wake_pipe(const wake_pipe&) = delete;
  wake_pipe& operator=(const wake_pipe&) = delete;
  ~wake_pipe();

  [[nodiscard]] int get() const noexcept { return static_cast<int>(ends_[0]); }
  void raise() noexcept;
  void lower() noexcept;

  enum class woken_by { nothing, raised, other };

  /// Waits until it is raised, and lowers it; for an event of `other`, unless that is negative; or
  /// for the end of the time.
  woken_by wait(std::int64_t other, std::chrono::milliseconds longest) noexcept;

 private:
  std::array<std::int64_t, 2> ends_;  ///< To read, to write; of a socket the same.
  std::atomic<bool> raised_{false};
};

}  // namespace tableq::inline v0::core
