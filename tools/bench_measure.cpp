#include "bench_measure.hpp"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace tool {

namespace {

using std::chrono::steady_clock;

/// After this number of empty reads in a row the queue is empty. After one, others may still hold
/// messages.
constexpr int looks_in_vain = 20;

/// Shared by the threads of one measurement.
class shared_run {
 public:
  explicit shared_run(steady_clock::time_point until) : until_(until) {}

  void work(const std::function<bench_call()>& make, steady_clock::time_point begin) {
    try {
      repeat(make(), begin);
    } catch (...) {
      // figures() throws it again.
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    const std::lock_guard lock(mutex_);
    --running_;
  }
  void start() {
    const std::lock_guard lock(mutex_);
    ++running_;
  }
  void stop() { stop_ = true; }
  [[nodiscard]] bool over() {
    const std::lock_guard lock(mutex_);
    return running_ == 0;
  }
  /// When all threads have ended.
  bench_figures figures() {
    if (failure_) std::rethrow_exception(failure_);
    std::sort(all_.calls_us.begin(), all_.calls_us.end());
    return std::move(all_);
  }

 private:
  void repeat(const bench_call& call, steady_clock::time_point begin) {
    bench_figures own;
    int in_vain = 0;
    for (auto before = begin; before < until_ && !stop_ && in_vain < looks_in_vain;) {
      const std::size_t moved = call();
      const auto now = steady_clock::now();
      if (moved > 0) {
        own.messages += moved;
        own.elapsed = now - begin;
        own.calls_us.push_back(std::chrono::duration<double, std::micro>(now - before).count());
        in_vain = 0;
      } else {
        ++in_vain;
      }
      before = now;
    }
    const std::lock_guard lock(mutex_);
    all_.messages += own.messages;
    all_.elapsed = std::max(all_.elapsed, own.elapsed);
    all_.calls_us.insert(all_.calls_us.end(), own.calls_us.begin(), own.calls_us.end());
  }

  const steady_clock::time_point until_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards all below
  std::size_t running_ = 0;
  bench_figures all_;
  std::exception_ptr failure_;
};

}  // namespace

double bench_figures::rate() const {
  return elapsed.count() > 0 ? static_cast<double>(messages) / elapsed.count() : 0;
}

double bench_figures::percentile_us(double share) const {
  if (calls_us.empty()) return 0;
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(calls_us.size())));
  return calls_us[std::max<std::size_t>(rank, 1) - 1];
}

bench_figures bench_clock::run(std::size_t threads, std::chrono::milliseconds time,
                               const std::function<bench_call()>& make) const {
  const auto begin = steady_clock::now();
  shared_run all(begin + time);
  bool stopped = false;
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      all.start();
      running.emplace_back([&all, &make, begin] { all.work(make, begin); });
    }
    while (!all.over()) {
      if (stopped || !interrupted(std::chrono::milliseconds{5})) continue;
      stopped = true;
      all.stop();
    }
  }
  if (stopped) throw bench_interrupted();
  return all.figures();
}

void bench_clock::rest(std::chrono::milliseconds time) const {
  if (interrupted(time)) throw bench_interrupted();
}

bool bench_clock::interrupted(std::chrono::milliseconds wait) const {
  pollfd come{signals_.handle(), POLLIN, 0};
  return ::poll(&come, 1, static_cast<int>(wait.count())) > 0 && signals_.take() != 0;
}

}  // namespace tool
