#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using std::chrono::hours;
using std::chrono::milliseconds;
using tableq::message_state;
using tableq::settle_result;

constexpr milliseconds longest_rest = hours{24} * 3650;
constexpr milliseconds lease = 30s;

// NOLINTNEXTLINE(cert-err58-cpp): strings of a test
const std::vector<std::string> odd_numbers = {"0",
                                              "-1",
                                              "-2147483648",
                                              "2147483647",
                                              "-9223372036854775807 - 1",
                                              "9223372036854775807",
                                              "1.5",
                                              "-9e999",
                                              "9e999",
                                              "'text'",
                                              "x'00ff'",
                                              "NULL"};

/// Rules and numbers of plain SQL that tableq never writes.
class foreign_numbers : public claim_test {
 protected:
  [[nodiscard]] bool inserts(const std::string& payload, const std::string& columns,
                             const std::string& values) {
    return here().takes("INSERT INTO jobs (payload, " + columns + ") VALUES (" +
                        here().bytes_literal(payload) + ", " + values + ")");
  }
  /// Each number in its column, and a good message before and after; some the table refuses.
  std::size_t insert_each(const std::string& column, const std::string& more = "",
                          const std::string& values = "") {
    std::size_t sent = 0;
    jobs().enqueue("good");
    for (const std::string& number : odd_numbers) {
      if (inserts("odd", column + more, number + values)) ++sent;
    }
    jobs().enqueue("good");
    EXPECT_GT(sent, 2U) << column;
    return sent;
  }
  static std::size_t good_ones(const std::vector<tableq::delivery>& of) {
    return static_cast<std::size_t>(std::count_if(
        of.begin(), of.end(), [](const auto& each) { return each.payload == "good"; }));
  }
  /// Everything is taken, and settled in each way.
  void expect_to_be_worked_on(std::size_t count) {
    EXPECT_EQ(jobs().peek(100).size(), count);
    auto got = jobs().take(100);
    EXPECT_EQ(got.size(), count);
    EXPECT_EQ(jobs().release_batch(got), std::vector(got.size(), settle_result::applied));
    got = jobs().take(100);
    EXPECT_EQ(got.size(), count);
    EXPECT_EQ(jobs().extend_batch(got, lease), std::vector(got.size(), settle_result::applied));
    clock.advance(lease);
    got = jobs().take(100);
    EXPECT_EQ(good_ones(got), 2U);
    std::vector<tableq::failure> failures;
    for (const auto& each : got) failures.push_back({.receipt = each.receipt, .error = "no"});
    EXPECT_EQ(jobs().fail_batch(failures), std::vector(got.size(), settle_result::applied));
    got = jobs().take(100);
    EXPECT_EQ(good_ones(got), 2U);
    EXPECT_EQ(jobs().complete_batch(got), std::vector(got.size(), settle_result::applied));
  }
};
TABLEQ_ON_BACKENDS(foreign_numbers, shared_backends);

TEST_P(foreign_numbers, of_any_column_stop_neither_takes_nor_settlements) {
  for (const char* column : {"attempts", "fence", "priority", "created_at", "claimed_at"}) {
    SCOPED_TRACE(column);
    expect_to_be_worked_on(2 + insert_each(column));
    here().sql("DELETE FROM jobs");
  }
}

TEST_P(foreign_numbers, of_attempts_count_on_within_bounds) {
  jobs();
  ASSERT_TRUE(inserts("many", "priority, attempts", "2, 2147483647"));
  ASSERT_TRUE(inserts("few", "priority, attempts", "1, -5"));
  const auto got = jobs().take(2);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].attempt, 2'147'483'647);
  EXPECT_EQ(got[1].attempt, 1);
  EXPECT_EQ(jobs().fail(got[0].receipt, "no"), settle_result::applied);
  EXPECT_EQ(jobs().get(got[0].receipt.id)->state, message_state::dead);
  EXPECT_EQ(jobs().release(got[1].receipt), settle_result::applied);
  EXPECT_EQ(take_one().attempt, 1);
}

TEST_P(foreign_numbers, of_attempts_that_change_under_a_lease_do_not_stop_its_settlement) {
  for (int i = 0; i < 3; ++i) jobs().enqueue("odd");
  const auto got = jobs().take(3);
  here().sql("UPDATE jobs SET attempts = -2147483648");
  EXPECT_EQ(jobs().release(got.at(0).receipt), settle_result::applied);
  EXPECT_EQ(jobs().fail(got.at(1).receipt, "no"), settle_result::applied);
  here().sql("UPDATE jobs SET attempts = -2147483648, expires_at = 0");
  EXPECT_TRUE(jobs().take(3).empty());
  EXPECT_EQ(jobs().list(message_state::dead).size(), 2U);
}

TEST_P(foreign_numbers, of_times_to_live_end_those_that_are_over) {
  const std::size_t sent = insert_each("expires_at");
  const auto got = jobs().take(100);
  EXPECT_EQ(good_ones(got), 2U);
  EXPECT_EQ(got.size() + jobs().stats().dead, 2 + sent);
}

