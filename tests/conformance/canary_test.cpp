#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

const std::string canary = "canary";

/// All output of the library: its exceptions and the events of its observers.
class listener : public tableq::observer {
 public:
  void before(const tableq::observed_operation& of) override { add(about(of)); }
  void after(const tableq::observed_operation& of, const tableq::operation_result& r) override {
    add(about(of) + (r.error != nullptr ? std::string(" ") + r.error->what() : ""));
    if (r.error != nullptr) add(r.error->operation() + " " + r.error->sqlstate());
  }
  void retrying(const tableq::observed_operation& of, const tableq::operation_retry& r) override {
    add(about(of) + std::string(tableq::to_string(r.failed)));
  }
  void leases_lost(const tableq::observed_operation& of, std::size_t /*count*/) override {
    add(about(of));
  }
  void handled(const tableq::handled_message& of) override {
    add(std::string(of.backend) + std::string(of.queue));
  }
  void add(std::string said) {
    const std::scoped_lock hold(mutex_);
    said_.push_back(std::move(said));
  }
  [[nodiscard]] std::vector<std::string> said() {
    const std::scoped_lock hold(mutex_);
    return said_;
  }

 private:
  static std::string about(const tableq::observed_operation& of) {
    return std::string(of.name) + " " + std::string(of.backend) + " " + std::string(of.queue) + " ";
  }
  std::mutex mutex_;
  std::vector<std::string> said_;
};

/// Calls every operation with canaries in every place, with the table in any state.
class every_operation {
 public:
  explicit every_operation(std::shared_ptr<listener> heard) : heard_(std::move(heard)) {}
  [[nodiscard]] std::size_t failed() const { return failed_; }

  void of_claim(tableq::database& db, tableq::claim_queue jobs) {
    const tableq::receipt receipt = last_receipt(jobs);
    for (const auto what : {tableq::on_duplicate::keep_first, tableq::on_duplicate::reject,
                            tableq::on_duplicate::replace, tableq::on_duplicate::postpone}) {
      tableq::claim_enqueue_options options = given();
      options.on_duplicate = what;
      call([&] { jobs.enqueue("canary-payload", options); });
      const std::vector<tableq::new_claim_message> two(2, {"canary-payload", options});
      call([&] { jobs.enqueue_batch(two); });
    }
    call([&] { jobs.enqueue_async("canary-payload", given()).get(); });
    call([&] { db.transact([&](auto& tx) { jobs.in(tx).enqueue("canary-payload", given()); }); });
    call([&] { static_cast<void>(jobs.take(2, {.claimed_at = tableq::timestamp(5ms)})); });
    call([&] { db.transact([&](auto& tx) { static_cast<void>(jobs.in(tx).take(1)); }); });
    call([&] { static_cast<void>(jobs.fail(receipt, "canary-error")); });
    call([&] {
      const std::vector<tableq::failure> two(2, {.receipt = receipt, .error = "canary-error"});
      static_cast<void>(jobs.fail_batch(two));
    });
    call([&] { static_cast<void>(jobs.extend(receipt, 1s)); });
    call([&] { static_cast<void>(jobs.release(receipt)); });
    call([&] { static_cast<void>(jobs.complete(receipt)); });
    call([&] { static_cast<void>(jobs.peek(5)); });
    for (const auto state : {tableq::message_state::ready, tableq::message_state::leased,
                             tableq::message_state::dead, tableq::message_state::held}) {
      call([&] { static_cast<void>(jobs.list(state)); });
    }
    call([&] { static_cast<void>(jobs.get(receipt.id)); });
    call([&] { static_cast<void>(jobs.find("canary-key")); });
    call([&] { jobs.set_priority(receipt.id, 7); });
    call([&] { jobs.redrive({receipt.id}); });
    call([&] { jobs.redrive_all(); });
    call([&] { jobs.purge(tableq::message_state::dead); });
    call([&] { static_cast<void>(jobs.stats()); });
    call([&] {
      tableq::drain(jobs, [](const tableq::delivery&, const std::stop_token&) -> tableq::handled {
        throw std::runtime_error("canary-error");
      });
    });
    call([&] { jobs.cancel(receipt.id); });
  }

