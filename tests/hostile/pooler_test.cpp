#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <thread>

#include <soci/soci.h>

#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>

#include "hostile/workload.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"
#include "support/postgresql_client.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// A pooler in transaction mode: every transaction may run in another session of the server.
class pooler : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const char* const given = std::getenv("TABLEQ_TEST_POOLER");
    if (given == nullptr) GTEST_SKIP() << "TABLEQ_TEST_POOLER is not set; see with_pgbouncer.sh";
    url_ = given;
    schema_ = here().other_schema().value();
  }
  tableq::database through(const std::string& mode, tableq::open_options options = {}) {
    options.schema_name = schema_;
    return tableq::database::open(url_ + mode, options);
  }
  /// The same database through sessions of the server that no other test shares.
  tableq::database through_untold(tableq::open_options options) {
    options.schema_name = schema_;
    return tableq::database::open(url_of("untold"), options);
  }
  /// The same database through one session of the server for all clients.
  tableq::database through_single() {
    return tableq::database::open(url_of("single") + "&pooling=transaction",
                                  {.schema_name = schema_});
  }
  /// The pooler's address of one of its databases.
  [[nodiscard]] std::string url_of(const std::string& database) const {
    const std::size_t begin = url_.find("///") + 3;
    std::string url = url_;
    return url.replace(begin, url_.find('?') - begin, database);
  }
  [[nodiscard]] std::string plain_sql(const std::string& text) const {
    return postgresql_client(url_).run(text).at(0).at(0).value();
  }
  /// @return how many messages it has completed.
  int produce_and_consume(int rounds) {
    auto db = through("&pooling=transaction", {.max_sessions = 2});
    auto jobs = db.claim("jobs");
    int done = 0;
    for (int n = 0; n < rounds; ++n) {
      db.transact([&](tableq::transaction& tx) {
        jobs.in(tx).enqueue("a");
        jobs.in(tx).enqueue("b");
      });
      for (const auto& one : jobs.take(2)) {
        if (jobs.complete(one.receipt) == tableq::settle_result::applied) ++done;
      }
    }
    return done;
  }
  [[nodiscard]] const std::string& schema() const { return schema_; }

 private:
  std::string url_;
  std::string schema_;
};
INSTANTIATE_TEST_SUITE_P(, pooler, testing::Values(&postgresql_backend()), backend_name);

const std::string with_pooling = "&pooling=transaction";

TEST_P(pooler, in_transaction_mode_serves_every_operation) {
  auto db = through(with_pooling);
  work_with(db);
  auto strict = db.fifo("strict", {.ordering = tableq::ordering::strict});
  strict.enqueue("a");
  EXPECT_EQ(strict.dequeue()->payload, "a");
  auto groups = db.claim("groups", {.key_window = 1ms, .groups = tableq::group_options{}});
  groups.enqueue("g", {.key = "k", .group = "g"});
  EXPECT_EQ(groups.complete(groups.take(1).at(0).receipt), tableq::settle_result::applied);
  EXPECT_TRUE(db.drop("groups"));
}

TEST_P(pooler, in_transaction_mode_serves_more_clients_than_it_has_sessions) {
  auto watched = open({.schema_name = schema()});
  auto all = watched.claim("jobs");
  constexpr int clients = 12;
  constexpr int each = 25;
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < clients; ++i) {
      threads.emplace_back([&] { EXPECT_NO_THROW(done += produce_and_consume(each)); });
    }
  }
  for (const auto& one : all.take(1000)) {
    if (all.complete(one.receipt) == tableq::settle_result::applied) ++done;
  }
  EXPECT_EQ(done, clients * each * 2);
  EXPECT_EQ(all.stats().ready + all.stats().leased, 0U);
}

// Processes that each hold a session and wait for a second one would wait for each other.
TEST_P(pooler, in_transaction_mode_with_one_session_of_the_server_serves_many_transactions) {
  auto direct = open({.schema_name = schema()});
  auto mail = direct.fifo("mail");
  auto jobs = direct.claim("jobs");
  constexpr int clients = 4;
  constexpr int each = 80;
  for (int i = 0; i < clients * each; ++i) {
    mail.enqueue("m");
    jobs.enqueue("j");
  }
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < clients; ++i) {
      threads.emplace_back([&] {
        auto db = through_single();
        auto reads = db.fifo("mail");
        auto takes = db.claim("jobs");
        for (int n = 0; n < each; ++n) {
          auto tx = db.begin();
          EXPECT_TRUE(reads.in(tx).dequeue());
          const auto taken = takes.in(tx).take(1);
          ASSERT_EQ(taken.size(), 1U);
          EXPECT_EQ(takes.in(tx).complete(taken.front().receipt), tableq::settle_result::applied);
          reads.in(tx).enqueue("again");
          tx.commit();
        }
      });
    }
  }
  EXPECT_EQ(mail.stats().waiting, std::size_t{clients} * each);
  EXPECT_EQ(jobs.stats().ready, 0U);
}

