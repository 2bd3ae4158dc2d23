// The settlement of rows of a table of the application.
#include <gtest/gtest.h>

#include "conformance/table_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class table_settle : public on_own_table {
 protected:
  static tableq::table_mapping with_history() {
    auto out = whole();
    out.last_error = "";
    out.errors = "Errors";
    return out;
  }
};
TABLEQ_ON_BACKENDS(table_settle, shared_backends);

TEST_P(table_settle, complete_marks_the_row_if_the_mapping_tells_done_rows) {
  auto mapping = whole();
  mapping.done = tableq::null_time("SentAt");
  request(1);
  EXPECT_TRUE(contains(emails(mapping).guarantee().words, "marks the row"));
  EXPECT_TRUE(contains(emails().guarantee().words, "deletes the row"));
  auto queue = emails(mapping);
  EXPECT_EQ(queue.complete(take_one(queue)), settle_result::applied);
  EXPECT_EQ(held(1, "SentAt"), std::to_string(clock.now().time_since_epoch().count()));
  EXPECT_EQ(held(1, "LeaseUntil"), std::nullopt);
  clock.advance(1h);
  EXPECT_FALSE(queue.take_one());
  EXPECT_EQ(queue.stats().done, 1U);
}

TEST_P(table_settle, batch_has_a_result_for_each_receipt) {
  requests(5);
  auto queue = emails();
  auto taken = queue.take(5);
  ASSERT_EQ(taken.size(), 5U);
  std::swap(taken[0], taken[4]);
  EXPECT_EQ(queue.complete(taken[1]), settle_result::applied);
  const auto results = queue.complete_batch(taken);
  EXPECT_EQ(results,
            (std::vector{settle_result::applied, settle_result::lease_lost, settle_result::applied,
                         settle_result::applied, settle_result::applied}));
  EXPECT_EQ(count(), "0");
  EXPECT_TRUE(queue.complete_batch(std::vector<tableq::receipt>()).empty());
}

TEST_P(table_settle, stale_receipt_does_not_complete) {
  request(1);
  auto queue = emails();
  const auto first = take_one(queue);
  clock.advance(30s);
  const auto again = take_one(queue);
  EXPECT_EQ(queue.complete(first), settle_result::lease_lost);
  EXPECT_EQ(queue.fail(first, "late"), settle_result::lease_lost);
  EXPECT_EQ(queue.release(first), settle_result::lease_lost);
  EXPECT_EQ(queue.extend(first, 1h), settle_result::lease_lost);
  EXPECT_EQ(queue.complete(again), settle_result::applied);
}

