#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include <tableq/error.hpp>

namespace tableq::inline v0::drivers {

/// Interrupts a wait on file descriptors. Owns a pipe.
///
/// @par Thread safety
/// One thread waits; any thread may call `interrupt`.
class interrupter {
 public:
  interrupter() {
#if defined(__linux__)
    const bool open = ::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) == 0;
#else
    const bool open = ::pipe(ends_.data()) == 0;
    for (const int end : ends_) {
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
      ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
#endif
    if (!open) {
      throw error(errc::busy, advice::statement, "the system gives no more file descriptors");
    }
  }
  interrupter(const interrupter&) = delete;
  interrupter& operator=(const interrupter&) = delete;
  ~interrupter() {
    for (const int end : ends_) ::close(end);
  }

  void interrupt() noexcept {
    // Fails only when the pipe is full; then it is readable anyway.
    [[maybe_unused]] const ssize_t ignored = ::write(ends_[1], "", 1);
  }

  enum class woken_by { nothing, interrupted, other };

  /// Waits for an interruption, for an event of `other` (unless that is negative), or for the end
  /// of the time.
  woken_by wait(int other, std::chrono::milliseconds longest) noexcept {
    std::array<pollfd, 2> watched{pollfd{.fd = ends_[0], .events = POLLIN, .revents = 0},
                                  pollfd{.fd = other, .events = POLLIN, .revents = 0}};
    constexpr std::chrono::milliseconds most{std::numeric_limits<int>::max()};
    const auto time = static_cast<int>(std::min(longest, most).count());
    if (::poll(watched.data(), watched.size(), time) <= 0) return woken_by::nothing;
    if ((watched[0].revents & POLLIN) == 0) return woken_by::other;
    std::array<char, 64> taken{};
    while (::read(ends_[0], taken.data(), taken.size()) > 0) {
    }
    return woken_by::interrupted;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace tableq::inline v0::drivers
