// Random walks of limits of groups against a model: limits that change, starts that wait, leases
// that end. The states of all messages must be those of the model after each step.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using state = tableq::message_state;
using tableq::group_limits;
using tableq::group_policy;

/// A message as it should be.
struct message_model {
  std::string group;
  tableq::message_state state = state::held;
  tableq::timestamp due = {};
  tableq::timestamp ready_at = {};
  std::optional<tableq::receipt> lease = {};
};

/// A group as it should be.
struct group_model {
  std::int64_t full_at = 0;  // microseconds
  std::int64_t alarm = 0;
  tableq::timestamp alarm_at = {};
};

struct queue_model {
  static constexpr int option = 2;
  bool hold = true;
  bool by_turns = false;
  std::map<std::int64_t, message_model> messages = {};
  std::map<std::string, group_model> groups = {};
  std::map<std::string, group_limits> limits = {};
  bool unfollowed = false;

  [[nodiscard]] bool rates() const {
    return std::ranges::any_of(limits,
                               [](const auto& each) { return each.second.rate.has_value(); });
  }
  [[nodiscard]] group_limits of(const std::string& group) const {
    const auto own = limits.find(group);
    if (own != limits.end()) return own->second;
    const auto others = limits.find("");
    return others == limits.end() ? group_limits() : others->second;
  }
  void enqueue(std::int64_t id, const std::string& group, tableq::timestamp now) {
    messages[id] = {.group = group};
    advance(group, now, rates());
  }
  /// A message that could be ready.
  void back(message_model& message, tableq::timestamp now) const {
    message.state = rates() ? state::held : state::ready;
    message.ready_at = now;
  }
  /// The place in line of a message that becomes ready.
  [[nodiscard]] tableq::timestamp place_of(const group_limits& rule, tableq::timestamp now) const {
    tableq::timestamp front = now;
    for (const auto& [id, each] : messages) {
      if (each.state == state::ready) front = std::min(front, each.ready_at);
    }
    const int weight = rule.weight.value_or(1);
    return now - (now - front) * (weight - 1) / weight;
  }
  /// The ready messages as takes find them.
  [[nodiscard]] std::vector<std::int64_t> line() const {
    std::vector<std::int64_t> out;
    for (const auto& [id, each] : messages) {
      if (each.state == state::ready) out.push_back(id);
    }
    if (by_turns) {
      std::ranges::stable_sort(out, {}, [&](std::int64_t id) { return messages.at(id).ready_at; });
    }
    return out;
  }

