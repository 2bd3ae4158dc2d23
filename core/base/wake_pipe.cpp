#include "core/base/wake_pipe.hpp"

#if defined(_WIN32)
#include <winsock2.h>
#else
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <limits>

#include <tableq/error.hpp>

namespace tableq::inline v0::core {
namespace {

using both_ends = std::array<std::int64_t, 2>;

[[noreturn]] void none_left() {
  throw error(errc::busy, advice::statement,
              "the system has no descriptor left for this process; raise its limit of open files, "
              "or close some");
}

#if defined(_WIN32)

using poll_entry = WSAPOLLFD;

int poll_all(poll_entry* entries, std::size_t count, int time) noexcept {
  return ::WSAPoll(entries, static_cast<ULONG>(count), time);
}

/// A socket that is connected with itself.
both_ends open_ends() {
  WSADATA ignored{};
  // Once for each: the system counts, and the end of the process ends all.
  if (::WSAStartup(MAKEWORD(2, 2), &ignored) != 0) none_left();
  const SOCKET made = ::WSASocketW(AF_INET, SOCK_DGRAM, IPPROTO_UDP, nullptr, 0,
                                   WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (made == INVALID_SOCKET) none_left();
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  int size = sizeof here;
  u_long yes = 1;
  if (::bind(made, address, size) != 0 || ::getsockname(made, address, &size) != 0 ||
      ::connect(made, address, size) != 0 || ::ioctlsocket(made, FIONBIO, &yes) != 0) {
    ::closesocket(made);
    none_left();
  }
  const auto number = static_cast<std::int64_t>(made);
  return {number, number};
}

void close_ends(const both_ends& ends) noexcept {
  ::closesocket(static_cast<SOCKET>(ends[0]));
}

void write_byte(std::int64_t end) noexcept {
  ::send(static_cast<SOCKET>(end), "", 1, 0);
}

bool read_some(std::int64_t end) noexcept {
  std::array<char, 64> taken{};
  return ::recv(static_cast<SOCKET>(end), taken.data(), taken.size(), 0) > 0;
}

#else

using poll_entry = pollfd;

int poll_all(poll_entry* entries, std::size_t count, int time) noexcept {
  return ::poll(entries, count, time);
}

both_ends open_ends() {
  std::array<int, 2> ends{};
#if defined(TABLEQ_LINUX)
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) none_left();
#else
  if (::pipe(ends.data()) != 0) none_left();
  for (const int each : ends) {
    ::fcntl(each, F_SETFD, FD_CLOEXEC);
    ::fcntl(each, F_SETFL, O_NONBLOCK);
  }
#endif
  return {ends[0], ends[1]};
}

void close_ends(const both_ends& ends) noexcept {
  for (const std::int64_t each : ends) ::close(static_cast<int>(each));
}

void write_byte(std::int64_t end) noexcept {
  // Fails only when the pipe is full; then it is readable anyway.
  [[maybe_unused]] const ssize_t ignored = ::write(static_cast<int>(end), "", 1);
}

bool read_some(std::int64_t end) noexcept {
  std::array<char, 64> taken{};
  return ::read(static_cast<int>(end), taken.data(), taken.size()) > 0;
}

#endif

}  // namespace

wake_pipe::wake_pipe() : ends_(open_ends()) {}

wake_pipe::~wake_pipe() {
  close_ends(ends_);
}

void wake_pipe::raise() noexcept {
  if (!raised_.exchange(true)) write_byte(ends_[1]);
}

void wake_pipe::lower() noexcept {
  while (read_some(ends_[0])) {
  }
  // After the reads: a byte that another thread writes in between would be read, and the next raise
  // would write none.
  raised_.exchange(false);
}

wake_pipe::woken_by wake_pipe::wait(std::int64_t other,
                                    std::chrono::milliseconds longest) noexcept {
  std::array<poll_entry, 2> watched{};
  watched[0].fd = static_cast<decltype(watched[0].fd)>(ends_[0]);
  watched[1].fd = static_cast<decltype(watched[1].fd)>(other);
  watched[0].events = watched[1].events = POLLIN;
  constexpr std::chrono::milliseconds most{std::numeric_limits<int>::max()};
  const auto time = static_cast<int>(std::min(longest, most).count());
  if (poll_all(watched.data(), other < 0 ? 1 : 2, time) <= 0) return woken_by::nothing;
  if ((watched[0].revents & POLLIN) == 0) return woken_by::other;
  lower();
  return woken_by::raised;
}

}  // namespace tableq::inline v0::core
