#include "core/session/combiner.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <thread>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::steady_clock;

/// The most rounds of a leader in a row. Waking another leader would leave the database idle.
constexpr int most_rounds = 4;

/// Runs the calls, together if possible, and records their failures.
/// @param note called for each call that failed.
template <class Note>
void run_all(std::span<combined_call* const> calls, const combiner::work& run, Note note) {
  try {
    run(calls);
    return;
  } catch (const error& failure) {
    if (calls.size() == 1 || !may_concern_one_call(failure)) {
      for (combined_call* const each : calls) note(*each, std::current_exception());
      return;
    }
  } catch (...) {  // All callers get the exception.
    for (combined_call* const each : calls) note(*each, std::current_exception());
    return;
  }
  for (combined_call* const& each : calls) {
    try {
      run({&each, 1});
    } catch (...) {  // Its caller gets the exception.
      note(*each, std::current_exception());
    }
  }
}

}  // namespace

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

void combiner::run(combined_call& call, const work& run) {
  std::unique_lock lock(mutex_);
  if (busy_) {
    waiting_.push_back(&call);
    const int checks = spinning_.checks();
    lock.unlock();
    if (!call.wait(checks, steady_clock::now() + patience_)) {
      if (leave_line(call)) {
        const std::array alone{&call};
        run(alone);
        return;
      }
      call.wait();
    }
    if (call.turn_ == combined_call::turn::done) {
      if (call.failed_) std::rethrow_exception(call.failed_);
      return;
    }
    lock.lock();
  }
  busy_ = true;
  lead(call, run, lock);
  lock.unlock();
  if (call.failed_) std::rethrow_exception(call.failed_);
}

void combiner::lead(combined_call& own, const work& run, std::unique_lock<std::mutex>& lock) {
  combined_call* first = &own;
  std::vector<combined_call*> gathered;
  for (int round = 1;; ++round) {
    std::span<combined_call* const> calls{&first, 1};
    const bool alone = waiting_.empty() && last_size_ == 1;
    try {
      if (!alone) {
        gather(*first, gathered, lock);
        calls = gathered;
      }
    } catch (const std::bad_alloc&) {  // This call runs alone; the others stay in the line.
    }
    lock.unlock();
    const auto began = steady_clock::now();
    run_all(calls, run, [](combined_call& call, std::exception_ptr failed) {
      call.failed_ = std::move(failed);
    });
    const auto took = steady_clock::now() - began;
    for (combined_call* const each : calls) {
      if (each != &own) each->turn_to(combined_call::turn::done);
    }
    lock.lock();
    last_size_ = calls.size();
    spinning_.ran(calls.size(), took);
    if (waiting_.empty()) {
      busy_ = false;
      return;
    }
    first = waiting_.front();
    waiting_.pop_front();
    if (round == most_rounds) {
      first->turn_to(combined_call::turn::leads);
      return;
    }
  }
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
    std::this_thread::yield();
    lock.lock();
    more = waiting_.size() > seen;
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
