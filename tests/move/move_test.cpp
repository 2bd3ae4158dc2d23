#include "move/move_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using strings = std::vector<std::string>;
using tableq::message_state;

class moves : public move_test {};
TABLEQ_ON_BACKENDS(moves, distinct_backends);

TEST_P(moves, ready_messages_move_with_all_that_they_have) {
  make();
  const std::string bytes("a\0b\xff", 4);
  jobs().enqueue(bytes, {.priority = -7,
                         .headers = {{"tenant", "\xc3\xa4 \"1\""}},
                         .key = "k 1",
                         .created_at = tableq::timestamp(1'700'000'000'000ms),
                         .time_to_live = std::chrono::hours(1)});
  jobs().enqueue("second");
  const auto before = jobs().find("k 1");
  const tableq::message_move result = move();
  EXPECT_EQ(result.moved, 2U);
  EXPECT_TRUE(result.complete());
  EXPECT_TRUE(jobs().list({.all = true}).messages.empty());
  const auto found = jobs_there().find("k 1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, message_state::ready);
  EXPECT_EQ(found->payload, bytes);
  EXPECT_EQ(found->headers, before->headers);
  EXPECT_EQ(found->priority, -7);
  EXPECT_EQ(found->created_at, before->created_at);
  EXPECT_EQ(found->expires_at, before->expires_at);
  EXPECT_EQ(payloads_of(jobs_there().peek(10)), (strings{"second", bytes}));
  expect_tidy();
}

TEST_P(moves, a_failed_message_keeps_its_attempts_errors_rest_and_rules) {
  make();
  jobs().enqueue("retried", {.max_attempts = 3, .retry = {{1h}}});
  EXPECT_EQ(jobs().fail(take_one(jobs()), "\xe2\x82\xac gone"), tableq::settle_result::applied);
  const auto before = jobs().list(message_state::delayed);
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(move().moved, 1U);
  const auto after = jobs_there().list(message_state::delayed);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].attempts, 1);
  EXPECT_EQ(after[0].due_at, before[0].due_at);
  ASSERT_EQ(after[0].errors.size(), 1U);
  EXPECT_EQ(after[0].errors[0].error, "\xe2\x82\xac gone");
  EXPECT_EQ(after[0].errors[0].at, before[0].errors[0].at);
  // Its own rules: an hour after each failure, dead after the third.
  for (const message_state then : {message_state::delayed, message_state::dead}) {
    jobs_there().make_ready(after[0].id);
    EXPECT_EQ(jobs_there().fail(take_one(jobs_there()), "again"), tableq::settle_result::applied);
    EXPECT_EQ(jobs_there().get(after[0].id)->state, then);
  }
}

TEST_P(moves, dead_messages_stay_dead_and_keep_their_keys) {
  make();
  jobs().enqueue("letter", {.key = "k"});
  EXPECT_EQ(jobs().fail(take_one(jobs()), "broken", {.give_up = true}),
            tableq::settle_result::applied);
  const auto before = jobs().list(message_state::dead);
  EXPECT_EQ(move().moved, 1U);
  const auto after = jobs_there().list(message_state::dead);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].finished_at, before.at(0).finished_at);
  EXPECT_EQ(after[0].errors.at(0).error, "broken");
  EXPECT_FALSE(jobs_there().enqueue("other", {.key = "k"}).created());
  EXPECT_EQ(jobs_there().redrive(std::span(&after[0].id, 1)), 1U);
  EXPECT_EQ(take_one(jobs_there()).payload, "letter");
}

TEST_P(moves, a_key_that_is_free_again_is_only_shown) {
  make({.keys = tableq::key_scope::waiting});
  jobs().enqueue("taken once", {.key = "k"});
  EXPECT_EQ(jobs().release(take_one(jobs())), tableq::settle_result::applied);
  jobs_there().enqueue("holder", {.key = "k"});
  EXPECT_EQ(jobs().fail(take_one(jobs()), "so that it has an attempt"),
            tableq::settle_result::applied);
  EXPECT_EQ(move().moved, 1U);
  EXPECT_EQ(jobs_there().list({.all = true}).messages.size(), 2U);
}