  void of_kind(tableq::database& db, tableq::kind kind, std::string_view name) {
    call([&] {
      any_queue queue(db, kind, name);
      call([&] { queue.put("canary-payload"); });
      call([&] { queue.put_all({"canary-payload", "canary-payload"}); });
      call([&] { db.transact([&](auto& tx) { queue.in(tx).put("canary-payload"); }); });
      call([&] { static_cast<void>(queue.peek(2)); });
      call([&] { static_cast<void>(queue.take()); });
      call([&] { db.transact([&](auto& tx) { static_cast<void>(queue.in(tx).take()); }); });
    });
  }

  /// @param fits a row that the table takes.
  void of_table(tableq::table_queue& things, const tableq::row& fits) {
    call([&] { things.enqueue(fits); });
    call([&] { things.enqueue(fits); });  // not unique
    call([&] { things.enqueue_batch(std::vector{fits, fits}); });
    for (const char* column : {"Code", "Size", "Weight", "At", "Busy"}) {
      tableq::row other = fits;
      other.set("Name", "canary-other");
      other.set(column, "canary-value");
      call([&] { things.enqueue(other); });
    }
    const auto taken = things.take(3);
    for (const auto& each : taken) {
      call([&] { static_cast<void>(each.row.get<int>("Name")); });
      call([&] { static_cast<void>(each.row.get<std::string>("Size")); });
      call([&] { static_cast<void>(each.row.get<tableq::timestamp>("Name")); });
      call([&] { static_cast<void>(each.row.get<bool>("Canary")); });
      call([&] { static_cast<void>(things.fail(each, "canary-error", {.delay = 1s})); });
      call([&] { static_cast<void>(things.fail(each, "canary-error")); });
      call([&] { static_cast<void>(things.complete(each)); });
    }
    call([&] { static_cast<void>(things.complete(tableq::receipt{.key = "t6:canary"})); });
    call([&] { static_cast<void>(things.peek(5)); });
  }

  template <class Call>
  void call(Call&& operation) {
    try {
      operation();
    } catch (const std::exception& thrown) {
      ++failed_;
      heard_->add(thrown.what());
    }
  }

  static tableq::claim_enqueue_options given() {
    return {
        .headers = {{"canary-name", "canary-value"}}, .key = "canary-key", .group = "canary-group"};
  }

 private:
  static tableq::receipt last_receipt(tableq::claim_queue& jobs) {
    try {
      auto taken = jobs.take(1, {.lease = 1ms});
      if (!taken.empty()) return taken.front().receipt;
    } catch (const tableq::error&) {  // The table is broken on purpose; any receipt is sufficient.
    }
    return {};
  }

  std::shared_ptr<listener> heard_;
  std::size_t failed_ = 0;
};

class canaries : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    watched_.emplace(open({.retry_for = 0ms, .observer = heard_}));
    counted_.emplace(open({.retry_for = 0ms, .observer = figures_}));
  }
  void TearDown() override {
    for (const std::string& text : {figures_->prometheus(), figures_->json()}) heard_->add(text);
    const std::vector<std::string> said = heard_->said();
    for (const std::string& each : said) {
      EXPECT_FALSE(contains(each, canary)) << each;
      EXPECT_FALSE(contains(each, hex(canary))) << each;
    }
    watched_.reset();
    counted_.reset();
    on_each_backend::TearDown();
  }
  [[nodiscard]] static tableq::claim_options settings() {
    return {.keep_completed = true, .key_window = 1min, .groups = tableq::group_options{}};
  }
  /// @return how many of the calls failed.
  std::size_t run_all() {
    every_operation calls(heard_);
    for (tableq::database* db : {&*watched_, &*counted_}) {
      calls.call([&] { calls.of_claim(*db, db->claim("jobs", settings())); });
      calls.of_kind(*db, tableq::kind::fifo, "mail");
      calls.of_kind(*db, tableq::kind::pending, "later");
    }
    return calls.failed();
  }

  std::shared_ptr<listener> heard_ = std::make_shared<listener>();
  std::shared_ptr<tableq::metrics> figures_ = std::make_shared<tableq::metrics>();
  std::optional<tableq::database> watched_;
  std::optional<tableq::database> counted_;
};
TABLEQ_ON_BACKENDS(canaries, shared_backends);

