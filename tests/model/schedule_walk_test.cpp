// Random walks of schedules against a model: rules that change, times that pass unseen, clocks that
// differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::schedule;
using tableq::timestamp;

/// A rule as it should be.
struct rule_model {
  schedule rule;
  bool enabled = true;
  timestamp due = {};
  std::optional<timestamp> last = {};

  [[nodiscard]] timestamp after(timestamp time) const {
    if (rule.cron.empty()) return time + rule.every;
    return std::chrono::floor<std::chrono::minutes>(time) + 1min;  // cron is * * * * *
  }
  void begin(timestamp now) { due = after(std::max(now, last.value_or(now))); }

  /// The times that a reader with this clock follows.
  std::vector<timestamp> follow(timestamp now) {
    std::vector<timestamp> out;
    if (!enabled) return out;
    for (; due <= now; due = after(due)) out.push_back(due);
    if (out.empty()) return out;
    last = out.back();
    const auto most = static_cast<std::size_t>(std::max(rule.catch_up, 1));
    if (out.size() > most) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(most));
    std::chrono::milliseconds longest = rule.not_later_than.value_or(1000h);
    if (rule.catch_up == 0) longest = std::min(longest, std::chrono::milliseconds(1min));
    std::erase_if(out, [&](timestamp time) { return now - time > longest; });
    return out;
  }
};

using added = std::pair<std::string, timestamp>;

class schedule_walk : public on_each_backend {
 protected:
  void walk(std::uint64_t steps) {
    const std::uint64_t seed = chosen_seed();
    SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed));
    random_source random(seed);
    manual_clock behind;
    std::vector<tableq::database> all{db_with_clock()};
    if (can().shared) all.push_back(open({.clock = behind.source()}));
    auto periodic = db_with_clock().fifo("periodic");
    std::vector<tableq::fifo_queue> idle;
    for (tableq::database& each : all) idle.push_back(each.fifo("idle"));
    db_with_clock().schedules().add({.name = "idle", .queue = "idle", .cron = "0 0 29 2 *"});
    for (tableq::fifo_queue& each : idle) static_cast<void>(each.dequeue());  // hears of it
    for (std::uint64_t step = 0; step < steps && !HasFailure(); ++step) {
      clock.advance(std::chrono::seconds(random.below(random.one_in(8) ? 1200 : 90)));
      behind.set(clock.now() - std::chrono::seconds(random.below(60)));
      const std::size_t who = random.below(all.size());
      const timestamp now = who == 0 ? clock.now() : behind.now();
      tableq::schedules rules = all[who].schedules();
      const std::string name(1, static_cast<char>('a' + random.below(4)));
      change(rules, random, name, now);
      static_cast<void>(idle[who].dequeue());
      static_cast<void>(idle[0].dequeue());
      for (const timestamp time_there : {now, clock.now()}) {
        for (auto& [each, model] : model_) {
          for (const timestamp time : model.follow(time_there)) expected_.emplace_back(each, time);
        }
      }
      std::vector<added> found;
      for (const tableq::message& each : periodic.dequeue_batch(10'000)) {
        found.emplace_back(each.payload, each.created_at);
      }
      std::ranges::sort(found);
      std::ranges::sort(expected_);
      EXPECT_EQ(found, expected_) << "step " << step;
      messages_ += found.size();
      expected_.clear();
      compare(rules);
    }
    EXPECT_GT(messages_, steps / 4);
  }

 private:
  schedule any_rule(random_source& random, const std::string& name) {
    schedule out{.name = name, .queue = "periodic", .payload = name};
    if (random.one_in(2)) {
      out.cron = "* * * * *";
    } else {
      out.every = std::chrono::seconds(1 + random.below(200));
    }
    constexpr std::array catch_ups{0, 1, 1, 3, 1000};
    out.catch_up = catch_ups.at(random.below(catch_ups.size()));
    if (random.one_in(3)) out.not_later_than = std::chrono::seconds(random.below(400));
    return out;
  }

  void change(tableq::schedules& rules, random_source& random, const std::string& name,
              timestamp now) {
    const auto at = model_.find(name);
    const bool there = at != model_.end();
    switch (random.below(14)) {
      case 0:
        EXPECT_EQ(rules.remove(name), there);
        if (there) model_.erase(at);
        break;
      case 1:
        EXPECT_EQ(rules.pause(name), there);
        if (there) at->second.enabled = false;
        break;
      case 2:
        EXPECT_EQ(rules.resume(name), there);
        if (!there) break;
        at->second.enabled = true;
        at->second.begin(now);
        break;
      case 3:
        EXPECT_EQ(rules.run_now(name).has_value(), there);
        if (there) expected_.emplace_back(name, now);
        break;
      case 4:
      case 5: {
        const schedule rule = any_rule(random, name);
        if (!there) {
          rules.add(rule);
          model_[name] = {.rule = rule};
          model_[name].begin(now);
          break;
        }
        rules.change(rule);
        rule_model& model = at->second;
        const bool same = model.rule.cron == rule.cron && model.rule.every == rule.every;
        model.rule = rule;
        if (model.enabled && !same) model.begin(now);
        break;
      }
      default:
        break;
    }
  }

  void compare(const tableq::schedules& rules) {
    std::size_t count = 0;
    for (const tableq::schedule_info& each : rules.list()) {
      if (each.rule.name == "idle") continue;
      ++count;
      ASSERT_TRUE(model_.contains(each.rule.name));
      const rule_model& model = model_.at(each.rule.name);
      EXPECT_EQ(each.rule, model.rule);
      EXPECT_EQ(each.enabled, model.enabled);
      EXPECT_EQ(each.last, model.last);
      if (model.enabled) {
        EXPECT_EQ(each.next.at(0), model.due);
      }
    }
    EXPECT_EQ(count, model_.size());
  }

  std::map<std::string, rule_model> model_;
  std::vector<added> expected_;
  std::size_t messages_ = 0;
};
TABLEQ_ON_BACKENDS(schedule_walk, all_backends);

TEST_P(schedule_walk, agrees_with_the_model) {
  walk(chosen_steps(300));
}

}  // namespace
