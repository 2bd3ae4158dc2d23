#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::group_policy;
using tableq::message_state;
using tableq::settle_result;

/// Each message is added, and each one settled, a millisecond after what was before.
class claim_turn : public claim_test {
 protected:
  using names = std::vector<std::string>;

  void TearDown() override {
    queue_.reset();
    claim_test::TearDown();
  }
  tableq::claim_queue open(tableq::claim_options options) {
    options.max_attempts = 3;
    return db_with_clock().claim("turns", options);
  }
  tableq::claim_queue& queue() {
    if (!queue_) queue_ = open({.groups = {.by_turns = true}});
    return *queue_;
  }
  /// @param name its first letter is the group; `-`: none.
  tableq::message_id add(const std::string& name, tableq::claim_enqueue_options options = {}) {
    clock.advance(1ms);
    if (name.front() != '-') options.group = name.substr(0, 1);
    return queue().enqueue(name, options).id;
  }
  void add_all(const names& each) {
    for (const std::string& name : each) add(name);
  }
  tableq::delivery next() { return take_one(queue()); }
  void complete(const tableq::delivery& taken) {
    clock.advance(1ms);
    EXPECT_EQ(queue().complete(taken.receipt), settle_result::applied);
  }
  /// Takes and completes one message after the other.
  names handled() {
    names out;
    for (auto taken = queue().take(1); !taken.empty(); taken = queue().take(1)) {
      out.push_back(taken.front().payload);
      complete(taken.front());
    }
    return out;
  }

 private:
  std::optional<tableq::claim_queue> queue_;
};
TABLEQ_ON_BACKENDS(claim_turn, all_backends);

class claim_turn_of_plain_sql : public claim_turn {};
TABLEQ_ON_BACKENDS(claim_turn_of_plain_sql, shared_backends);

TEST_P(claim_turn, groups_take_turns_when_asked) {
  for (int i = 1; i <= 50; ++i) add("a" + std::to_string(i));
  add_all({"b1", "c1", "c2", "c3"});
  names expected = {"a1", "b1", "c1", "a2", "c2", "a3", "c3"};
  for (int i = 4; i <= 50; ++i) expected.push_back("a" + std::to_string(i));
  EXPECT_EQ(handled(), expected);
}

TEST_P(claim_turn, a_batch_is_in_the_order_of_turns_and_within_a_millisecond_in_that_of_ids) {
  add_all({"a1", "a2", "b1", "c1"});
  complete(next());
  const auto same_time = [&](const char* name) { queue().enqueue(name); };
  same_time("-1");
  same_time("-2");
  EXPECT_EQ(payloads_of(queue().take(3)), (names{"b1", "c1", "a2"}));
  EXPECT_EQ(payloads_of(queue().take(3)), (names{"-1", "-2"}));
}

TEST_P(claim_turn, a_rest_that_a_group_passes_ends_in_its_line) {
  auto passing = db_with_clock().claim(
      "passing", {.groups = {.on_failure = group_policy::pass, .by_turns = true}});
  for (const char* name : {"a1", "a2", "a3"}) passing.enqueue(name, {.group = "a"});
  EXPECT_EQ(passing.fail(take_one(passing).receipt, "no", {.delay = 1s}), settle_result::applied);
  clock.advance(1s);
  passing.enqueue("b1", {.group = "b"});
  const auto a2 = take_one(passing);
  EXPECT_EQ(a2.payload, "a2");
  clock.advance(1ms);
  EXPECT_EQ(passing.complete(a2.receipt), settle_result::applied);
  EXPECT_EQ(payloads_of(passing.take(10)), (names{"b1", "a1"}));
}

TEST_P(claim_turn, looks_show_the_order_of_takes_and_since_when_a_message_is_ready) {
  add_all({"a1", "a2", "b1", "c1", "-1"});
  complete(next());
  add("d1", {.priority = 1});
  const names order = {"d1", "b1", "c1", "-1", "a2"};
  EXPECT_EQ(payloads_of(queue().peek(10)), order);
  EXPECT_EQ(payloads_of(queue().peek(2)), (names{"d1", "b1"}));
  for (const std::size_t size : {1U, 2U, 10U}) {
    EXPECT_EQ(payloads_of(queue().list_all(message_state::ready, size)), order) << size;
  }
  EXPECT_EQ(queue().stats().ready, 5U);
  const auto shown = queue().peek(5);
  EXPECT_EQ(*shown[4].due_at - *shown[3].due_at, 1ms) << "a2 became ready after -1";
  EXPECT_EQ(queue().get(shown[4].id)->due_at, shown[4].due_at);
  EXPECT_EQ(handled(), order);
}

TEST_P(claim_turn_of_plain_sql, is_behind_all_that_is_ready) {
  auto jobs = db().claim("plain", {.groups = {.by_turns = true}});
  jobs.enqueue("a1", {.group = "a"});
  here().insert_many("plain", "payload", here().bytes_literal("sql"), 1);
  jobs.enqueue("b1", {.group = "b"});
  EXPECT_EQ(payloads_of(jobs.take(10)), (names{"a1", "sql", "b1"}));
}

TEST_P(claim_turn, is_fixed_when_the_queue_is_created_and_needs_groups) {
  auto same = open({.groups = {.by_turns = true}});
  EXPECT_TRUE(db_with_clock().find("turns")->groups->by_turns);
  same = open({});
  same = open({.groups = {.by_turns = true}});
  EXPECT_CODE(options_mismatch, (void)open({.groups = {}}));
  auto without = db_with_clock().claim("without", {.groups = {}});
  EXPECT_CODE(options_mismatch,
              (void)db_with_clock().claim("without", {.groups = {.by_turns = true}}));
  EXPECT_CODE(invalid_argument, (void)db_with_clock().claim(
                                    "none", {.groups = {.by_turns = true, .enabled = false}}));
}

TEST_P(claim_turn, ends_with_the_queue) {
  add_all({"a1", "a2"});
  auto before = queue();
  EXPECT_TRUE(db_with_clock().drop("turns"));
  auto after = open({.groups = {}});
  after.enqueue("new", {.group = "a"});
  EXPECT_CODE(not_found, before.enqueue("old"));
  EXPECT_CODE(not_found, (void)before.take(1));
  EXPECT_EQ(payloads_of(after.take(10)), names{"new"});
}

}  // namespace