TEST_P(table_settle, failures_are_kept_the_newest_first) {
  requests(2);
  auto queue = emails(with_history());
  const auto taken = queue.take(2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(queue.fail_batch(std::vector<tableq::failure>{
                {.receipt = taken[1].receipt, .error = "other", .options = {.give_up = true}},
                {.receipt = taken[0].receipt, .error = "it's\nrefused"}}),
            (std::vector{settle_result::applied, settle_result::applied}));
  EXPECT_EQ(held(1, "Errors"), "it's\nrefused");
  static_cast<void>(take_one(queue));
  clock.advance(30s);
  EXPECT_EQ(queue.fail(take_one(queue), "last", {.give_up = true}), settle_result::applied);
  EXPECT_EQ(held(1, "Errors"), "last\nlease expired\nit's\nrefused");
  EXPECT_EQ(held(2, "Errors"), "other");
  EXPECT_EQ(held(1, "LastError"), std::nullopt);
}

TEST_P(table_settle, history_keeps_8000_characters) {
  request(1);
  auto mapping = with_history();
  mapping.max_attempts.reset();
  auto queue = emails(mapping);
  std::string all;
  for (int i = 0; i < 9; ++i) {
    std::string error = std::to_string(i);
    for (int n = 0; n < 990; ++n) error += "\xc3\xa9";  // two bytes for one character
    EXPECT_EQ(queue.fail(take_one(queue), error), settle_result::applied);
    all.insert(0, error + "\n");
  }
  // A line has 992 characters; the first eight have 8 digits and 8 ends of lines among them.
  const std::string kept = held(1, "Errors").value();
  EXPECT_EQ(kept.size(), 2 * 8000U - 8 - 9);
  EXPECT_TRUE(all.starts_with(kept));
}

TEST_P(table_settle, failure_that_is_longer_than_its_column_is_kept_as_far_as_it_fits) {
  here().sql(std::string("CREATE TABLE Narrow (Id INTEGER NOT NULL PRIMARY KEY, Busy INTEGER "
                         "DEFAULT 0 NOT NULL, ") +
             "Attempts INTEGER DEFAULT 0 NOT NULL, LastError " + here().short_text(5) +
             ", Errors " + here().short_text(7) + ")");
  here().sql("INSERT INTO Narrow (Id) VALUES (1)");
  auto queue = db().table("Narrow", {.key = {"Id"},
                                     .waiting = tableq::flag("Busy"),
                                     .attempts = "Attempts",
                                     .last_error = "LastError",
                                     .errors = "Errors",
                                     .max_attempts = 2});
  const std::string first = "\xc3\xa4\xc3\xb6\xc3\xbc";
  const std::string second = "\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x82\xac abc";
  EXPECT_EQ(queue.fail(take_one(queue), first), settle_result::applied);
  EXPECT_EQ(queue.fail(take_one(queue), second), settle_result::applied);
  const auto kept = here().sql("SELECT LastError, Errors FROM Narrow").at(0);
  // Some databases cut by the type, and only between characters. By units of UTF-16 the second
  // character counts twice.
  const auto is_one_of = [](const std::optional<std::string>& got,
                            const std::vector<std::string>& those) {
    return got && std::ranges::count(those, *got) == 1;
  };
  EXPECT_TRUE(is_one_of(kept.at(0), {second, second.substr(0, 12), second.substr(0, 11)}));
  EXPECT_TRUE(is_one_of(kept.at(1), {second + "\n" + first, second, second.substr(0, 13)}));
  EXPECT_EQ(queue.stats().dead, 1U);
}

TEST_P(table_settle, failed_row_waits_for_its_delay) {
  request(1);
  auto queue = emails();
  EXPECT_EQ(queue.fail(take_one(queue), "later", {.delay = 10s}), settle_result::applied);
  EXPECT_FALSE(queue.take_one());
  EXPECT_EQ(queue.stats().delayed, 1U);
  clock.advance(10s);
  EXPECT_EQ(take_one(queue).attempt, 2);
}

TEST_P(table_settle, extended_lease_ends_later) {
  request(1);
  auto queue = emails();
  const auto taken = take_one(queue);
  EXPECT_EQ(queue.extend_batch({taken, taken}, 1h),
            (std::vector{settle_result::applied, settle_result::applied}));
  clock.advance(59min);
  EXPECT_FALSE(queue.take_one());
  EXPECT_EQ(queue.complete(taken), settle_result::applied);
}

TEST_P(table_settle, rows_that_were_taken_long_ago_wait_again_on_request) {
  requests(3);
  auto mapping = least();
  mapping.taken_at = "TakenAt";
  auto queue = emails(mapping);
  EXPECT_EQ(queue.take(2).size(), 2U);
  clock.advance(1h);
  EXPECT_EQ(queue.take(1).size(), 1U);
  EXPECT_EQ(queue.requeue_older_than(30min), 2U);
  EXPECT_EQ(ids_of(queue.take(5)), (std::vector<std::int64_t>{1, 2}));
}

TEST_P(table_settle, worker_without_leases_ends_when_nothing_waits) {
  requests(5);
  auto mapping = least();
  mapping.completed = tableq::on_complete::leave;
  auto queue = db().table("EmailRequests", mapping);
  tableq::worker leaves(queue, [](const tableq::delivery&) {}, {.until_empty = true});
  leaves.join();
  EXPECT_EQ(leaves.counts().completed, 5U);
  EXPECT_EQ(count("IsProcessed = 1"), "5");
}

TEST_P(table_settle, names_the_column_that_the_mapping_lacks) {
  request(1);
  auto queue = emails(least());
  const auto taken = take_one(queue);
  const auto names = [&](auto&& call, const std::string& column) {
    const tableq::error refused = thrown_by(call);
    EXPECT_EQ(refused.code(), tableq::errc::unsupported) << refused.what();
    EXPECT_NE(std::string(refused.what()).find(column), std::string::npos) << refused.what();
  };
  names([&] { static_cast<void>(queue.extend(taken, 1s)); }, "lease_until");
  names([&] { static_cast<void>(queue.fail(taken, "no", {.delay = 1s})); }, "due_at");
  names([&] { queue.requeue_older_than(1s); }, "taken_at");
  names([&] { queue.pause(); }, "limits");
  EXPECT_EQ(queue.fail(taken, "no"), settle_result::applied);
  EXPECT_EQ(take_one(queue).receipt.id, taken.receipt.id);
}

TEST_P(table_settle, guarantee_follows_from_the_columns) {
  EXPECT_TRUE(emails().guarantee().at_least_once);
  EXPECT_TRUE(emails().guarantee().fenced);
  EXPECT_TRUE(emails().guarantee().ends);
  const auto weak = emails(least()).guarantee();
  EXPECT_FALSE(weak.at_least_once || weak.fenced || weak.ends);
  EXPECT_TRUE(weak.settles);
  EXPECT_NE(weak.words.find("At most once"), std::string::npos);
}

TEST_P(table_settle, key_may_have_several_columns_and_texts) {
  here().sql(
      "CREATE TABLE Parts (Area VARCHAR(40) NOT NULL, Number INTEGER NOT NULL, "
      "Busy INTEGER DEFAULT 0 NOT NULL, PRIMARY KEY (Area, Number))");
  for (const char* area : {"a'b", "; DROP TABLE Parts --"}) {
    for (int i = 1; i < 3; ++i) {
      auto parts =
          db().table("Parts", {.key = {"Area", "Number"}, .waiting = tableq::flag("Busy")});
      const auto added = parts.enqueue({{"Area", area}, {"Number", i}});
      EXPECT_EQ(added.get<std::string>("Area"), area);
    }
  }
  auto parts = db().table("Parts", {.key = {"Area", "Number"}, .waiting = tableq::flag("Busy")});
  auto taken = parts.take(10);
  ASSERT_EQ(taken.size(), 4U);
  EXPECT_EQ(parts.complete(taken[2]), settle_result::applied);
  EXPECT_EQ(parts.complete_batch(taken),
            (std::vector{settle_result::applied, settle_result::applied, settle_result::lease_lost,
                         settle_result::applied}));
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM Parts").at(0).at(0), "0");
}

TEST_P(table_settle, worker_handles_rows_and_marks_the_failed_ones) {
  requests(20);
  auto mapping = whole();
  mapping.completed = tableq::on_complete::mark;
  mapping.done = tableq::null_time("SentAt");
  mapping.max_attempts = 2;
  auto queue = db().table("EmailRequests", mapping);
  tableq::worker sends(queue,
                       [](const tableq::delivery& d) {
                         if (d.row.get<int>("Id") == 13)
                           throw std::runtime_error("no such address");
                       },
                       {.threads = 3, .until_empty = true});
  sends.join();
  EXPECT_EQ(count("SentAt IS NOT NULL"), "19");
  EXPECT_EQ(held(13, "LastError"), "no such address");
  EXPECT_EQ(queue.stats().dead, 1U);
}

TEST_P(table_settle, fence_that_is_null_settles_its_take) {
  here().sql(
      "CREATE TABLE loose (id INTEGER NOT NULL PRIMARY KEY, busy INTEGER DEFAULT 0 NOT NULL, "
      "until BIGINT, fence BIGINT, tries INTEGER)");
  here().sql("INSERT INTO loose (id) VALUES (1)");
  auto queue = db_with_clock().table("loose", {.key = {"id"},
                                               .waiting = tableq::flag("busy"),
                                               .lease_until = "until",
                                               .fence = "fence",
                                               .attempts = "tries"});
  const auto taken = take_one(queue);
  EXPECT_EQ(taken.attempt, 1);
  EXPECT_EQ(queue.complete(taken), settle_result::applied);
}

TEST_P(table_settle, failure_of_a_handler_rests_by_the_attempt_where_due_at_can_say_so) {
  request(1);
  auto mapping = whole();
  mapping.max_attempts = 9;
  auto queue = emails(mapping);
  const auto fails = [](const tableq::delivery&) { throw std::runtime_error("no"); };
  for (const std::chrono::milliseconds rest : {1000ms, 5000ms, 30'000ms, 300'000ms, 300'000ms}) {
    EXPECT_EQ(tableq::drain(queue, fails), 1U) << rest.count();
    clock.advance(rest * 4 / 5 - 1ms);
    EXPECT_EQ(tableq::drain(queue, fails), 0U) << rest.count();
    clock.advance(rest * 2 / 5 + 1ms);
  }
  // By hand: what the caller says, or at once.
  EXPECT_EQ(queue.fail(take_one(queue), "no"), settle_result::applied);
  EXPECT_EQ(take_one(queue).attempt, 7);
}

TEST_P(table_settle, worker_fails_a_row_at_once_where_the_mapping_keeps_no_delay) {
  requests(3);
  auto mapping = whole();
  mapping.due_at = {};
  auto queue = emails(mapping);
  EXPECT_CODE(unsupported,
              tableq::worker(queue, [](const tableq::delivery&) {}, {.retry_delay = 1s}));
  tableq::worker work(queue,
                      [](const tableq::delivery& taken) {
                        return taken.row.get<int>("Id") == 2
                                   ? tableq::handled::retry_after("later", 1h)
                                   : tableq::handled::completed();
                      },
                      {.until_empty = true});
  work.join();
  EXPECT_EQ(count(), "1");
  EXPECT_EQ(held(2, "RetryCount"), "3");
  EXPECT_EQ(held(2, "LastError"), "the mapping has no due_at, so there is no delay: later");
}

}  // namespace
