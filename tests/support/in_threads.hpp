#pragma once

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "support/latch.hpp"

namespace tableq_test {

/// Runs `work(i)` in that many threads at once, and passes on the first exception.
template <class F>
void in_threads(int count, F&& work) {
  std::mutex guard;
  std::exception_ptr failure;
  latch together(count);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        together.arrive_and_wait();
        try {
          work(i);
        } catch (...) {  // Kept for the test's own thread, which passes it on.
          const std::lock_guard lock(guard);
          if (!failure) failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tableq_test
