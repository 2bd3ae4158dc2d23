#include "measure.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <csignal>
#include <exception>
#include <thread>

namespace bench {

namespace {

volatile std::sig_atomic_t signalled = 0;

using clock = std::chrono::steady_clock;

/// After this number of empty reads in a row the queue is empty. After one, others may still hold
/// messages.
constexpr int looks_in_vain = 20;

double microseconds(clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// Shared by the threads of one measurement.
class thread_group {
 public:
  thread_group(std::size_t threads, const bounds& until, const operation_maker& make)
      : until_(until), make_(make), start_(static_cast<std::ptrdiff_t>(threads)), own_(threads) {}

  void work(std::size_t index) {
    operation next;
    try {
      next = make_(index);
    } catch (...) {
      // Stored for the caller; the other threads wait at the start.
      keep(std::current_exception());
    }
    start_.arrive_and_wait();
    if (stop_) return;
    try {
      repeat(next, own_[index]);
    } catch (...) {
      // Kept for the caller.
      keep(std::current_exception());
    }
  }

  outcome result() {
    if (failure_) std::rethrow_exception(failure_);
    outcome all;
    clock::time_point begin = clock::time_point::max();
    clock::time_point end = clock::time_point::min();
    for (part& each : own_) {
      all.messages += each.messages;
      begin = std::min(begin, each.begin);
      end = std::max(end, each.end);
      all.latency.insert(all.latency.end(), each.latency.begin(), each.latency.end());
    }
    all.seconds = std::chrono::duration<double>(end - begin).count();
    return all;
  }

 private:
  struct part {
    std::size_t messages = 0;
    clock::time_point begin = {};
    clock::time_point end = {};
    std::vector<float> latency = {};
  };

  void repeat(const operation& next, part& own) {
    own.latency.reserve(1 << 16);
    own.begin = own.end = clock::now();
    const auto last = own.begin + std::chrono::duration_cast<clock::duration>(
                                      std::chrono::duration<double>(until_.seconds));
    int in_vain = 0;
    for (clock::time_point before = own.begin;
         before < last && !stop_ && !interrupted() && in_vain < looks_in_vain;) {
      const std::size_t moved = next();
      const auto now = clock::now();
      if (moved > 0) {
        in_vain = 0;
        own.messages += moved;
        own.end = now;
        own.latency.push_back(static_cast<float>(microseconds(now - before)));
        if (until_.messages > 0 && (all_ += moved) >= until_.messages) stop_ = true;
      } else {
        ++in_vain;
      }
      before = now;
    }
  }

  void keep(std::exception_ptr failure) {
    if (!failed_.exchange(true)) failure_ = failure;
    stop_ = true;
  }

  bounds until_;
  const operation_maker& make_;
  std::barrier<> start_;
  std::vector<part> own_;
  std::atomic<std::size_t> all_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;  ///< Written by the thread that set failed_; read after the join.
};

}  // namespace

void end_on_signals() {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { signalled = 1; });
#if defined(SIGHUP)
  if (std::signal(SIGHUP, [](int) { signalled = 1; }) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
#endif
}

bool interrupted() {
  return signalled != 0;
}

double outcome::rate() const {
  return seconds > 0 ? static_cast<double>(messages) / seconds : 0;
}

outcome measure(std::size_t threads, const bounds& until, const operation_maker& make) {
  if (interrupted()) throw interruption();
  thread_group all(threads, until, make);
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i) running.emplace_back([&all, i] { all.work(i); });
  }
  if (interrupted()) throw interruption();
  return all.result();
}

}  // namespace bench
