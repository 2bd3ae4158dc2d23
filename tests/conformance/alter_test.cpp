#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "conformance/claim_fixture.hpp"
#include "support/becomes.hpp"
#include "support/memory.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::message_state;
using tableq::option_change;
using tableq::settle_result;

class alter : public claim_test {
 protected:
  tableq::database& on() { return db_with_clock(); }
  static std::vector<std::string> names_of(const std::vector<option_change>& changes) {
    std::vector<std::string> out;
    for (const option_change& each : changes) out.push_back(each.option);
    return out;
  }
};
TABLEQ_ON_BACKENDS(alter, all_backends);

TEST_P(alter, stores_every_option_that_can_change) {
  static_cast<void>(on().claim("jobs", {.groups = tableq::group_options{}}));
  const auto changes = on().alter("jobs", {.lease = 1min,
                                           .max_attempts = 7,
                                           .keep_completed = true,
                                           .retry = {1s, 1min},
                                           .time_to_live = 1h,
                                           .key_window = 2h,
                                           .group_limit = 5,
                                           .group_on_failure = tableq::group_policy::pass,
                                           .dead_letters = "letters",
                                           .retain_done = 24h,
                                           .retain_dead = 48h});
  EXPECT_EQ(
      names_of(changes),
      (std::vector<std::string>{"dead_letters", "group_limit", "group_on_failure", "keep_completed",
                                "key_window_ms", "lease_ms", "max_attempts", "retain_dead_ms",
                                "retain_done_ms", "retry_jitter", "retry_ms", "time_to_live_ms"}))
      << "the names of tableq.h";
  for (const option_change& each : changes) {
    const bool own = each.option == "lease_ms" || each.option == "max_attempts" ||
                     each.option == "keep_completed" || each.option == "retry_ms" ||
                     each.option == "retry_jitter" || each.option == "time_to_live_ms";
    EXPECT_EQ(each.refused_at_open, !own) << each.option;
  }
  const tableq::queue_info found = *on().find("jobs");
  EXPECT_EQ(found.lease, 1min);
  EXPECT_EQ(found.max_attempts, 7);
  EXPECT_TRUE(found.keep_completed);
  EXPECT_EQ(found.retry, (tableq::retry_delays{{1s, 1min}}));
  EXPECT_EQ(found.time_to_live, 1h);
  EXPECT_EQ(found.key_window, 2h);
  EXPECT_EQ(found.groups->limit, 5);
  EXPECT_EQ(found.groups->on_failure, tableq::group_policy::pass);
  EXPECT_EQ(found.dead_letters, "letters");
  EXPECT_EQ(found.retention, (tableq::retention{.done = 24h, .dead = 48h}));
  EXPECT_EQ(on().find("letters")->kind, tableq::kind::claim);
  on().alter("jobs", {.time_to_live = tableq::lifetime::forever(),
                      .key_window = 0ms,
                      .dead_letters = "",
                      .retain_done = tableq::lifetime::forever()});
  const tableq::queue_info back = *on().find("jobs");
  EXPECT_FALSE(back.time_to_live);
  EXPECT_EQ(back.dead_letters, "");
  EXPECT_EQ(back.retention, (tableq::retention{.dead = 48h}));
  EXPECT_EQ(back.identity, found.identity);
}

TEST_P(alter, changes_nothing_in_a_dry_run_or_where_nothing_differs) {
  jobs();
  EXPECT_EQ(
      on().alter("jobs", {.lease = 5s}, {.dry_run = true}),
      (std::vector<option_change>{{.option = "lease_ms", .before = "30000", .after = "5000"}}));
  EXPECT_EQ(on().find("jobs")->lease, 30s);
  EXPECT_TRUE(on().alter("jobs", {.lease = 30s}).empty());
  EXPECT_TRUE(on().alter("jobs", {}).empty());
  on().alter("jobs", {.dead_letters = "letters"}, {.dry_run = true});
  EXPECT_FALSE(on().find("letters"));
}