TEST_P(foreign_numbers, of_due_times_do_not_stop_who_waits) {
  insert_each("due_at", ", state", ", 2");
  insert_each("due_at", ", state, attempts", ", 1, 2147483647");
  const auto got = jobs().take(100, {.wait = 50ms});
  EXPECT_EQ(good_ones(got), 4U);
  while (!jobs().take(100, {.wait = 20ms}).empty()) {
  }
  static_cast<void>(jobs().stats({.exact = true}));
}

TEST_P(foreign_numbers, of_due_times_do_not_stop_who_waits_for_the_earliest) {
  auto later = db_with_clock().pending("later");
  for (const std::string& number : odd_numbers) {
    here().takes("INSERT INTO later (payload, due_at, created_at) VALUES (" +
                 here().bytes_literal("odd") + ", " + number + ", " + number + ")");
  }
  later.enqueue("good");
  bool found = false;
  for (auto got = later.dequeue_batch(3); !got.empty();
       got = later.dequeue_batch(3, {.wait = 20ms})) {
    for (const auto& each : got) found = found || each.payload == "good";
  }
  EXPECT_TRUE(found);
  static_cast<void>(later.stats({.exact = true}));
}

TEST_P(foreign_numbers, of_due_times_do_not_stop_who_waits_while_another_holds_them) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto later = db_with_clock().pending("later").outside();
  jobs();
  ASSERT_TRUE(inserts("odd", "state, due_at", "2, -9223372036854775807"));
  here().sql("INSERT INTO later (payload, due_at) VALUES (" + here().bytes_literal("odd") +
             ", -9223372036854775807)");
  tableq::transaction tx = db_with_clock().begin();
  EXPECT_EQ(jobs().in(tx).take(1).size(), 1U);
  EXPECT_TRUE(later.in(tx).dequeue());
  EXPECT_TRUE(jobs().outside().take(1, {.wait = 50ms}).empty());
  EXPECT_FALSE(later.dequeue({.wait = 50ms}));
}

TEST_P(foreign_numbers, of_a_limit_of_attempts_hold_only_where_they_are_numbers) {
  jobs();
  std::size_t sent = 0;
  for (const char* number : {"'text'", "9e999", "1.5", "x'00ff'"}) {
    if (inserts("odd", "max_attempts", number)) ++sent;
  }
  for (int attempt = 1; attempt <= 5; ++attempt) {
    const auto got = jobs().take(10);
    for (const auto& each : got) {
      EXPECT_EQ(jobs().fail(each.receipt, "no", {.delay = 0ms}), settle_result::applied);
    }
  }
  EXPECT_EQ(jobs().stats().dead, sent) << "the queue's rule holds: five attempts";
}

TEST_P(foreign_numbers, of_any_column_are_listed_page_by_page_to_an_end) {
  jobs();
  insert_each("priority");
  insert_each("due_at", ", state", ", 2");
  insert_each("due_at", ", state", ", 1");
  insert_each("finished_at", ", state", ", 3");
  insert_each("finished_at", ", state", ", 4");
  for (const auto state : {message_state::ready, message_state::leased, message_state::delayed,
                           message_state::done, message_state::dead}) {
    SCOPED_TRACE(static_cast<int>(state));
    const auto all = jobs().list(state, {.max = 1000});
    std::size_t met = 0;
    tableq::page next{.max = 1};
    for (auto page = jobs().list(state, next); !page.empty() && met <= all.size();
         page = jobs().list(state, next)) {
      ++met;
      next.after = page.back();
    }
    EXPECT_EQ(met, all.size());
    EXPECT_GT(met, 2U);
  }
  EXPECT_GT(jobs().redrive_all({.filter = [](const auto&) { return true; }}).count, 2U);
}

TEST_P(foreign_numbers, of_ids_at_both_ends_leave_a_capacity_to_be_counted) {
  jobs().set_limits({.capacity = 10});
  here().sql(here().insert_with_id("jobs", "payload",
                                   "-9223372036854775807, " + here().bytes_literal("low")));
  auto mail = db_with_clock().heap("mail");
  mail.set_limits({.capacity = 3});
  // Not the very last id: some databases have none for the next message then.
  for (const std::string id : {"-9223372036854775807", "9223372036854775800"}) {
    here().sql(here().insert_with_id("mail", "payload", id + ", " + here().bytes_literal("far")));
  }
  mail.enqueue("third");
  EXPECT_CODE(queue_full, mail.enqueue("fourth"));
  EXPECT_EQ(mail.dequeue_batch(10).size(), 3U);
  mail.enqueue("next");
  EXPECT_EQ(mail.dequeue()->payload, "next");
}

