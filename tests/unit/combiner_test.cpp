#include "core/session/combiner.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tableq::core::combined_call;
using tableq::core::combiner;

struct numbered_call final : combined_call {
  explicit numbered_call(int given, int most = 1000) : number(given), most_together(most) {}
  [[nodiscard]] bool joins(std::span<combined_call* const> others) const override {
    return others.size() < static_cast<std::size_t>(most_together);
  }
  int number;
  int most_together;
  std::thread::id ran_by{};
};

/// Runs the call with `work(calls)`, as core does.
template <class Work>
void run(combiner& line, combined_call& call, Work work) {
  combiner::turn mine(line, call);
  for (auto calls = mine.next(); !calls.empty(); calls = mine.next()) {
    try {
      work(calls);
    } catch (...) {  // the line decides whose it is
      mine.failed(std::current_exception());
    }
  }
}

/// Records which calls ran together; the first unit of work waits for its release.
class workshop {
 public:
  explicit workshop(std::chrono::milliseconds patience = 1h) : calls_(patience) {}

  /// Runs the call on its own thread.
  void start(numbered_call& call) {
    threads_.emplace_back([this, &call] {
      ::run(calls_, call, [this](auto together) { work(together); });
      const std::scoped_lock hold(mutex_);
      ended_.insert(call.number);
    });
  }
  /// Starts a call that blocks all others.
  void start_first(numbered_call& call) {
    start(call);
    entered_.wait();
  }
  /// Runs calls that wait while the first one runs, each after the one before waits.
  void run(numbered_call& first, const std::vector<numbered_call*>& others) {
    start_first(first);
    for (std::size_t waiting = 0; numbered_call* const each : others) {
      start(*each);
      ++waiting;
      while (calls_.waiting() < waiting) std::this_thread::yield();
    }
    let_go();
    end();
  }
  void let_go() { released_.count_down(); }
  void end() { threads_.clear(); }

  std::vector<std::vector<int>> units;
  bool has_ended(int number) {
    const std::scoped_lock hold(mutex_);
    return ended_.contains(number);
  }

 private:
  void work(std::span<combined_call* const> together) {
    bool first = false;
    {
      const std::scoped_lock hold(mutex_);
      first = units.empty();
      auto& unit = units.emplace_back();
      for (combined_call* const each : together) {
        auto& call = static_cast<numbered_call&>(*each);
        unit.push_back(call.number);
        call.ran_by = std::this_thread::get_id();
      }
    }
    if (first) {
      entered_.count_down();
      released_.wait();
    }
  }

  combiner calls_;
  std::mutex mutex_;
  std::set<int> ended_;
  std::latch entered_{1};
  std::latch released_{1};
  std::vector<std::jthread> threads_;
};

TEST(spinning, checks_turns_after_short_units_and_after_longer_ones_of_many_calls) {
  tableq::core::spinning spins;
  EXPECT_GT(spins.checks(), 0) << "no unit has run yet";
  spins.ran(1, 1ms);
  EXPECT_EQ(spins.checks(), 0);
  spins.ran(1, 50us);
  EXPECT_GT(spins.checks(), 0);
  spins.ran(10, 500us);
  EXPECT_GT(spins.checks(), 0);
  spins.ran(10, 2ms);
  EXPECT_EQ(spins.checks(), 0);
}

TEST(spinning, that_is_stopped_checks_none) {
  tableq::core::spinning spins;
  spins.stop();
  spins.ran(10, 50us);
  EXPECT_EQ(spins.checks(), 0);
}

TEST(spinning, ends_when_the_turn_has_come) {
  using tableq::core::spinning;
  int looks = 0;
  // On a busy machine one check may end the others.
  while (!spinning::check(10, [&] { return ++looks == 3; })) ASSERT_LT(looks, 3);
  EXPECT_EQ(looks, 3);
  EXPECT_FALSE(spinning::check(10, [] { return false; }));
  EXPECT_FALSE(spinning::check(0, [] { return true; }));
}

TEST(combining, lets_a_lonely_call_run_on_its_own_thread_at_once) {
  combiner calls;
  numbered_call mine(1);
  int runs = 0;
  for (int i = 0; i < 3; ++i) {
    numbered_call next(i);
    run(calls, next, [&](auto together) {
      ++runs;
      EXPECT_EQ(together.size(), 1U);
      EXPECT_EQ(together.front(), &next);
    });
  }
  EXPECT_EQ(runs, 3);
}

TEST(combining, runs_together_what_came_meanwhile_in_the_order_of_its_coming) {
  workshop shop;
  numbered_call first(0);
  numbered_call second(1);
  numbered_call third(2);
  numbered_call fourth(3);
  shop.run(first, {&second, &third, &fourth});
  EXPECT_EQ(shop.units, (std::vector<std::vector<int>>{{0}, {1, 2, 3}}));
  EXPECT_EQ(fourth.ran_by, second.ran_by);
}

TEST(combining, makes_nobody_lead_for_ever) {
  workshop shop;
  std::deque<numbered_call> calls;
  for (int i = 0; i < 9; ++i) calls.emplace_back(i, 1);
  std::vector<numbered_call*> others;
  for (std::size_t i = 1; i < calls.size(); ++i) others.push_back(&calls[i]);
  shop.run(calls.front(), others);
  EXPECT_EQ(shop.units.size(), 9U);
  std::set<std::thread::id> leaders;
  for (const numbered_call& each : calls) leaders.insert(each.ran_by);
  EXPECT_EQ(leaders.size(), 3U);
}

TEST(combining, leaves_for_the_next_round_what_does_not_fit) {
  workshop shop;
  numbered_call first(0);
  numbered_call second(1, 2);
  numbered_call third(2, 2);
  numbered_call fourth(3, 2);
  shop.run(first, {&second, &third, &fourth});
  EXPECT_EQ(shop.units, (std::vector<std::vector<int>>{{0}, {1, 2}, {3}}));
}

TEST(combining, lets_a_call_go_alone_that_waits_too_long) {
  workshop shop(0ms);
  numbered_call first(0);
  numbered_call second(1);
  shop.start_first(first);
  numbered_call alone(2);
  shop.start(alone);
  // It ends while the first one still runs.
  while (!shop.has_ended(2)) std::this_thread::yield();
  shop.let_go();
  shop.end();
  EXPECT_EQ(shop.units, (std::vector<std::vector<int>>{{0}, {2}}));
}

}  // namespace
