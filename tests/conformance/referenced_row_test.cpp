// Messages and rows of own tables that rows of other tables reference. A row added by an open
// transaction hides nothing.
#include <gtest/gtest.h>
#include <soci/soci.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tableq/soci.hpp>

#include "conformance/table_fixture.hpp"
#include "support/at_once.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::change_result;
using tableq::settle_result;

/// A database whose calls fail if they have to wait for a lock.
tableq::database open_impatient(place& here, const manual_clock& clock) {
  return tableq::database::open(here.impatient_url(), {.retry_for = 0ms, .clock = clock.source()});
}

/// Messages of a claim queue with results that an open transaction of another session adds.
class referenced_message : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  }
  void TearDown() override {
    client_.reset();
    database_.reset();
    on_each_backend::TearDown();
  }
  tableq::database& impatient() {
    if (!database_) database_ = open_impatient(here(), clock);
    return *database_;
  }
  tableq::claim_queue jobs(const tableq::claim_options& options = {}) {
    return impatient().claim("jobs", at_once(options));
  }
  void make_results() {
    here().sql("CREATE TABLE results (job BIGINT NOT NULL REFERENCES jobs (id))");
  }
  /// Another session adds a result of each message, and keeps its transaction open.
  void add_results(const std::vector<tableq::message_id>& of) {
    client_ = here().session();
    client_->begin();
    for (const auto& each : of) {
      *client_ << "INSERT INTO results (job) VALUES (" + std::to_string(each.value) + ")";
    }
  }
  void drop_results() { client_->rollback(); }

 private:
  std::optional<tableq::database> database_;
  std::unique_ptr<soci::session> client_;
};
TABLEQ_ON_BACKENDS(referenced_message, shared_backends);

TEST_P(referenced_message, is_taken_and_settled_while_a_reference_is_uncommitted) {
  auto queue = jobs({.max_attempts = 2});
  make_results();
  add_results({queue.enqueue("job").id});
  auto taken = queue.take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(queue.extend(taken[0], 1min), settle_result::applied);
  EXPECT_EQ(queue.release(taken[0]), settle_result::applied);
  taken = queue.take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(queue.fail(taken[0], "no"), settle_result::applied);
  taken = queue.take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(queue.fail(taken[0], "no"), settle_result::applied);
  EXPECT_EQ(queue.stats().dead, 1U);
  EXPECT_EQ(queue.redrive({taken[0].receipt.id}), 1U);
  EXPECT_EQ(queue.set_priority(taken[0].receipt.id, 7), change_result::applied);
  taken = queue.take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].priority, 7);
  drop_results();
  EXPECT_EQ(queue.complete(taken[0]), settle_result::applied);
}

TEST_P(referenced_message, returns_after_its_lease_while_a_reference_is_uncommitted) {
  auto queue = jobs({.lease = 1min});
  make_results();
  add_results({queue.enqueue("job").id});
  EXPECT_EQ(queue.take(1).size(), 1U);
  clock.advance(2min);
  const auto again = queue.take(1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attempt, 2);
}

TEST_P(referenced_message, is_redriven_with_all_others) {
  auto queue = jobs({.max_attempts = 1});
  make_results();
  const auto id = queue.enqueue("job").id;
  EXPECT_EQ(queue.fail(queue.take(1).at(0), "no"), settle_result::applied);
  add_results({id});
  EXPECT_EQ(queue.redrive_all().count, 1U);
}

TEST_P(referenced_message, is_kept_and_frees_its_key) {
  auto queue = jobs({.key_window = 1min});
  make_results();
  const auto id = queue.enqueue("job", {.key = "k"}).id;
  const auto taken = queue.take(1);
  ASSERT_EQ(taken.size(), 1U);
  add_results({id});
  EXPECT_EQ(queue.complete(taken[0]), settle_result::applied);
  EXPECT_FALSE(queue.enqueue("too early", {.key = "k"}).created());
}

/// A take in a transaction and a reference from the same program, in another session.
TEST_P(referenced_message, may_be_referenced_while_a_transaction_has_taken_it) {
  if (!can().shows_held_messages) GTEST_SKIP() << "who reads a changed row waits for it";
  auto queue = jobs();
  make_results();
  const auto id = queue.enqueue("job").id;
  auto tx = impatient().begin();
  const auto taken = queue.in(tx).take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(queue.in(tx).extend(taken[0], 1min), settle_result::applied);
  auto adding = std::async(std::launch::async, [&] { add_results({id}); });
  EXPECT_EQ(adding.wait_for(for_ever), std::future_status::ready);
  tx.commit();
  adding.get();
  drop_results();
}

