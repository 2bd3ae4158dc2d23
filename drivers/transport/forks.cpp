#include "drivers/transport/forks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/process.hpp"

namespace tableq::inline v0::drivers {
namespace {

/// Guarded by process_wide(). Never destroyed: static objects may hold sessions.
std::vector<int>& all() {
  static auto* const made = new std::vector<int>;
  return *made;
}

void close_all() {
  for (const int each : all()) core::close_descriptor(each);
  all().clear();
}

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

closed_in_child::closed_in_child(int descriptor) : descriptor_(descriptor) {
  if (descriptor_ < 0) return;
  core::in_each_child(close_all);
  const std::scoped_lock hold(core::process_wide());
  all().push_back(descriptor_);
}

closed_in_child::~closed_in_child() {
  if (descriptor_ < 0) return;
  const std::scoped_lock hold(core::process_wide());
  const auto found = std::find(all().begin(), all().end(), descriptor_);
  if (found != all().end()) all().erase(found);
}

fork_guard::fork_guard() {
  static const int registered = core::at_fork(begin_fork, end_fork, begin_child);
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
