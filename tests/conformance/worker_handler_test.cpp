#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <new>
#include <stdexcept>
#include <string>

#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// The action of a handler on the message `bad`; it completes the others.
using misdeed = std::function<tableq::handled(const tableq::delivery&)>;

tableq::handler with(const misdeed& bad) {
  return [bad](const tableq::delivery& d, const std::stop_token&) {
    return d.payload == "bad" ? bad(d) : tableq::handled::completed();
  };
}

/// One message with a failing handler among others: for each failure a worker and a drain complete
/// all the others, and end as they should.
class handlers : public on_each_backend {
 protected:
  static constexpr int others = 6;

  tableq::claim_queue filled(const tableq::claim_options& options = {.max_attempts = 1}) {
    auto jobs = db().claim("jobs", at_once(options));
    for (int i = 0; i < others; ++i) jobs.enqueue(i == others / 2 ? "bad" : "good");
    jobs.enqueue("good");
    return jobs;
  }
  /// @return the bad message, as it is afterwards.
  tableq::stored_message run_worker(const misdeed& bad, tableq::worker_options options = {}) {
    auto jobs = filled();
    options.until_empty = true;
    tableq::worker pool(jobs, with(bad), std::move(options));
    EXPECT_TRUE(pool.wait_for(for_ever));
    EXPECT_NO_THROW(pool.join());
    EXPECT_EQ(pool.counts().completed, static_cast<std::size_t>(others));
    EXPECT_EQ(pool.counts().failed, 1U);
    return the_dead(jobs);
  }
  tableq::stored_message run_drain(const misdeed& bad) {
    auto jobs = filled();
    EXPECT_EQ(tableq::drain(jobs, with(bad)), static_cast<std::size_t>(others) + 1);
    return the_dead(jobs);
  }
  void expect_text(const misdeed& bad, std::string_view text) {
    for (const tableq::stored_message& each : {run_worker(bad), run_drain(bad)}) {
      ASSERT_EQ(each.errors.size(), 1U);
      EXPECT_TRUE(contains(each.errors[0].error, text)) << each.errors[0].error.substr(0, 200);
      EXPECT_LE(each.errors[0].error.size(), 2000U);
    }
  }

 private:
  tableq::stored_message the_dead(tableq::claim_queue& jobs) {
    const auto dead = jobs.list(tableq::message_state::dead);
    EXPECT_EQ(jobs.stats().ready + jobs.stats().leased + jobs.stats().delayed, 0U);
    EXPECT_EQ(dead.size(), 1U);
    db().drop("jobs");
    return dead.empty() ? tableq::stored_message{} : dead[0];
  }
};
TABLEQ_ON_BACKENDS(handlers, direct_backends);

TEST_P(handlers, that_name_a_deadline_that_has_passed_fail_their_message_without_a_delay) {
  const misdeed late = [](const tableq::delivery& d) {
    return d.attempt == 1 ? tableq::handled::retry_after("late", -1ms)
                          : tableq::handled::completed();
  };
  auto jobs = filled({.max_attempts = 2, .retry = tableq::retry_delays{.after = {1h}}});
  {
    tableq::worker pool(jobs, with(late), {.until_empty = true});
    ASSERT_TRUE(pool.wait_for(for_ever));
    EXPECT_NO_THROW(pool.join());
    EXPECT_EQ(pool.counts().completed, others + 1U);
  }
  jobs.enqueue("bad");
  EXPECT_EQ(tableq::drain(jobs, with(late)), 2U);
  EXPECT_EQ(jobs.stats().ready + jobs.stats().delayed + jobs.stats().dead, 0U);
  EXPECT_EQ(tableq::handled::retry_after("x", std::chrono::milliseconds::min()).delay(), 0ms);
}

TEST_P(handlers, that_ask_for_a_delay_out_of_range_fail_their_message_and_its_history_says_so) {
  for (const auto delay :
       {std::chrono::milliseconds::max(), std::chrono::milliseconds(24h * 3651)}) {
    const misdeed never = [delay](const tableq::delivery&) {
      return tableq::handled::retry_after("the handler's own words", delay);
    };
    expect_text(never, "the handler's own words");
    expect_text(never, "3,650 days");
  }
}

