#include "core/combining/combiner.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <thread>

namespace tableq::inline v0::core {
namespace {

using std::chrono::steady_clock;

/// A leader runs at most so many rounds in a row: waking another leader would leave the database
/// idle.
constexpr int most_rounds = 4;

/// To put a thread to sleep and to wake it costs more than a short unit of work. So a waiting call
/// checks its turn a few times first, and yields the processor in between: with many threads, or
/// short units, its turn comes before it has to sleep. See ADR 0016.
constexpr int most_looks = 40;
constexpr auto short_unit = std::chrono::microseconds{100};
constexpr std::size_t many_calls = 6;
/// With longer units the checks would waste processor time.
constexpr auto long_unit = std::chrono::milliseconds{1};

/// Runs them, and notes the results.
/// @param note called for each call that failed.
template <class Note>
void run_all(std::span<combined_call* const> calls, const combiner::work& run, Note note) {
  try {
    run(calls);
    return;
  } catch (const error& failure) {
    if (calls.size() == 1 || !may_be_of_one(failure)) {
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
    } catch (...) {  // Its caller gets it.
      note(*each, std::current_exception());
    }
  }
}

}  // namespace

bool may_be_of_one(const error& failure) noexcept {
  return failure.advice() == advice::never && failure.code() != errc::outcome_unknown &&
         failure.code() != errc::connection_failed;
}

bool combined_call::wait(int looks, steady_clock::time_point until) {
  for (; looks > 0; --looks) {
    if (told()) return true;
    std::this_thread::yield();
  }
  turn before = turn::waits;
  if (!turn_.compare_exchange_strong(before, turn::sleeps)) return true;
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, until, [this] { return woken_; })) return true;
  before = turn::sleeps;
  if (turn_.compare_exchange_strong(before, turn::waits)) return false;
  changed_.wait(lock, [this] { return woken_; });  // It is being told.
  return true;
}

void combined_call::wait() {
  turn before = turn::waits;
  if (!turn_.compare_exchange_strong(before, turn::sleeps)) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return woken_; });
}

void combined_call::turn_to(turn next) {
  if (turn_.exchange(next) != turn::sleeps) return;  // It checks its turn, and may be gone by now.
  // Under the lock: afterwards the caller may be gone.
  const std::scoped_lock hold(mutex_);
  woken_ = true;
  changed_.notify_one();
}

void combiner::run(combined_call& mine, const work& run) {
  std::unique_lock lock(mutex_);
  if (busy_) {
    waiting_.push_back(&mine);
    const int often = looks();
    lock.unlock();
    if (!mine.wait(often, steady_clock::now() + patience_)) {
      lock.lock();
      const auto place = std::ranges::find(waiting_, &mine);
      const bool still = place != waiting_.end();
      if (still) waiting_.erase(place);
      lock.unlock();
      if (still) {
        const std::array alone{&static_cast<combined_call&>(mine)};
        run(alone);
        return;
      }
      mine.wait();
    }
    if (mine.turn_ == combined_call::turn::done) {
      if (mine.failed_) std::rethrow_exception(mine.failed_);
      return;
    }
    lock.lock();
  }
  busy_ = true;
  lead(mine, run, lock);
  lock.unlock();
  if (mine.failed_) std::rethrow_exception(mine.failed_);
}

void combiner::lead(combined_call& mine, const work& run, std::unique_lock<std::mutex>& lock) {
  combined_call* first = &mine;
  std::vector<combined_call*> gathered;
  for (int round = 1;; ++round) {
    std::span<combined_call* const> calls{&first, 1};
    const bool alone = waiting_.empty() && last_size_ == 1;
    try {
      if (!alone) {
        gather(*first, gathered, lock);
        calls = gathered;
      }
    } catch (const std::bad_alloc&) {  // It goes alone, and the others still have their turn.
    }
    lock.unlock();
    const auto began = steady_clock::now();
    run_all(calls, run,
            [](combined_call& of, std::exception_ptr failed) { of.failed_ = std::move(failed); });
    const auto took = steady_clock::now() - began;
    for (combined_call* const each : calls) {
      if (each != &mine) each->turn_to(combined_call::turn::done);
    }
    lock.lock();
    last_size_ = calls.size();
    last_took_ = took;
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

int combiner::looks() const {
  const bool worth =
      last_took_ < short_unit || (last_size_ >= many_calls && last_took_ < long_unit);
  return worth ? most_looks : 0;
}

std::size_t combiner::waiting() {
  const std::scoped_lock hold(mutex_);
  return waiting_.size();
}

void combiner::gather(combined_call& first, std::vector<combined_call*>& calls,
                      std::unique_lock<std::mutex>& lock) {
  // Callers of the last unit of work are on their way back. Threads that can run now get a chance
  // to join. Without such threads no time passes.
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
