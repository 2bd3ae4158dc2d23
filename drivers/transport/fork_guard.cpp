#include "drivers/transport/fork_guard.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tableq::inline v0::drivers {
namespace {

constexpr std::chrono::microseconds fork_pause{50};

// No condition variable: a child would have a copy with waiting threads that do not exist there.
std::atomic<int> calls{0};  // calls that are running
std::atomic<int> forks{0};

void begin_fork() {
  constexpr std::chrono::milliseconds longest{2000};
  const auto until = std::chrono::steady_clock::now() + longest;
  ++forks;
  while (calls > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(fork_pause);
}

void end_fork() {
  --forks;
}

void begin_child() {
  forks = 0;
  calls = 0;
}

}  // namespace

fork_guard::fork_guard() {
  static const int registered = ::pthread_atfork(begin_fork, end_fork, begin_child);
  static_cast<void>(registered);
  for (;;) {
    ++calls;
    if (forks == 0) return;
    --calls;
    std::this_thread::sleep_for(fork_pause);
  }
}

fork_guard::~fork_guard() {
  --calls;
}

}  // namespace tableq::inline v0::drivers