TEST_P(handlers, that_throw_anything_fail_their_message) {
  expect_text([](const tableq::delivery&) -> tableq::handled { throw 3; }, "no std::exception");
  expect_text([](const tableq::delivery&) -> tableq::handled { throw "words"; },
              "no std::exception");
  expect_text([](const tableq::delivery&) -> tableq::handled { throw std::bad_alloc(); },
              std::bad_alloc().what());
  expect_text(
      [](const tableq::delivery&) -> tableq::handled {
        throw tableq::error(tableq::errc::not_found, tableq::advice::never, "not the worker's own");
      },
      "not the worker's own");
  struct speechless : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return nullptr; }
  };
  expect_text([](const tableq::delivery&) -> tableq::handled { throw speechless(); }, "");
}

TEST_P(handlers, that_say_much_or_no_utf8_fail_their_message_with_what_can_be_kept) {
  constexpr std::size_t much = std::size_t{16} * 1024 * 1024;
  const std::string text = "begin " + std::string(much, '\xFF');
  expect_text([&](const tableq::delivery&) { return tableq::handled::failed(text); }, "begin ");
  expect_text([&](const tableq::delivery&) { return tableq::handled::give_up(text); }, "begin ");
  expect_text([&](const tableq::delivery&) -> tableq::handled { throw std::runtime_error(text); },
              "begin ");
  const std::string zeros("a\0b\0", 4);
  expect_text([&](const tableq::delivery&) { return tableq::handled::failed(zeros); }, "b");
}

TEST_P(handlers, are_left_alone_by_observers_that_throw) {
  std::promise<void> ended;
  const auto dead = run_worker([](const tableq::delivery&) { return tableq::handled::failed("x"); },
                               {.observe = [](const tableq::worker_event&) { throw 1; },
                                .ended =
                                    [&] {
                                      ended.set_value();
                                      throw std::runtime_error("x");
                                    }});
  EXPECT_EQ(dead.attempts, 1);
  ended.get_future().wait();
}

TEST_P(handlers, may_settle_their_message_in_a_transaction_of_their_own) {
  auto jobs = filled();
  auto done = db().heap("done");
  const misdeed itself = [&](const tableq::delivery& d) {
    db().transact([&](tableq::transaction& tx) {
      done.in(tx).enqueue(d.payload);
      EXPECT_EQ(jobs.in(tx).complete(d.receipt), tableq::settle_result::applied);
    });
    return tableq::handled::settled();
  };
  {
    tableq::worker pool(jobs, with(itself), {.until_empty = true});
    ASSERT_TRUE(pool.wait_for(for_ever));
    EXPECT_NO_THROW(pool.join());
    EXPECT_EQ(pool.counts().completed, static_cast<std::size_t>(others));
    EXPECT_EQ(pool.counts().settled_by_handler, 1U);
    EXPECT_EQ(pool.counts().lease_lost, 0U);
  }
  jobs.enqueue("bad");
  EXPECT_EQ(tableq::drain(jobs, with(itself)), 1U);
  EXPECT_EQ(done.stats().waiting, 2U);
  EXPECT_EQ(jobs.stats().ready + jobs.stats().leased + jobs.stats().dead, 0U);
}

TEST_P(handlers, are_not_ended_by_want_of_memory_elsewhere) {
  // Each take, settlement and extension reads the clock.
  auto failures = std::make_shared<std::atomic<int>>(0);
  tableq::open_options options;
  options.clock = tableq::testing::clock_of([failures] {
    if (failures->fetch_sub(1) > 0) throw std::bad_alloc();
    return tableq::timestamp(1'700'000'000'000ms);
  });
  auto own = tableq::database::open(here().url(), options);
  auto jobs = own.claim("jobs");
  std::atomic<int> troubles = 0;
  tableq::worker pool(jobs,
                      [&](const tableq::delivery& d) {
                        *failures = 2;
                        if (d.payload == "fails") throw std::runtime_error("x");
                      },
                      {.observe = [&](const tableq::worker_event& event) {
                        troubles += event.what == tableq::worker_event::kind::trouble ? 1 : 0;
                      }});
  std::vector<tableq::new_claim_message> batch{{.payload = "fails", .options = {.max_attempts = 1}},
                                               {.payload = "works"}};
  *failures = 0;
  jobs.enqueue_batch(batch);
  EXPECT_FALSE(pool.wait_for(0ms));
  while (pool.counts().completed + pool.counts().failed < 2 && !pool.wait_for(10ms)) {
  }
  EXPECT_FALSE(pool.wait_for(0ms));
  *failures = 0;
  pool.stop();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(jobs.stats().dead, 1U);
  EXPECT_GT(troubles, 0);
}