TEST_P(pooler, in_transaction_mode_is_left_as_it_was) {
  {
    auto db = through(with_pooling);
    work_with(db);
    auto waits = db.fifo("fifo");
    EXPECT_FALSE(waits.dequeue({.wait = 100ms}));
  }
  // No prepared statement, changed setting, listener or lock: other clients share these sessions.
  auto db = through(with_pooling);
  auto found = db.claim("claim");
  soci::session callers;
  tableq::open_session(db, callers);
  const tableq::enlistment kept = tableq::enlist(db, callers, {.keep_statements = true});
  {
    soci::transaction mine(callers);
    found.in(kept).enqueue("x");
    mine.commit();
  }
  EXPECT_EQ(here()
                .sql("SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
                     " WHERE l.locktype = 'advisory' AND a.application_name = 'tableq'"
                     // Not those of other tests on the server.
                     " AND CAST(l.objid AS bigint) & 2147483647 IN"
                     " (SELECT identity & 2147483647 FROM \"" +
                     schema() + "\".tableq_queues)")
                .at(0)
                .at(0),
            "0");
  const std::vector<std::pair<const char*, const char*>> settings = {
      {"enable_seqscan", "on"}, {"plan_cache_mode", "auto"}, {"jit", "on"}};
  for (int i = 0; i < 6; ++i) {
    for (const auto& [name, value] : settings) {
      EXPECT_EQ(plain_sql(std::string("SHOW ") + name), value) << name;
    }
    EXPECT_EQ(plain_sql("SELECT count(*) FROM pg_prepared_statements"), "0");
    EXPECT_EQ(plain_sql("SELECT count(*) FROM pg_listening_channels()"), "0");
  }
}

TEST_P(pooler, in_transaction_mode_lets_waiting_reads_look_by_themselves) {
  auto db = through(with_pooling, {.poll_interval = 60s});
  auto other = through(with_pooling);
  auto reads = db.fifo("mail");
  auto sends = other.fifo("mail");
  std::latch started(1);
  const std::jthread later([&] {
    started.wait();
    sends.enqueue("found");
  });
  started.count_down();
  EXPECT_EQ(reads.dequeue({.wait = 30s})->payload, "found") << "sooner than look_every says";
}

TEST_P(pooler, in_transaction_mode_tells_those_who_listen_at_the_server_itself) {
  auto direct = open({.schema_name = schema(), .poll_interval = 1h});
  auto reads = direct.fifo("mail");
  auto db = through(with_pooling);
  auto sends = db.fifo("mail");
  std::string got;
  {
    const std::jthread reader([&] { got = reads.dequeue({.wait = 60s}).value().payload; });
    while (here().sql(here().listening_sql().value()).empty()) std::this_thread::yield();
    sends.enqueue("heard");
  }
  EXPECT_EQ(got, "heard");
}

/// A schema whose name the pooler's set-up has.
class routed_schema {
 public:
  explicit routed_schema(place& at) : at_(at) {
    at_.sql("DROP SCHEMA IF EXISTS tableq_routed CASCADE");
    at_.sql("CREATE SCHEMA tableq_routed");
  }
  routed_schema(const routed_schema&) = delete;
  routed_schema& operator=(const routed_schema&) = delete;
  ~routed_schema() { at_.sql("DROP SCHEMA tableq_routed CASCADE"); }

 private:
  place& at_;
};

/// Works by the search path alone, also with a wait, and finds all of it in that schema.
void expect_routed(tableq::database& db, tableq::database& other, place& at) {
  work_with(db);
  auto reads = db.fifo("routed");
  {
    const std::jthread sender([&] { other.fifo("routed").enqueue("found"); });
    EXPECT_EQ(reads.dequeue({.wait = 60s})->payload, "found");
  }
  EXPECT_EQ(at.sql("SELECT count(*) FROM pg_tables WHERE tablename = 'routed'"
                   " AND schemaname = 'tableq_routed'"),
            (rows{{"1"}}));
}