TEST_P(canaries, are_in_nothing_that_is_said_when_constraints_refuse_the_rows) {
  run_all();
  for (const char* table : {"jobs", "mail", "later"}) {
    here().sql(std::string("DELETE FROM ") + table);
    here().forbid_equal_payloads(table);
  }
  EXPECT_GT(run_all(), 5U);
}

TEST_P(canaries, are_in_nothing_that_is_said_when_triggers_quote_the_rows) {
  run_all();
  bool quotes = true;
  for (const char* table : {"jobs", "mail", "later"}) {
    quotes = quotes && here().quote_payloads_in_errors(table);
  }
  if (!quotes) GTEST_SKIP() << "triggers of this database cannot quote, or break OUTPUT";
  EXPECT_GT(run_all(), 5U);
}

TEST_P(canaries, are_in_nothing_that_is_said_when_triggers_use_payloads_as_names) {
  run_all();
  bool uses = true;
  for (const char* table : {"jobs", "mail", "later"}) {
    uses = uses && here().use_payloads_as_names(table);
  }
  if (!uses) GTEST_SKIP() << "triggers of this database are refused, or break OUTPUT";
  EXPECT_GT(run_all(), 5U);
}

TEST_P(canaries, are_in_nothing_that_is_said_when_tables_are_gone_or_others) {
  run_all();
  for (const char* table : {"jobs", "mail", "later"})
    here().sql(std::string("DROP TABLE ") + table);
  EXPECT_GT(run_all(), 5U);
  for (const char* table : {"jobs", "mail", "later"}) {
    here().sql(std::string("CREATE TABLE ") + table + " (id integer, payload integer)");
  }
  EXPECT_GT(run_all(), 5U);
}

TEST_P(canaries, are_in_nothing_that_is_said_of_columns_that_plain_sql_has_spoilt) {
  auto jobs = watched_->claim("jobs");
  for (const char* change :
       {"headers = '{\"canary-name\": {\"canary\": [1, \"canary\"]}}'", "errors = '[\"canary\"]'",
        "errors = '[{\"at\": \"canary\", \"error\": 5}]'",
        "retry = '{\"after\": \"canary\", \"jitter\": \"canary\"}'",
        "retry = '{\"after\": [\"canary\"]}'"}) {
    SCOPED_TRACE(change);
    jobs.enqueue("canary-payload");
    here().sql(std::string("UPDATE jobs SET ") + change);
    run_all();
    here().sql("DELETE FROM jobs");
  }
}

TEST_P(canaries, are_in_nothing_that_is_said_of_bad_arguments) {
  auto jobs = watched_->claim("jobs", settings());
  every_operation calls(heard_);
  const std::string bad = "canary\xFF";
  const std::string long_one(201, 'c');
  for (const std::string& text : {bad, canary + std::string(1, '\0'), canary + long_one}) {
    tableq::claim_enqueue_options options;
    options.key = text;
    calls.call([&] { jobs.enqueue("canary", options); });
    options.key = {};
    options.group = text;
    calls.call([&] { jobs.enqueue("canary", options); });
    calls.call([&] { static_cast<void>(jobs.find(text)); });
    calls.call([&] { static_cast<void>(open({.table_prefix = text})); });
    calls.call([&] { static_cast<void>(open({.schema_name = text})); });
    calls.call([&] { static_cast<void>(tableq::parse_kind(text)); });
    calls.call([&] { static_cast<void>(tableq::parse_role(text)); });
    calls.call([&] { static_cast<void>(tableq::ddl(text, "mail", {})); });
    calls.call([&] { static_cast<void>(tableq::database::open(text + "://" + text)); });
  }
  for (const char* name : {"canary\xFF", ""}) {
    tableq::claim_enqueue_options options;
    options.headers[name] = bad;
    calls.call([&] { jobs.enqueue("canary", options); });
  }
  EXPECT_GT(calls.failed(), 20U);
}

