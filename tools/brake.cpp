#include "brake.hpp"

#include <algorithm>

namespace tool {

namespace {

using std::chrono::milliseconds;

/// Single messages fail in any queue.
constexpr std::size_t tolerated = 10;
/// A pause of about a second: what is missing does not come back sooner.
constexpr std::size_t at_once = tolerated + 3;
constexpr milliseconds shortest_pause{100};
constexpr milliseconds longest_pause{30'000};

milliseconds pause_after(std::size_t failures) {
  constexpr std::size_t doublings = 9;
  return std::min(longest_pause, shortest_pause * (1 << std::min(failures - tolerated, doublings)));
}

}  // namespace

void brake::release() {
  const std::lock_guard lock(mutex_);
  failures_ = 0;
  ++successes_;
  next_ = {};
  changed_.notify_all();
}

void brake::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void brake::failed(const std::string& why, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  ++failures_;
  if (failures_ >= tolerated) {
    wait(lock,
         std::to_string(failures_) + " commands in a row have failed, the last one with " + why,
         stop);
  }
}

void brake::not_started(const std::string& why, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  failures_ = std::max(failures_ + 1, at_once);
  wait(lock, why, stop);
}

void brake::wait(std::unique_lock<std::mutex>& lock, const std::string& why,
                 const std::stop_token& stop) {
  const auto now = clock::now();
  const bool silent = said_ != clock::time_point{} && now < said_ + std::chrono::minutes(1);
  if (open_) return;
  next_ = std::max(next_, now) + pause_after(failures_);
  const auto mine = next_;
  if (!silent) {
    said_ = now;
    say_(why + "; slowing down, to one command in up to 30 s, until one succeeds");
  }
  const std::size_t before = successes_;
  changed_.wait_until(lock, stop, mine, [&] { return open_ || successes_ != before; });
}

}  // namespace tool