// Poolers that shard choose the server by it, so each login must carry it.
TEST_P(pooler, in_transaction_mode_gets_the_search_path_of_the_address_with_each_login) {
  const routed_schema made(here());
  const std::string url = here().url_with("options", "-csearch_path=tableq_routed") + with_pooling;
  auto db = tableq::database::open(url);
  auto other = tableq::database::open(url);
  expect_routed(db, other, here());
}

TEST_P(pooler, in_transaction_mode_that_sets_a_search_path_itself_serves_every_operation) {
  const routed_schema made(here());
  const std::string url = url_of("routed") + with_pooling;
  auto db = tableq::database::open(url);
  auto other = tableq::database::open(url + "&options=-c%20search_path%3Dtableq_routed");
  expect_routed(db, other, here());
}

TEST_P(pooler, in_transaction_mode_that_drops_the_search_path_is_told_by_a_clear_error) {
  try {
    static_cast<void>(through(with_pooling + "&options=-c%20search_path%3Dtableq_routed"));
    ADD_FAILURE() << "tables would be in another schema";
  } catch (const tableq::error& failed) {
    EXPECT_EQ(failed.code(), tableq::errc::unsupported);
    EXPECT_TRUE(contains(failed.what(), "search_path")) << failed.what();
    EXPECT_TRUE(contains(failed.what(), "--schema")) << failed.what();
  }
}

TEST_P(pooler, that_is_not_told_of_is_refused_before_a_setting_reaches_it) {
  for (const char* database : {"single", "untold"}) {
    const std::string url = url_of(database);
    postgresql_client other(url);
    try {
      static_cast<void>(tableq::database::open(url, {.schema_name = schema()}));
      ADD_FAILURE() << "other clients have tableq's settings";
    } catch (const tableq::error& failed) {
      EXPECT_EQ(failed.code(), tableq::errc::unsupported) << failed.what();
      EXPECT_TRUE(contains(failed.what(), "pooling=transaction")) << failed.what();
    }
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(other.run("SHOW enable_seqscan").at(0).at(0), "on");
    }
  }
}

TEST_P(pooler, in_statement_mode_is_refused_at_open_with_the_key_and_without_it) {
  for (const std::string& key : {std::string(), with_pooling}) {
    const tableq::error failed = thrown_by([&] {
      static_cast<void>(
          tableq::database::open(url_of("statement") + key, {.schema_name = schema()}));
    });
    EXPECT_EQ(failed.code(), tableq::errc::unsupported) << failed.what();
    EXPECT_TRUE(contains(failed.what(), "a pooler in statement mode")) << failed.what();
  }
}

TEST_P(pooler, in_session_mode_needs_no_key) {
  auto db = tableq::database::open(url_of("kept"), {.schema_name = schema()});
  work_with(db);
}

TEST_P(pooler, whose_mode_could_not_be_found_out_is_a_warning_until_the_address_tells_it) {
  for (const char* told : {"", "&pooling=session"}) {
    auto db = tableq::database::open(url_of("scarce") + told,
                                     {.schema_name = schema(), .max_sessions = 1});
    std::string fixes;
    for (const tableq::finding& each : db.inspect()) {
      if (contains(each.what, "pooler")) fixes += each.fix;
    }
    EXPECT_EQ(contains(fixes, "pooling=transaction"), std::string(told).empty()) << fixes;
  }
}

TEST_P(pooler, that_is_not_told_of_is_told_apart_by_a_clear_error) {
  // Never another client's statement: either the right result, or an error with the remedy.
  auto made = open({.schema_name = schema()});
  auto mail = made.fifo("mail");
  std::vector<std::string> complaints;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&] {
        try {
          auto db = through_untold({.max_sessions = 2, .retry_for = 5s});
          auto theirs = db.fifo("mail");
          for (int n = 0; n < 50; ++n) {
            theirs.enqueue("m");
            static_cast<void>(theirs.stats());
          }
        } catch (const tableq::error& failed) {
          const std::scoped_lock hold(mutex);
          EXPECT_EQ(failed.code(), tableq::errc::unsupported) << failed.what();
          complaints.emplace_back(failed.what());
        }
      });
    }
  }
  ASSERT_FALSE(complaints.empty()) << "the pooler always gave the same session";
  for (const std::string& each : complaints) {
    EXPECT_TRUE(contains(each, "pooling=transaction")) << each;
  }
  for (const auto& each : mail.dequeue_batch(1000)) EXPECT_EQ(each.payload, "m");
}

}  // namespace