TEST_P(moves, a_message_whose_key_is_held_in_the_target_stays_and_is_reported) {
  make();
  jobs().enqueue("mine", {.key = "k"});
  jobs().enqueue("free", {.key = "other"});
  jobs_there().enqueue("theirs", {.key = "k"});
  tableq::message_move result = move();
  EXPECT_EQ(result.moved, 1U);
  EXPECT_EQ(result.key_held, 1U);
  EXPECT_FALSE(result.complete());
  EXPECT_EQ(payloads_of(jobs().peek(10)), strings{"mine"});
  expect_tidy();
  // When the key is free, the message follows.
  EXPECT_EQ(jobs_there().complete(take_one(jobs_there())), tableq::settle_result::applied);
  result = move();
  EXPECT_EQ(result.moved, 1U);
  EXPECT_TRUE(result.complete());
}

TEST_P(moves, a_leased_message_follows_when_it_is_given_back) {
  make();
  jobs().enqueue("held up");
  jobs().enqueue("free");
  const auto taken = take_one(jobs());
  const tableq::message_move once = move({.once = true});
  EXPECT_EQ(once.moved, 1U);
  EXPECT_EQ(once.leased, 1U);
  EXPECT_FALSE(once.complete());
  std::jthread worker([&] { EXPECT_EQ(jobs().release(taken), tableq::settle_result::applied); });
  const tableq::message_move rest = move();
  EXPECT_EQ(rest.moved, 1U);
  EXPECT_TRUE(rest.complete());
  EXPECT_EQ(payloads_of(jobs_there().peek(10)), (strings{"free", "held up"}));
}

/// Gives a message back before the first look at the source after its pass.
class late_worker final : public tableq::observer {
 public:
  late_worker(tableq::claim_queue jobs, tableq::receipt taken)
      : jobs_(std::move(jobs)), taken_(taken) {}
  void before(const tableq::observed_operation& operation) override {
    if (operation.name != "claim.stats" || gone_.exchange(true)) return;
    EXPECT_EQ(jobs_.release(taken_), tableq::settle_result::applied);
  }

 private:
  tableq::claim_queue jobs_;
  tableq::receipt taken_;
  std::atomic<bool> gone_ = false;
};

TEST_P(moves, a_message_that_is_given_back_between_two_looks_moves) {
  for (const bool once : {false, true}) {
    make();
    jobs().enqueue("given back");
    const auto late = std::make_shared<late_worker>(jobs(), take_one(jobs()).receipt);
    tableq::database source = open({.observer = late});
    const tableq::message_move result =
        tableq::move_messages(source, there().db(), "jobs", {.once = once});
    EXPECT_EQ(result.moved, 1U);
    EXPECT_TRUE(result.complete());
    EXPECT_EQ(jobs().stats().ready, 0U);
  }
}

TEST_P(moves, a_message_whose_lease_ended_moves_without_a_worker_of_the_source) {
  make();
  jobs().enqueue("left by a dead worker");
  ASSERT_EQ(jobs().take(1, {.lease = 1ms}).size(), 1U);
  const tableq::message_move result = move();
  EXPECT_EQ(result.moved, 1U);
  EXPECT_EQ(jobs_there().peek(1).at(0).errors.at(0).error, "lease expired");
}

TEST_P(moves, completed_messages_stay) {
  make({.keep_completed = true});
  jobs().enqueue("done");
  EXPECT_EQ(jobs().complete(take_one(jobs())), tableq::settle_result::applied);
  const tableq::message_move result = move();
  EXPECT_EQ(result.moved, 0U);
  EXPECT_TRUE(result.complete());
  EXPECT_EQ(jobs().list(message_state::done).size(), 1U);
}

TEST_P(moves, groups_keep_their_order_and_wait_for_what_runs) {
  make({.groups = {}});
  for (const char* each : {"a1", "b1", "a2", "b2", "a3"}) {
    jobs().enqueue(each, {.group = std::string(1, each[0])});
  }
  const auto running = take_one(jobs());
  ASSERT_EQ(running.payload, "a1");
  jobs().pause();
  const tableq::message_move first = move({.once = true, .batch = 2});
  EXPECT_EQ(first.moved, 2U);
  EXPECT_EQ(first.held, 2U);
  EXPECT_EQ(jobs().complete(running), tableq::settle_result::applied);
  EXPECT_EQ(move().moved, 2U);
  strings order;
  for (auto taken = jobs_there().take(9); !taken.empty(); taken = jobs_there().take(9)) {
    for (const auto& each : taken) {
      order.push_back(each.payload);
      EXPECT_EQ(jobs_there().complete(each), tableq::settle_result::applied);
    }
  }
  const auto at = [&](const char* what) { return std::ranges::find(order, what); };
  EXPECT_EQ(order.size(), 4U);
  EXPECT_LT(at("b1"), at("b2"));
  EXPECT_LT(at("a2"), at("a3"));
}