class referenced_row : public on_own_table {
 protected:
  void SetUp() override {
    on_own_table::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
    here().sql(
        "CREATE TABLE Letters (Request INTEGER NOT NULL REFERENCES EmailRequests (Id), Number "
        "INTEGER)");
  }
  void TearDown() override {
    database_.reset();
    on_own_table::TearDown();
  }
  tableq::table_queue rows_of(const tableq::table_mapping& mapping) {
    if (!database_) database_ = open_impatient(here(), clock);
    return database_->table("EmailRequests", mapping);
  }
  /// A session that has added a row which references this one, in an open transaction.
  std::unique_ptr<soci::session> with_letter(int request) {
    auto out = here().session();
    out->begin();
    *out << "INSERT INTO Letters (Request) VALUES (" + std::to_string(request) + ")";
    return out;
  }

 private:
  std::optional<tableq::database> database_;
};
TABLEQ_ON_BACKENDS(referenced_row, shared_backends);

TEST_P(referenced_row, is_taken_and_settled_while_a_reference_is_uncommitted) {
  requests(1);
  auto queue = rows_of(whole());
  const auto client = with_letter(1);
  auto taken = take_one(queue);
  EXPECT_EQ(queue.extend(taken, 1min), settle_result::applied);
  EXPECT_EQ(queue.release(taken), settle_result::applied);
  taken = take_one(queue);
  EXPECT_EQ(queue.fail(taken, "no"), settle_result::applied);
  taken = take_one(queue);
  clock.advance(10min);
  taken = take_one(queue);
  EXPECT_EQ(queue.requeue_older_than(0ms), 1U);
  EXPECT_EQ(queue.take(2).size(), 1U);
  client->rollback();
}

TEST_P(referenced_row, is_taken_in_strict_order_while_a_reference_is_uncommitted) {
  requests(2);
  auto mapping = whole();
  mapping.ordering = tableq::ordering::strict;
  auto queue = rows_of(mapping);
  const auto client = with_letter(1);
  EXPECT_EQ(ids_of(queue.take(1)), (std::vector<std::int64_t>{1}));
  client->rollback();
}

TEST_P(referenced_row, that_a_take_deletes_is_passed_over_while_a_reference_is_uncommitted) {
  if (!can().shows_held_messages) GTEST_SKIP() << "the reference keeps no lock on the row";
  requests(2);
  auto queue = rows_of({.key = {"Id"}});
  auto client = with_letter(1);
  EXPECT_EQ(ids_of(queue.take(2)), (std::vector<std::int64_t>{2}));
  client->rollback();
  EXPECT_EQ(ids_of(queue.take(2)), (std::vector<std::int64_t>{1}));
}

TEST_P(referenced_row, is_passed_over_where_a_take_changes_what_others_may_reference) {
  if (!can().shows_held_messages) GTEST_SKIP() << "the reference keeps no lock on the row";
  here().sql(
      "CREATE TABLE jobs (id INTEGER NOT NULL PRIMARY KEY, busy INTEGER DEFAULT 0 NOT NULL, "
      "UNIQUE (id, busy))");
  here().sql("CREATE TABLE parts (job INTEGER NOT NULL REFERENCES jobs (id))");
  here().sql("INSERT INTO jobs (id) VALUES (1)");
  here().sql("INSERT INTO jobs (id) VALUES (2)");
  auto queue = db().table("jobs", {.key = {"id"}, .waiting = tableq::flag("busy")});
  const auto client = here().session();
  client->begin();
  *client << "INSERT INTO parts (job) VALUES (1)";
  const auto taken = queue.take(2);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].row.get<int>("id"), 2);
  client->rollback();
}

TEST_P(referenced_row, keeps_its_lease_in_a_handler_that_references_it) {
  requests(4);
  auto mapping = whole();
  mapping.done = tableq::null_time("SentAt");
  mapping.completed = tableq::on_complete::mark;
  auto queue = db().table("EmailRequests", mapping);
  std::atomic<int> calls = 0;
  tableq::worker pool(
      queue,
      [&](tableq::transaction& tx, const tableq::delivery& each) {
        ++calls;
        const std::string id = std::to_string(each.row.get<int>("Id"));
        soci::session& own = tableq::session_of(tx);
        own << "INSERT INTO Letters (Request, Number) VALUES (" + id + ", 1)";
        // Longer than the lease of the take.
        const std::int64_t end = each.lease_until.time_since_epoch().count() + 1500;
        const auto give_up = std::chrono::steady_clock::now() + for_ever;
        for (long long until = 0; until < end && std::chrono::steady_clock::now() < give_up;) {
          own << "SELECT LeaseUntil FROM EmailRequests WHERE Id = " + id, soci::into(until);
        }
        return tableq::handled::completed();
      },
      {.threads = 2, .lease = 1s, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(calls, 4);  // none twice
  EXPECT_EQ(pool.counts().completed, 4U);
  EXPECT_EQ(pool.counts().lease_lost, 0U);
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM Letters").at(0).at(0), "4");
}

}  // namespace