TEST_P(foreign_numbers, of_limits_hold_as_the_nearest_that_may_be_set) {
  auto mail = db_with_clock().fifo("mail");
  mail.set_limits({.capacity = 10, .rate = 1, .burst = 1});
  for (const char* column : {"capacity", "rate", "burst", "tokens", "refilled_at"}) {
    for (const std::string& number : odd_numbers) {
      SCOPED_TRACE(std::string(column) + " = " + number);
      if (!here().takes(std::string("UPDATE tableq_limits SET ") + column + " = " + number)) {
        continue;
      }
      const auto limits = db_with_clock().fifo("mail").limits();
      EXPECT_GE(limits.rate.value_or(1), 1e-6);
      EXPECT_LE(limits.rate.value_or(1), 1e6);
      EXPECT_GE(limits.burst.value_or(1), 1);
      EXPECT_GE(limits.capacity.value_or(1), 1U);
      clear_database();  // A process remembers limits for half a second.
      auto again = db_with_clock().fifo("mail");
      try {
        again.enqueue("work");
      } catch (const tableq::error& full) {
        EXPECT_EQ(full.code(), tableq::errc::queue_full) << full.what();
      }
      static_cast<void>(again.dequeue());
      clock.advance(1h);
    }
    here().sql(
        "UPDATE tableq_limits SET capacity = 1000000, rate = 1000000, burst = 1, tokens = 0, "
        "refilled_at = 0");
  }
  clear_database();
  clock.advance(1h);
  EXPECT_TRUE(db_with_clock().fifo("mail").dequeue());
}

TEST_P(foreign_numbers, of_a_rule_for_retries_rest_within_bounds) {
  struct rule {
    const char* retry;
    milliseconds least;
    milliseconds most;
  };
  const std::vector<rule> rules = {
      {R"({"after": ["x"]})", 0ms, 0ms},
      {R"({"after": "x"})", 0ms, 0ms},
      {R"({"after": 5000})", 0ms, 0ms},
      {R"({"after": {"a": 5000}})", 0ms, 0ms},
      {R"({"after": []})", 0ms, 0ms},
      {R"({})", 0ms, 0ms},
      {R"({"after": [null]})", 0ms, 0ms},
      {R"({"after": [[1000]]})", 0ms, 0ms},
      {R"({"after": [{"a": 1000}]})", 0ms, 0ms},
      {R"({"after": [true]})", 0ms, 0ms},
      {R"({"after": [-1000]})", 0ms, 0ms},
      {R"({"after": [-1e300]})", 0ms, 0ms},
      {R"({"after": [0.5]})", 0ms, 0ms},
      {R"({"after": [1500.75]})", 1500ms, 1500ms},
      {R"({"after": [1e3]})", 1s, 1s},
      {R"({"after": [9223372036854775807]})", longest_rest, longest_rest},
      {R"({"after": [1e300]})", longest_rest, longest_rest},
      {R"({"after": [1000], "jitter": "x"})", 1s, 1s},
      {R"({"after": [1000], "jitter": [5]})", 1s, 1s},
      {R"({"after": [1000], "jitter": null})", 1s, 1s},
      {R"({"after": [1000], "jitter": -50})", 1s, 1s},
      {R"({"after": [1000], "jitter": 1e300})", 0s, 2s},
      {R"({"after": [1e300], "jitter": 9223372036854775807})", 0s, 2 * longest_rest},
      {R"({"jitter": 5})", 0ms, 0ms},
      {R"({"after": [1000], "after ": ["x"], "more": {}})", 1s, 1s}};
  for (const rule& each : rules) {
    SCOPED_TRACE(each.retry);
    jobs().enqueue("good", {.retry = tableq::retry_delays{.after = {7s}}});
    ASSERT_TRUE(inserts("odd", "retry", std::string("'") + each.retry + "'"));
    auto got = jobs().take(10);
    ASSERT_EQ(got.size(), 2U);
    // Another server may have drawn the id of the inserted one.
    if (got[0].payload == "odd") std::swap(got[0], got[1]);
    std::vector<tableq::failure> failures;
    for (const auto& one : got) failures.push_back({.receipt = one.receipt, .error = "no"});
    EXPECT_EQ(jobs().fail_batch(failures), std::vector(2, settle_result::applied));
    EXPECT_EQ(jobs().get(got[0].receipt.id)->due_at, clock.now() + 7s);
    const auto odd = jobs().get(got[1].receipt.id);
    const milliseconds rest = odd->due_at.value_or(clock.now()) - clock.now();
    EXPECT_LE(each.least, rest);
    EXPECT_GE(each.most, rest);
    here().sql("DELETE FROM jobs");
  }
}

TEST_P(foreign_numbers, of_attempts_find_a_delay_in_any_rule) {
  jobs();
  for (const char* attempts : {"-2147483648", "-1", "0", "1", "2", "2147483647"}) {
    SCOPED_TRACE(attempts);
    ASSERT_TRUE(inserts("odd", "max_attempts, retry", R"(2147483647, '{"after": [1000, 5000]}')"));
    const auto got = take_one();
    here().sql(std::string("UPDATE jobs SET attempts = ") + attempts);
    EXPECT_EQ(jobs().fail(got.receipt, "no"), settle_result::applied);
    const auto after = jobs().get(got.receipt.id);
    const milliseconds expected = std::stoll(attempts) > 1 ? 5s : 1s;
    const bool last = after->state == message_state::dead;
    EXPECT_EQ(after->due_at, last ? std::nullopt : std::optional(clock.now() + expected));
    here().sql("DELETE FROM jobs");
  }
}

}  // namespace
