#include "core/waker.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace {

using namespace std::chrono_literals;
using tableq::core::waker;
using clock = std::chrono::steady_clock;

TEST(waking, that_came_after_the_mark_is_not_missed) {
  waker readers;
  const auto mark = readers.mark();
  readers.wake();
  const auto begin = clock::now();
  readers.wait(mark, 1h, {});
  EXPECT_LT(clock::now() - begin, 1min);
}

TEST(waking, reaches_a_reader_that_waits) {
  waker readers;
  const auto mark = readers.mark();
  std::jthread other([&] { readers.wake(); });
  const auto begin = clock::now();
  readers.wait(mark, 1h, {});
  EXPECT_LT(clock::now() - begin, 1min);
}

TEST(waking, is_not_needed_when_the_time_is_over) {
  waker readers;
  const auto begin = clock::now();
  readers.wait(readers.mark(), 20ms, {});
  EXPECT_GE(clock::now() - begin, 20ms);
}

TEST(waking, is_not_needed_after_a_stop_request) {
  waker readers;
  std::stop_source stop;
  std::jthread other([&] { stop.request_stop(); });
  const auto begin = clock::now();
  readers.wait(readers.mark(), 1h, stop.get_token());
  EXPECT_LT(clock::now() - begin, 1min);
}

}  // namespace