TEST_P(alter, reaches_the_open_handles_of_its_database_at_once) {
  jobs();
  on().alter("jobs", {.lease = 2min, .max_attempts = 1, .dead_letters = "letters"});
  jobs().enqueue("x");
  const auto taken = take_one();
  EXPECT_EQ(taken.lease_until - taken.created_at, 2min);
  EXPECT_EQ(jobs().fail(taken.receipt, "no"), settle_result::applied);
  EXPECT_EQ(on().claim("letters").stats().ready, 1U);
  EXPECT_EQ(jobs().lease(), 2min);
  on().alter("jobs", {.keep_completed = true, .dead_letters = ""});
  jobs().enqueue("y");
  EXPECT_EQ(jobs().complete(take_one().receipt), settle_result::applied);
  EXPECT_EQ(jobs().stats().done, 1U);
  jobs().enqueue("z");
  EXPECT_EQ(jobs().fail(take_one().receipt, "no"), settle_result::applied);
  EXPECT_EQ(jobs().stats().dead, 1U);
}

TEST_P(alter, of_options_to_and_fro_keeps_no_memory) {
  static_cast<void>(on().claim("jobs", {.groups = tableq::group_options{}}));
  auto jobs = on().claim("jobs");
  const auto after = [&](int times) {
    for (int i = 0; i < times; ++i) {
      for (const int attempts : {7, 8}) {
        on().alter("jobs", {.max_attempts = attempts});
        EXPECT_TRUE(jobs.take(1).empty());
        EXPECT_EQ(jobs.max_attempts(), attempts);
      }
    }
    return allocated_bytes();
  };
  const auto before = after(5);
  if (!before) GTEST_SKIP() << "the system does not tell what is allocated";
  EXPECT_LT(after(50), *before + 50'000);
}

TEST_P(alter, leaves_a_handle_the_values_that_it_was_opened_with) {
  auto own = on().claim("jobs", {.lease = 5s, .retry = tableq::retry_delays::none()});
  auto stored = on().claim("jobs");
  on().alter("jobs", {.lease = 2min, .retry = {1h}, .time_to_live = 3h});
  const auto id = own.enqueue("x").id;
  EXPECT_TRUE(own.get(id)->expires_at);
  const auto taken = *own.take_one();
  EXPECT_EQ(taken.lease_until - taken.created_at, 5s);
  EXPECT_EQ(own.fail(taken.receipt, "no"), settle_result::applied);
  const auto again = *stored.take_one();
  EXPECT_EQ(again.lease_until - again.created_at, 2min);
  EXPECT_EQ(stored.fail(again.receipt, "no"), settle_result::applied);
  EXPECT_EQ(stored.get(id)->state, message_state::delayed);
}

TEST_P(alter, refuses_the_old_value_of_a_shared_option_at_the_next_open) {
  static_cast<void>(on().claim("jobs", {.key_window = 1h}));
  const auto changes = on().alter("jobs", {.key_window = 2h});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_TRUE(changes[0].refused_at_open);
  EXPECT_CODE(options_mismatch, static_cast<void>(on().claim("jobs", {.key_window = 1h})));
  EXPECT_NO_THROW(static_cast<void>(on().claim("jobs", {.key_window = 2h})));
  EXPECT_NO_THROW(static_cast<void>(on().claim("jobs")));
}

TEST_P(alter, refuses_what_a_queue_keeps_for_its_life_and_says_what_to_do) {
  static_cast<void>(on().fifo("mail"));
  static_cast<void>(on().claim("jobs", {.groups = tableq::group_options{}}));
  const auto why = [&](const char* queue, const tableq::queue_changes& changes) -> std::string {
    try {
      on().alter(queue, changes);
    } catch (const tableq::error& failure) {
      EXPECT_EQ(failure.code(), tableq::errc::options_mismatch);
      return failure.what();
    }
    return "";
  };
  EXPECT_NE(why("mail", {.ordering = tableq::ordering::strict}).find("move the messages"),
            std::string::npos);
  EXPECT_NE(why("jobs", {.groups = false}).find("move the messages"), std::string::npos);
  EXPECT_NE(why("jobs", {.groups_by_turns = true}).find("move the messages"), std::string::npos);
  EXPECT_TRUE(on().alter("mail", {.ordering = tableq::ordering::relaxed}).empty());
  EXPECT_TRUE(on().alter("jobs", {.groups = true, .groups_by_turns = false}).empty());
}

TEST_P(alter, refuses_bad_values_and_queues_that_are_not_there) {
  jobs();
  static_cast<void>(on().fifo("mail"));
  EXPECT_CODE(not_found, on().alter("nowhere", {.lease = 1s}));
  EXPECT_CODE(invalid_argument, on().alter("mail", {.lease = 1s}));
  EXPECT_CODE(invalid_argument, on().alter("jobs", {.lease = 0s}));
  EXPECT_CODE(invalid_argument, on().alter("jobs", {.max_attempts = 0}));
  EXPECT_CODE(invalid_argument, on().alter("jobs", {.group_limit = 2}));
  EXPECT_CODE(invalid_argument, on().alter("jobs", {.dead_letters = "jobs"}));
  EXPECT_CODE(kind_mismatch, on().alter("jobs", {.dead_letters = "mail"}));
  EXPECT_CODE(invalid_argument, on().alter("jobs", {.retain_done = 0s}));
  EXPECT_CODE(invalid_argument,
              on().alter("jobs", {.keys = tableq::key_scope::waiting, .key_window = 1h}));
  on().alter("jobs", {.key_window = 1h});
  EXPECT_CODE(invalid_argument, on().alter("jobs", {.keys = tableq::key_scope::waiting}));
  EXPECT_CODE(invalid_argument, on().alter("jobs", {.retain_done = 1min}));
  tableq::transaction tx = on().begin();
  jobs().in(tx).enqueue("x");
  EXPECT_CODE(invalid_argument, on().alter("jobs", {.lease = 1s}));
}

TEST_P(alter, reaches_other_processes_within_a_second) {
  if (!can().shared) return;
  auto here_open = db().claim("real", at_once());
  tableq::database elsewhere = open();
  auto there_open = elsewhere.claim("real");
  there_open.enqueue("warm");
  db().alter("real", {.max_attempts = 1, .keep_completed = true});
  EXPECT_TRUE(becomes([&] {
    static_cast<void>(there_open.take(1, {.lease = 1ms}));
    return there_open.max_attempts() == 1;
  }));
}

/// Counts the operations that run.
class running : public tableq::observer {
 public:
  void before(const tableq::observed_operation& /*operation*/) override { ++now_; }
  void after(const tableq::observed_operation& /*operation*/,
             const tableq::operation_result& /*result*/) override {
    --now_;
  }
  [[nodiscard]] bool none() const { return now_ == 0; }

 private:
  std::atomic<int> now_{0};
};

TEST_P(alter, reaches_a_take_that_waits) {
  if (!can().shared) return;
  const auto calls = std::make_shared<running>();
  tableq::database here_open = open({.observer = calls});
  auto waiting = here_open.claim("real", at_once());
  tableq::database elsewhere = open();
  std::jthread waiter([&] {
    const auto taken = waiting.take_one({.wait = for_ever});
    ASSERT_TRUE(taken);
    EXPECT_GT(taken->lease_until - taken->created_at, 30min);
  });
  elsewhere.alter("real", {.lease = 1h});
  // The waiting process asks for the options at most twice a second.
  EXPECT_TRUE(becomes([&] { return waiting.lease() == 1h; }));
  // A read that began before has the old lease.
  EXPECT_TRUE(becomes([&] { return calls->none(); }));
  elsewhere.claim("real").enqueue("x");
}

class retention : public claim_test {};
TABLEQ_ON_BACKENDS(retention, all_backends);

TEST_P(retention, removes_finished_messages_when_they_are_old_enough_and_no_others) {
  auto kept = db_with_clock().claim(
      "kept", at_once({.keep_completed = true, .retention = tableq::retention{1h, 2h}}));
  kept.enqueue("done");
  kept.enqueue("dead");
  EXPECT_EQ(kept.complete(take_one(kept).receipt), settle_result::applied);
  EXPECT_EQ(kept.fail(take_one(kept).receipt, "no", {.give_up = true}), settle_result::applied);
  kept.enqueue("ready");
  kept.enqueue("later", {.delay = 24h});
  clock.advance(59min);
  const auto leased = take_one(kept);
  EXPECT_EQ(kept.stats().done, 1U);
  clock.advance(1min);
  EXPECT_EQ(kept.extend(leased.receipt, 24h), settle_result::applied);
  EXPECT_EQ(kept.stats().done, 0U);
  EXPECT_EQ(kept.stats().dead, 1U);
  clock.advance(1h);
  EXPECT_TRUE(kept.take(1).empty());
  EXPECT_EQ(kept.stats().dead, 0U);
  EXPECT_EQ(kept.stats().leased, 1U);
  EXPECT_EQ(kept.stats().delayed, 1U);
}

TEST_P(retention, is_not_applied_inside_a_callers_transaction) {
  if (!can().shared) return;
  auto kept = db_with_clock().claim(
      "kept", {.keep_completed = true, .retention = tableq::retention{.done = 1h}});
  kept.enqueue("done");
  EXPECT_EQ(kept.complete(take_one(kept).receipt), settle_result::applied);
  clock.advance(2h);
  {
    tableq::transaction tx = db_with_clock().begin();
    EXPECT_TRUE(kept.in(tx).take(1).empty());
    EXPECT_EQ(kept.stats().done, 1U);
    tx.commit();
  }
  EXPECT_EQ(kept.stats().done, 1U);
  EXPECT_TRUE(kept.take(1).empty());
  EXPECT_EQ(kept.stats().done, 0U);
}

TEST_P(retention, is_applied_by_a_worker) {
  auto kept = db_with_clock().claim(
      "kept", {.keep_completed = true, .retention = tableq::retention{.done = 1h}});
  kept.enqueue("old");
  EXPECT_EQ(tableq::drain(kept, [](const tableq::delivery&) {}), 1U);
  clock.advance(2h);
  EXPECT_EQ(kept.stats().done, 1U);
  kept.enqueue("new");
  EXPECT_EQ(tableq::drain(kept, [](const tableq::delivery&) {}), 1U);
  EXPECT_EQ(kept.stats().done, 1U);
}

TEST_P(retention, begins_when_it_is_altered_and_ends_so) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  const auto finish = [&] {
    kept.enqueue("x");
    EXPECT_EQ(kept.complete(take_one(kept).receipt), settle_result::applied);
    clock.advance(2h);
    EXPECT_TRUE(kept.take(1).empty());
  };
  finish();
  EXPECT_EQ(kept.stats().done, 1U);
  db_with_clock().alter("kept", {.retain_done = 1h});
  finish();
  EXPECT_EQ(kept.stats().done, 0U);
  db_with_clock().alter("kept", {.retain_done = tableq::lifetime::forever()});
  finish();
  EXPECT_EQ(kept.stats().done, 1U);
}

