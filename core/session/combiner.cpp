#include "core/session/combiner.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <thread>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::steady_clock;

/// The most rounds of a leader in a row. Waking another leader would leave the database idle.
constexpr int most_rounds = 4;

}  // namespace

bool yield_briefly() noexcept {
  constexpr std::chrono::milliseconds long_yield{1};
  constexpr std::chrono::milliseconds pause{250};
  constexpr int short_for_a_long = 8;
  constexpr int most = 256 * short_for_a_long;  // Threads count one wait each.
  constexpr int after_a_pause = most - 32 * short_for_a_long;
  static std::atomic<steady_clock::time_point> next = steady_clock::time_point();
  static std::atomic<int> lost = 0;  // Threads may lose each other's counts.
  const auto began = steady_clock::now();
  if (began < next.load(std::memory_order_relaxed)) return false;
  std::this_thread::yield();
  const auto ended = steady_clock::now();
  int sum = lost.load(std::memory_order_relaxed);
  if (ended - began >= long_yield) {
    sum += short_for_a_long;
  } else if (sum == 0) {
    return true;
  } else {
    --sum;
  }
  if (sum > most) {
    next.store(ended + pause, std::memory_order_relaxed);
    sum = after_a_pause;
  }
  lost.store(sum, std::memory_order_relaxed);
  return true;
}

bool combined_call::wait(int turn_checks, steady_clock::time_point until) {
  if (spinning::check(turn_checks, [this] { return has_turn(); })) return true;
  turn before = turn::waits;
  if (!turn_.compare_exchange_strong(before, turn::sleeps)) return true;
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, until, [this] { return woken_; })) return true;
  before = turn::sleeps;
  if (turn_.compare_exchange_strong(before, turn::waits)) return false;
  changed_.wait(lock, [this] { return woken_; });  // Another thread sets the turn now.
  return true;
}

void combined_call::wait() {
  turn before = turn::waits;
  if (!turn_.compare_exchange_strong(before, turn::sleeps)) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return woken_; });
}

void combined_call::turn_to(turn next) {
  if (turn_.exchange(next) != turn::sleeps) return;  // The caller is awake, and may have ended.
  // Under the lock: afterwards the caller may end.
  const std::scoped_lock hold(mutex_);
  woken_ = true;
  changed_.notify_one();
}

bool combiner::leave_line(combined_call& call) {
  const std::scoped_lock hold(mutex_);
  const auto place = std::ranges::find(waiting_, &call);
  if (place == waiting_.end()) return false;
  waiting_.erase(place);
  return true;
}

std::span<combined_call* const> combiner::turn::next() {
  if (step_ == step::splits) {
    if (split_ < unit_.size()) return running_ = unit_.subspan(split_++, 1);
    step_ = step::leads;
  }
  const bool more = step_ == step::arrives ? come_up() : step_ == step::leads && go_on();
  if (more) return running_ = unit_;
  step_ = step::ends;
  if (own_.failed_) std::rethrow_exception(own_.failed_);
  return {};
}

void combiner::turn::failed(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const error& failure) {
    if (running_.size() > 1 && may_concern_one_call(failure)) {
      step_ = step::splits;
      split_ = 0;
      return;
    }
  } catch (...) {  // noexcept: it is no one call's. All callers get it.
  }
  for (combined_call* const each : running_) each->failed_ = why;
}

bool combiner::turn::come_up() {
  std::unique_lock lock(line_.mutex_);
  if (line_.busy_) {
    line_.waiting_.push_back(&own_);
    const int checks = line_.spinning_.checks();
    lock.unlock();
    if (!own_.wait(checks, steady_clock::now() + line_.patience_)) {
      if (line_.leave_line(own_)) {
        step_ = step::alone;
        unit_ = {&first_, 1};
        return true;
      }
      own_.wait();
    }
    if (own_.turn_ == combined_call::turn::done) return false;
    lock.lock();
  }
  line_.busy_ = true;
  step_ = step::leads;
  pick(lock);
  return true;
}

void combiner::turn::pick(std::unique_lock<std::mutex>& lock) {
  unit_ = {&first_, 1};
  try {
    if (!line_.waiting_.empty() || line_.last_size_ != 1) {
      line_.gather(*first_, gathered_, lock);
      unit_ = gathered_;
    }
  } catch (const std::bad_alloc&) {  // This call runs alone; the others stay in the line.
  }
  lock.unlock();
  ++rounds_;
  began_ = steady_clock::now();
}

bool combiner::turn::go_on() {
  const auto took = steady_clock::now() - began_;
  for (combined_call* const each : unit_) {
    if (each != &own_) each->turn_to(combined_call::turn::done);
  }
  std::unique_lock lock(line_.mutex_);
  line_.last_size_ = unit_.size();
  line_.spinning_.ran(unit_.size(), took);
  if (line_.waiting_.empty()) {
    line_.busy_ = false;
    return false;
  }
  first_ = line_.waiting_.front();
  line_.waiting_.pop_front();
  if (rounds_ == most_rounds) {
    first_->turn_to(combined_call::turn::leads);
    return false;
  }
  pick(lock);
  return true;
}

std::size_t combiner::waiting() {
  const std::scoped_lock hold(mutex_);
  return waiting_.size();
}

void combiner::gather(combined_call& first, std::vector<combined_call*>& calls,
                      std::unique_lock<std::mutex>& lock) {
  // Callers of the last unit of work will soon call again. A yield lets them join. If no thread can
  // run, it returns at once.
  for (bool more = true; more && waiting_.size() + 1 < last_size_;) {
    const std::size_t seen = waiting_.size();
    lock.unlock();
    const bool yielded = yield_briefly();
    lock.lock();
    more = yielded && waiting_.size() > seen;
  }
  calls.reserve(waiting_.size() + 1);  // Nothing below throws: each call that leaves the line runs.
  calls.assign(1, &first);
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    if ((*each)->joins(calls)) {
      calls.push_back(*each);
      each = waiting_.erase(each);
    } else {
      ++each;
    }
  }
}

}  // namespace tableq::inline v0::core
