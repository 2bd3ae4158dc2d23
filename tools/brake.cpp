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
constexpr milliseconds longest_pause{5'000};
/// Until a message that was put aside has its turn: some others are tried first.
constexpr milliseconds shortest_turn{2'000};

/// @param failures at least `tolerated`, or fewer after a success.
milliseconds pause_after(std::size_t failures) {
  constexpr std::size_t doublings = 9;
  const std::size_t more = std::max(failures, tolerated) - tolerated;
  return std::min(longest_pause, shortest_pause * (1 << std::min(more, doublings)));
}

}  // namespace

brake::~brake() {
  open();
}

void brake::release() {
  std::unique_lock lock(mutex_);
  failures_ = 0;
  ++successes_;
  next_ = {};
  failed_.clear();
  turns_.clear();
  changed_.notify_all();
  give_all_back(lock);
}

void brake::open() {
  std::unique_lock lock(mutex_);
  open_ = true;
  changed_.notify_all();
  give_all_back(lock);
}

std::optional<tableq::kept_delivery> brake::put_aside(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (open_ || failures_ < tolerated || !failed_.contains(message)) return std::nullopt;
  if (turns_.erase(message) > 0 || aside_.size() == most_aside) return std::nullopt;
  if (!turner_.joinable()) {
    turner_ = std::jthread([this](const std::stop_token& stop) { give_turns(stop); });
  }
  changed_.notify_all();
  return aside_.emplace_back(message_aside{message, {}}).kept;
}

void brake::note_failed(const std::string& message) {
  const std::lock_guard lock(mutex_);
  failed_.insert(message);
}

void brake::give_turns(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !aside_.empty(); })) {
    const std::size_t before = successes_;
    const auto turn = clock::now() + std::max(shortest_turn, 4 * pause_after(failures_));
    if (changed_.wait_until(lock, stop, turn, [&] { return open_ || successes_ != before; }) ||
        stop.stop_requested() || aside_.empty()) {
      continue;
    }
    const message_aside first = std::move(aside_.front());
    aside_.pop_front();
    turns_.insert(first.message);
    lock.unlock();
    first.kept.give_back();
    lock.lock();
  }
}

void brake::give_all_back(std::unique_lock<std::mutex>& lock) {
  const std::deque<message_aside> all = std::exchange(aside_, {});
  lock.unlock();
  for (const message_aside& each : all) each.kept.give_back();
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
    say_(why + "; slowing down, to one command in up to 5 s, until one succeeds");
  }
  const std::size_t before = successes_;
  changed_.wait_until(lock, stop, mine, [&] { return open_ || successes_ != before; });
}

}  // namespace tool