TEST_P(retention, must_not_end_before_the_key_window) {
  EXPECT_CODE(invalid_argument,
              static_cast<void>(db_with_clock().claim(
                  "kept", {.key_window = 2h, .retention = tableq::retention{.done = 1h}})));
  EXPECT_CODE(invalid_argument, static_cast<void>(db_with_clock().claim(
                                    "kept", {.retention = tableq::retention{.dead = 0ms}})));
}

TEST_P(retention, of_another_length_is_refused_when_a_queue_is_opened) {
  static_cast<void>(db_with_clock().claim("kept", {.retention = tableq::retention{.dead = 1h}}));
  EXPECT_CODE(options_mismatch, static_cast<void>(db_with_clock().claim(
                                    "kept", {.retention = tableq::retention{.dead = 2h}})));
  EXPECT_NO_THROW(static_cast<void>(db_with_clock().claim("kept")));
}

TEST_P(retention, doctor_tells_a_queue_that_grows_without_end_and_one_that_nobody_tidies) {
  if (!can().shared) return;
  auto kept = db().claim("kept", {.keep_completed = true});
  const auto warning = [&]() -> std::string {
    for (const tableq::finding& each : db().inspect()) {
      if (each.subject == "kept" && each.severity == tableq::finding::level::warning)
        return each.fix;
    }
    return "";
  };
  EXPECT_EQ(warning(), "");
  here().insert_many("kept", "payload, state, finished_at", here().bytes_literal("x") + ", 3, 1000",
                     10'000);
  EXPECT_NE(warning().find("--retain-done"), std::string::npos);
  db().alter("kept", {.retain_done = 1h});
  EXPECT_NE(warning().find("--older-than 3600000ms"), std::string::npos);
  for (int calls = 0; kept.stats().done > 0 && calls < 1000; ++calls) {
    static_cast<void>(open().claim("kept").take(1));
  }
  EXPECT_EQ(warning(), "");
}

}  // namespace