class shared_handlers : public handlers {};
TABLEQ_ON_BACKENDS(shared_handlers, shared_backends);

TEST_P(shared_handlers, whose_completion_the_database_refuses_fail_their_message_and_no_other) {
  auto jobs = filled();
  const std::string bad = "OLD.payload = " + here().bytes_literal("bad");
  if (!here().add_trigger({.table = "jobs", .event = "DELETE", .condition = bad})) {
    GTEST_SKIP() << "no trigger of this database keeps a row";
  }
  const auto nothing = [](const tableq::delivery&) {};
  {
    tableq::worker pool(jobs, nothing, {.until_empty = true});
    ASSERT_TRUE(pool.wait_for(for_ever));
    EXPECT_NO_THROW(pool.join());
    EXPECT_EQ(pool.counts().completed, static_cast<std::size_t>(others));
    EXPECT_EQ(pool.counts().failed, 1U);
  }
  jobs.enqueue("bad");
  EXPECT_EQ(tableq::drain(jobs, [](auto&, auto&) { return tableq::handled::completed(); }), 1U);
  const auto dead = jobs.list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 2U);
  for (const auto& each : dead) {
    ASSERT_EQ(each.errors.size(), 1U);
    EXPECT_TRUE(contains(each.errors[0].error, "claim.complete")) << each.errors[0].error;
  }
}

TEST_P(shared_handlers, whose_message_cannot_be_settled_leave_it_to_its_lease_and_go_on) {
  auto jobs = filled({.max_attempts = 1});
  const std::string bad = "OLD.state = 1 AND OLD.payload = " + here().bytes_literal("bad");
  if (!here().add_trigger({.table = "jobs", .event = "DELETE", .condition = bad}) ||
      !here().add_trigger({.table = "jobs", .event = "UPDATE", .condition = bad})) {
    GTEST_SKIP() << "no trigger of this database keeps a row";
  }
  std::promise<std::string> why;
  tableq::worker pool(jobs, [](const tableq::delivery&) {},
                      {.observe = [&](const tableq::worker_event& event) {
                        if (event.what == tableq::worker_event::kind::unknown) {
                          why.set_value(std::string(event.why));
                        }
                      }});
  EXPECT_TRUE(contains(why.get_future().get(), "claim.fail"));
  jobs.enqueue("good");
  while (pool.counts().completed < others + 1U && !pool.wait_for(10ms)) {
  }
  pool.stop();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(pool.counts().completed, others + 1U);
  EXPECT_EQ(pool.counts().unknown, 1U);
  EXPECT_EQ(jobs.stats().leased, 1U);
}

TEST_P(shared_handlers, that_keep_a_transaction_open_hold_up_no_other_lease) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto jobs = db().claim("jobs");
  jobs.enqueue("transaction");
  jobs.enqueue("long");
  std::promise<void> locked;
  std::promise<void> running;
  std::promise<void> go_on;
  auto wait = go_on.get_future().share();
  std::atomic<bool> stopped = false;
  tableq::worker pool(jobs,
                      [&](const tableq::delivery& d, const std::stop_token& stop) {
                        if (d.payload == "long") {
                          running.set_value();
                          wait.wait();
                          stopped = stopped || stop.stop_requested();
                          return;
                        }
                        tableq::transaction tx = db().begin();
                        EXPECT_EQ(jobs.in(tx).complete(d.receipt), tableq::settle_result::applied);
                        locked.set_value();
                        wait.wait();
                        stopped = stopped || stop.stop_requested();
                        tx.commit();
                      },
                      {.threads = 2, .lease = 1s, .until_empty = true});
  locked.get_future().wait();
  running.get_future().wait();
  auto other = open();
  EXPECT_TRUE(other.claim("jobs").take(1, {.wait = 3s}).empty());
  go_on.set_value();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_FALSE(stopped);
  EXPECT_EQ(jobs.stats().ready + jobs.stats().leased, 0U);
}

}  // namespace