  void advance(const std::string& group, tableq::timestamp now, bool metering) {
    group_model& own = groups[group];
    const group_limits rule = of(group);
    std::int64_t starts = 1000;
    std::optional<tableq::timestamp> alarm_at;
    const std::int64_t clock = now.time_since_epoch().count() * 1000;
    std::int64_t interval = 0;
    if (metering) {
      const auto waiting = messages.find(own.alarm);
      const bool alarmed = waiting != messages.end() && waiting->second.state == state::delayed &&
                           waiting->second.due == own.alarm_at;
      bool keeps = false;
      if (rule.rate) {
        interval = static_cast<std::int64_t>(1e6 / *rule.rate + 0.999);
        const std::int64_t burst = rule.burst.value_or(static_cast<int>(*rule.rate + 0.999));
        own.full_at = std::clamp(own.full_at, clock, clock + burst * interval);
        starts = 0;
        while (own.full_at + (starts + 1) * interval <= clock + burst * interval) ++starts;
        const std::int64_t next = own.full_at + (starts - burst + 1) * interval;
        const tableq::timestamp at(std::chrono::milliseconds((next + 999) / 1000));
        keeps = alarmed && starts == 0 && own.alarm_at <= at;
        if (!keeps) alarm_at = at;
      }
      if (alarmed && !keeps) waiting->second.state = state::held;
    }
    std::int64_t room = rule.running.value_or(option);
    for (const auto& [id, each] : messages) {
      const bool counts = each.state == state::ready || each.state == state::leased ||
                          (hold && each.state == state::delayed);
      if (each.group == group && counts) --room;
    }
    const tableq::timestamp place = place_of(rule, now);
    for (auto& [id, each] : messages) {
      if (room <= 0) break;
      if (each.group != group || each.state != state::held) continue;
      if (starts > 0) {
        each.state = state::ready;
        each.ready_at = place;
        --starts;
        --room;
        own.full_at += interval;
        continue;
      }
      if (!alarm_at) break;
      each.state = state::delayed;
      each.due = *alarm_at;
      own.alarm = id;
      own.alarm_at = *alarm_at;
      break;
    }
    for (auto each = messages.rbegin(); room < 0 && each != messages.rend(); ++each) {
      if (each->second.group != group || each->second.state != state::ready) continue;
      each->second.state = state::held;
      ++room;
    }
  }
  void move_all(tableq::timestamp now) {
    std::map<std::string, bool> all;
    for (const auto& [id, each] : messages) all[each.group] = true;
    for (const auto& [group, yes] : all) advance(group, now, true);
  }
  /// The work of a take before it takes.
  void look(tableq::timestamp now) {
    if (std::exchange(unfollowed, false)) move_all(now);
    std::map<std::string, bool> left;
    for (auto& [id, each] : messages) {
      if (each.state != state::leased && each.state != state::delayed) continue;
      if (each.due > now) continue;
      const bool rested = each.state == state::delayed;
      back(each, now);
      if (rested && !hold) each.state = state::held;
      if (each.state == state::held) left[each.group] = true;
    }
    for (const auto& [group, yes] : left) advance(group, now, rates());
  }
};

