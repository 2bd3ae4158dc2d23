#include "guard.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>

#include "system.hpp"

namespace tool {

namespace {

using place = guard::place;
static_assert(place::is_always_lock_free, "two processes share it");

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::span<place> shared_places(std::size_t count) {
  void* const memory = ::mmap(nullptr, count * sizeof(place), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  auto* const places = static_cast<place*>(memory);
  std::uninitialized_value_construct_n(places, count);
  return {places, count};
}

/// The life of the guard.
[[noreturn]] void keep_watch(int alive, std::span<place> groups) {
  // No signal of a terminal, and no stream that a reader waits for the end of.
  ::setsid();
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (each != alive) ::close(each);
  }
  char nothing = 0;
  while (::read(alive, &nothing, 1) == -1 && errno == EINTR) {
  }
  for (place& each : groups) {
    const pid_t group = each.load();
    if (group > 0) ::kill(-group, SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

guard::guard(std::size_t commands) : groups_(shared_places(commands)) {
  pipe_ends pipe = open_pipe();
  const descriptor watched = std::move(pipe.reader);
  alive_ = std::move(pipe.writer);
  id_ = ::fork();
  if (id_ == -1) fail("fork");
  if (id_ == 0) {
    end();
    keep_watch(watched.value(), groups_);
  }
}

void guard::wait() const noexcept {
  // A command_runner may have reaped it.
  while (::waitpid(id_, nullptr, 0) == -1 && errno == EINTR) {
  }
}

guard::~guard() {
  end();
  wait();
  ::munmap(groups_.data(), groups_.size_bytes());
}

}  // namespace tool