TEST_P(canaries, are_in_nothing_that_is_said_of_typed_values) {
  const std::string create = "CREATE TABLE Things (Name VARCHAR(40) NOT NULL PRIMARY KEY, Code " +
                             here().types().guid + ", Size INTEGER, Weight DECIMAL(6, 2), At " +
                             here().types().time +
                             ", Busy INTEGER DEFAULT 0 NOT NULL, Note VARCHAR(5))";
  here().sql(create);
  const tableq::row fits{{"Name", "canary-name"},
                         {"Size", 7},
                         {"Weight", tableq::row_value::decimal("1.5")},
                         {"At", tableq::timestamp(5ms)}};
  for (tableq::database* db : {&*watched_, &*counted_}) {
    every_operation calls(heard_);
    auto things = db->table("Things", {.key = {"Name"}, .waiting = tableq::flag("Busy")});
    calls.of_table(things, fits);
    tableq::row noted = fits;
    noted.set("Note", "canary-that-is-too-long");
    calls.call([&] { things.enqueue(noted); });
    here().sql("DROP TABLE Things");
    calls.call([&] { things.enqueue(fits); });
    calls.call([&] { static_cast<void>(things.take(1)); });
    here().sql(create);
    EXPECT_GT(calls.failed(), 10U);
  }
}

TEST_P(canaries, are_in_nothing_that_is_said_of_a_session_lost_in_a_statement_of_a_handlers_own) {
  if (!here().session_id_sql()) GTEST_SKIP() << "sessions of this database cannot be ended";
  std::vector<std::string> all;
  for (const char* state : {"57P01", "08006"}) {
    all.push_back(std::string("DO $$ BEGIN RAISE EXCEPTION 'canary' USING ERRCODE = '") + state +
                  "'; END $$");
  }
  auto jobs = watched_->claim("jobs");
  jobs.enqueue("job");
  std::atomic<std::size_t> runs = 0;
  std::atomic<std::size_t> troubles = 0;
  tableq::worker pool(jobs,
                      [&](tableq::transaction& tx, const tableq::delivery&) {
                        const std::size_t run = runs++;
                        if (run < all.size()) tableq::session_of(tx) << all[run];
                      },
                      {.threads = 1, .until_empty = true, .observe = [&](const auto& event) {
                         if (event.what != tableq::worker_event::kind::trouble) return;
                         ++troubles;
                         heard_->add(std::string(event.why));
                       }});
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 1U);
  EXPECT_EQ(troubles, all.size());
}

TEST_P(canaries, are_in_nothing_that_is_said_when_nothing_may_be_written) {
  run_all();
  heard_->add("read-only");
  watched_.reset();
  counted_.reset();
  const int status = here().run_read_only([&](const std::string& url) {
    auto reading = tableq::database::open(url, {.retry_for = 0ms, .observer = heard_});
    every_operation calls(heard_);
    calls.call([&] { calls.of_claim(reading, reading.claim("jobs")); });
    calls.of_kind(reading, tableq::kind::fifo, "mail");
    for (const std::string& each : heard_->said()) {
      if (contains(each, canary) || contains(each, hex(canary))) return 1;
    }
    return calls.failed() > 5 ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