/// Counts the statements that take messages out of a queue.
class removals final : public tableq::observer {
 public:
  void before(const tableq::observed_operation& operation) override {
    if (operation.name == "claim.remove") ++count;
  }
  std::atomic<int> count = 0;
};

TEST_P(moves, a_long_group_moves_in_its_order_and_in_rounds_of_a_batch) {
  make({.groups = {}});
  constexpr std::size_t many = 120;
  std::vector<tableq::new_claim_message> all;
  strings payloads_in_order;
  for (std::size_t i = 0; i < many; ++i) {
    payloads_in_order.push_back(std::to_string(i));
    all.push_back({.payload = std::to_string(i), .options = {.group = "g"}});
  }
  jobs().enqueue_batch(all);
  const auto removed = std::make_shared<removals>();
  tableq::database source = open({.observer = removed});
  EXPECT_EQ(tableq::move_messages(source, there().db(), "jobs", {.batch = 50}).moved, many);
  EXPECT_LE(removed->count, 15) << "a statement for each message";
  EXPECT_EQ(payloads_of(jobs_there().list({.all = true}, {.max = 1000}).messages),
            payloads_in_order);
  EXPECT_EQ(jobs_there().take(9).size(), 1U);
  expect_tidy();
}

/// Counts conflicts that tableq has repeated.
class conflicts final : public tableq::observer {
 public:
  void retrying(const tableq::observed_operation& /*operation*/,
                const tableq::operation_retry& retry) override {
    if (retry.failed == tableq::errc::conflict) ++count;
  }
  std::atomic<int> count = 0;
};