class group_limit_walk : public on_each_backend {
 protected:
  void walk(group_policy policy, std::uint64_t steps, bool by_turns = false) {
    const std::uint64_t seed = chosen_seed() + (policy == group_policy::hold ? 0 : 1);
    SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed));
    random_source random(seed);
    auto queue = db_with_clock().claim(
        policy == group_policy::hold ? "holds" : "passes",
        at_once({.lease = 5s,
                 .max_attempts = 1'000'000,
                 .groups = {
                     .limit = queue_model::option, .on_failure = policy, .by_turns = by_turns}}));
    queue_model model{.hold = policy == group_policy::hold, .by_turns = by_turns};
    set(queue, model, "", {.running = 2});
    for (std::uint64_t i = 0; i < steps && !HasFailure(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      one_step(queue, model, random);
      compare(queue, model);
    }
  }

 private:
  void set(tableq::claim_queue& queue, queue_model& model, const std::string& group,
           const group_limits& limits) {
    queue.set_group_limits(limits, group);
    const bool known = !model.limits.empty();
    const bool rated = model.rates();
    model.limits.erase(group);
    if (limits != group_limits()) model.limits[group] = limits;
    // Programs that hear of the first limit or rate may have let go too many.
    const bool news = known == model.limits.empty() || rated != model.rates();
    if (group.empty() || news || model.unfollowed) {
      model.move_all(clock.now());
    } else {
      model.advance(group, clock.now(), true);
    }
    model.unfollowed = news || model.unfollowed;
  }

  void one_step(tableq::claim_queue& queue, queue_model& model, random_source& random) {
    const std::string group(1, static_cast<char>('a' + random.below(4)));
    switch (random.below(10)) {
      case 0:
      case 1:
      case 2: {
        const auto added = queue.enqueue("x", {.group = group});
        model.enqueue(added.id.value, group, clock.now());
        break;
      }
      case 3:
      case 4:
        return take(queue, model, 1 + random.below(4));
      case 5:
        clock.advance(std::chrono::milliseconds(random.below(1500)));
        break;
      case 6:
        if (random.one_in(4)) return change(queue, model, random.one_in(2) ? "" : group, random);
        break;
      default:
        return settle(queue, model, random);
    }
  }

  void change(tableq::claim_queue& queue, queue_model& model, const std::string& group,
              random_source& random) {
    if (model.by_turns) {
      // The same number of running messages: a group with fewer would leave the line.
      return set(queue, model, group,
                 {.running = 2, .weight = static_cast<int>(1 + random.below(5))});
    }
    group_limits limits{.running = static_cast<int>(1 + random.below(4))};
    if (random.one_in(2)) limits.rate = random.one_in(2) ? 2.0 : 0.7;
    if (limits.rate && random.one_in(2)) limits.burst = static_cast<int>(1 + random.below(3));
    if (!group.empty() && random.one_in(3)) limits = {};
    set(queue, model, group, limits);
  }

  void take(tableq::claim_queue& queue, queue_model& model, std::size_t max) {
    model.look(clock.now());
    std::vector<std::int64_t> expected;
    for (const std::int64_t id : model.line()) {
      if (expected.size() < max) expected.push_back(id);
    }
    std::vector<std::int64_t> found;
    for (const auto& each : queue.take(max)) {
      found.push_back(each.receipt.id.value);
      message_model& message = model.messages[each.receipt.id.value];
      message.state = state::leased;
      message.due = clock.now() + 5s;
      message.lease = each.receipt;
    }
    EXPECT_EQ(found, expected);
  }

  void settle(tableq::claim_queue& queue, queue_model& model, random_source& random) {
    std::vector<std::int64_t> leased;
    for (const auto& [id, each] : model.messages) {
      if (each.state == state::leased) leased.push_back(id);
    }
    if (leased.empty()) return;
    const std::int64_t id = leased[random.below(leased.size())];
    message_model& message = model.messages[id];
    const std::string group = message.group;
    const tableq::receipt receipt = *message.lease;
    switch (random.below(4)) {
      case 0:
        EXPECT_EQ(queue.release(receipt), tableq::settle_result::applied);
        model.back(message, clock.now());
        if (model.rates()) model.advance(group, clock.now(), true);
        return;
      case 1: {
        const std::chrono::milliseconds delay(random.one_in(2) ? 0 : random.below(2000));
        EXPECT_EQ(queue.fail(receipt, "no", {.delay = delay}), tableq::settle_result::applied);
        model.back(message, clock.now());
        if (delay.count() > 0) message.state = state::delayed;
        message.due = clock.now() + delay;
        break;
      }
      default:
        EXPECT_EQ(queue.complete(receipt), tableq::settle_result::applied);
        model.messages.erase(id);
    }
    model.advance(group, clock.now(), model.rates());
  }

  void compare(const tableq::claim_queue& queue, const queue_model& model) {
    std::vector<tableq::message_id> ids;
    for (const auto& [id, each] : model.messages) ids.push_back({id});
    if (ids.empty()) return;
    const auto found = queue.get_batch(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const message_model& expected = model.messages.at(ids[i].value);
      ASSERT_TRUE(found[i]);
      EXPECT_EQ(found[i]->state, expected.state) << ids[i].value << " of " << expected.group;
      if (expected.state == state::delayed) {
        EXPECT_EQ(found[i]->due_at, expected.due);
      }
      if (model.by_turns && expected.state == state::ready) {
        EXPECT_EQ(found[i]->due_at, expected.ready_at);
      }
    }
  }
};
TABLEQ_ON_BACKENDS(group_limit_walk, distinct_backends);

TEST_P(group_limit_walk, where_a_failure_holds_its_group_agrees_with_the_model) {
  walk(group_policy::hold, chosen_steps(700));
}

TEST_P(group_limit_walk, of_groups_that_take_turns_by_weight_agrees_with_the_model) {
  walk(group_policy::hold, chosen_steps(700), true);
}

TEST_P(group_limit_walk, where_a_failure_lets_its_group_go_on_agrees_with_the_model) {
  walk(group_policy::pass, chosen_steps(700));
}

}  // namespace