TEST_P(moves, groups_are_locked_in_no_other_order_than_by_other_transactions) {
  const std::string waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
      " AND application_name = current_schema()";
  if (!here().takes(waiting)) GTEST_SKIP() << "this database does not tell who waits";
  make({.groups = tableq::group_options()});
  auto source = jobs();
  source.enqueue("head", {.group = "long"});
  EXPECT_EQ(source.take(1).size(), 1U);
  source.enqueue("y1", {.group = "y"});
  // More than one look goes through.
  source.enqueue_batch(std::vector<tableq::new_claim_message>(
      10'000, {.payload = "", .options = {.group = "long"}}));
  source.enqueue("x1", {.group = "x"});
  auto tx = db().begin();
  source.in(tx).enqueue("x2", {.group = "x"});
  const auto met = std::make_shared<conflicts>();
  std::jthread mover([&] {
    tableq::database own = open({.observer = met});
    EXPECT_GE(tableq::move_messages(own, there().db(), "jobs", {.once = true}).moved, 4U);
  });
  while (here().sql(waiting).at(0).at(0) == "0") {
  }
  EXPECT_NO_THROW(source.in(tx).enqueue("y2", {.group = "y"}));
  tx.commit();
  mover.join();
  EXPECT_EQ(met->count, 0);
}

TEST_P(moves, a_message_that_stays_holds_those_behind_it_in_its_group) {
  make({.groups = {}});
  jobs().enqueue("a1", {.group = "g"});
  jobs().enqueue("a2", {.key = "k", .group = "g"});
  jobs().enqueue("a3", {.group = "g"});
  jobs().enqueue("b1", {.group = "h"});
  jobs().enqueue("b2", {.group = "h"});
  jobs_there().enqueue("holder", {.key = "k"});
  const tableq::message_move result = move({.once = true});
  EXPECT_EQ(result.moved, 3U);
  EXPECT_EQ(result.key_held, 1U);
  EXPECT_EQ(result.held, 1U);
  EXPECT_EQ(payloads_of(jobs().list({.all = true}).messages), (strings{"a2", "a3"}));
  const auto holder = jobs_there().find("k");
  ASSERT_TRUE(holder);
  jobs_there().cancel(holder->id);
  EXPECT_EQ(move().moved, 2U);
  EXPECT_EQ(payloads_of(jobs_there().list({.group = "g"}).messages), (strings{"a1", "a2", "a3"}));
}

TEST_P(moves, a_resting_head_of_a_group_holds_it_in_the_target_too) {
  make({.groups = {}});
  jobs().enqueue("first", {.group = "g", .retry = {{1h}}});
  jobs().enqueue("second", {.group = "g"});
  EXPECT_EQ(jobs().fail(take_one(jobs()), "later"), tableq::settle_result::applied);
  jobs().pause();
  move({.once = true});
  EXPECT_TRUE(jobs_there().take(1).empty());
  const auto resting = jobs_there().list(message_state::delayed);
  ASSERT_EQ(resting.size(), 1U);
  jobs_there().make_ready(resting[0].id);
  EXPECT_EQ(take_one(jobs_there()).payload, "first");
}

TEST_P(moves, groups_that_take_turns_move) {
  make({.groups = {.by_turns = true}});
  for (int i = 0; i < 3; ++i) jobs().enqueue(std::to_string(i), {.group = "g"});
  EXPECT_EQ(move().moved, 3U);
  EXPECT_EQ(take_one(jobs_there()).payload, "0");
}

TEST_P(moves, limits_of_groups_stay_and_those_of_the_target_hold) {
  make({.groups = {}});
  jobs().set_group_limits({.running = 3});
  for (int i = 0; i < 4; ++i) jobs().enqueue(std::to_string(i), {.group = "g"});
  EXPECT_EQ(move().moved, 4U);
  EXPECT_EQ(jobs_there().take(9).size(), 1U) << "as without limits";
  jobs_there().set_group_limits({.running = 2});
  for (int i = 0; i < 4; ++i) jobs().enqueue(std::to_string(i), {.group = "other"});
  EXPECT_EQ(move().moved, 4U);
  EXPECT_EQ(jobs_there().take(9).size(), 3U) << "one more of g, and two of the other";
}

TEST_P(moves, all_of_a_long_queue_move_there_and_back) {
  make();
  constexpr std::size_t many = 250;
  std::vector<tableq::new_claim_message> all;
  for (std::size_t i = 0; i < many; ++i) all.push_back({.payload = std::to_string(i)});
  jobs().enqueue_batch(all);
  std::size_t told = 0;
  const auto tell = [&](const tableq::message_move& so_far) { told = so_far.moved; };
  EXPECT_EQ(move({.progress = tell}).moved, many);
  EXPECT_EQ(told, many);
  const tableq::message_move back = tableq::move_messages(there().db(), db(), "jobs");
  EXPECT_EQ(back.moved, many);
  const auto found = jobs().peek(1000);
  ASSERT_EQ(found.size(), many);
  for (std::size_t i = 0; i < many; ++i) EXPECT_EQ(found[i].payload, std::to_string(i));
}

TEST_P(moves, a_dry_run_counts_and_changes_nothing) {
  make();
  jobs().enqueue("free");
  jobs().enqueue("held", {.key = "k"});
  jobs_there().enqueue("holder", {.key = "k"});
  const tableq::message_move result = move({.dry_run = true});
  EXPECT_EQ(result.moved, 1U);
  EXPECT_EQ(result.key_held, 1U);
  EXPECT_EQ(jobs().stats().ready, 2U);
  EXPECT_FALSE(db().find("jobs.out"));
  EXPECT_FALSE(there().db().find("jobs.in"));
}

TEST_P(moves, a_full_target_gets_what_it_has_room_for) {
  make();
  for (int i = 0; i < 5; ++i) jobs().enqueue(std::to_string(i));
  jobs_there().set_limits({.capacity = 3});
  const tableq::message_move result = move({.once = true});
  EXPECT_EQ(result.moved, 3U);
  EXPECT_TRUE(result.full);
  EXPECT_FALSE(result.complete());
  EXPECT_EQ(jobs().stats().ready, 2U);
  expect_tidy();
}

TEST_P(moves, a_paused_target_gets_its_messages) {
  make();
  jobs().enqueue("waits there");
  jobs_there().pause();
  EXPECT_EQ(move().moved, 1U);
  EXPECT_TRUE(jobs_there().take(1).empty());
}

TEST_P(moves, a_message_that_the_target_does_not_take_stays) {
  make();
  jobs().enqueue(std::string(2000, 'x'));
  tableq::database small = there().open({.max_payload = 1000});
  EXPECT_CODE(too_large, tableq::move_messages(db(), small, "jobs", {.lease = 1ms}));
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(moves, a_stop_ends_it_and_another_call_goes_on) {
  make();
  for (int i = 0; i < 5; ++i) jobs().enqueue(std::to_string(i));
  std::stop_source stop;
  const auto first =
      move({.batch = 2, .stop = stop.get_token(), .progress = [&](const auto& so_far) {
              if (so_far.moved > 0) stop.request_stop();
            }});
  EXPECT_EQ(first.moved, 2U);
  expect_tidy();
  EXPECT_EQ(move().moved, 3U);
}

TEST_P(moves, inspect_tells_messages_that_a_killed_move_has_left) {
  make();
  jobs().enqueue("only");
  move();
  const auto told = [&] {
    return std::ranges::any_of(db().inspect(), [](const tableq::finding& each) {
      return each.subject == "jobs.out" && each.severity == tableq::finding::level::warning;
    });
  };
  EXPECT_FALSE(told());
  db().claim("jobs.out").enqueue("on its way");
  EXPECT_TRUE(told());
  EXPECT_EQ(move().moved, 1U);
  EXPECT_FALSE(told());
}

TEST_P(moves, one_call_at_a_time_moves_a_queue) {
  make();
  jobs().enqueue("only");
  bool refused = false;
  const auto tell = [&](const tableq::message_move& /*so_far*/) {
    if (std::exchange(refused, true)) return;
    EXPECT_CODE(busy, tableq::move_messages(db(), there().db(), "jobs", {.lease = 1ms}));
  };
  EXPECT_EQ(move({.progress = tell}).moved, 1U);
  EXPECT_TRUE(refused);
}

TEST_P(moves, what_cannot_move_is_refused_before_anything_is_changed) {
  static_cast<void>(jobs());
  EXPECT_CODE(not_found, move());
  EXPECT_CODE(not_found, tableq::move_messages(there().db(), db(), "jobs"));
  static_cast<void>(there().db().fifo("jobs"));
  EXPECT_CODE(kind_mismatch, move());
  EXPECT_CODE(kind_mismatch, tableq::move_messages(there().db(), db(), "jobs"));
  there().db().drop("jobs");
  static_cast<void>(jobs_there({.max_attempts = 17}));
  const tableq::error differ = thrown_by([&] { move(); });
  EXPECT_EQ(differ.code(), tableq::errc::options_mismatch);
  EXPECT_NE(std::string(differ.what()).find("max_attempts: 5 in the source, 17 in the target"),
            std::string::npos);
  EXPECT_CODE(invalid_argument, tableq::move_messages(db(), db(), "jobs"));
  EXPECT_CODE(invalid_argument, move({.batch = 0}));
  EXPECT_CODE(invalid_argument, move({.lease = 0ms}));
  EXPECT_CODE(invalid_argument, tableq::move_messages(db(), there().db(), std::string(37, 'q')));
  tableq::transaction tx = db().begin();
  static_cast<void>(jobs().in(tx).get(tableq::message_id{1}));
  EXPECT_CODE(invalid_argument, move());
  tx.rollback();
  EXPECT_FALSE(db().find("jobs.out"));
}

TEST_P(moves, who_may_not_make_its_queues_is_told_and_nothing_moves) {
  make();
  jobs().enqueue("stays");
  tableq::database strict = there().open({.schema = tableq::schema_policy::verify_only});
  EXPECT_CODE(not_found, tableq::move_messages(db(), strict, "jobs"));
  if (const auto url = there().here().url_without_ddl_rights()) {
    tableq::database stranger = tableq::database::open(*url);
    EXPECT_CODE(permission_denied, tableq::move_messages(db(), stranger, "jobs"));
  }
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(moves, a_queue_with_batches_is_refused) {
  make({.batches = true});
  EXPECT_CODE(unsupported, move());
}

}  // namespace
