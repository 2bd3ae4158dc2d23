#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <set>
#include <sstream>

#include "upgrade/old_tables.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using strings = std::vector<std::string>;

class old_tables : public old_tables_test {
 protected:
  void SetUp() override {
    old_tables_test::SetUp();
    if (!IsSkipped()) make_old_tables();
  }
};
TABLEQ_ON_BACKENDS(old_tables, shared_backends);

/// Each queue takes all of them before the next queue does.
strings steps(const strings& changes) {
  strings out;
  for (const std::string& each : old_queues())
    for (const std::string& change : changes) out.push_back(each + change);
  return out;
}

const strings up{" 1 2", " 2 3"};
const strings down{" 3 2", " 2 1"};

/// The statements of a script: a `;` at the end of a line ends one, unless a marked text is open.
strings cut(const std::string& script) {
  strings out;
  std::string open;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    open += line + "\n";
    const bool marked = std::count(open.begin(), open.end(), '$') % 4 != 0;
    if (!marked && line.ends_with(";")) {
      out.push_back(open);
      open.clear();
    }
  }
  return out;
}

TEST_P(old_tables, keep_every_message_through_their_steps) {
  const auto before = messages();
  EXPECT_EQ(texts_of(db().migrate()), steps(up));
  expect_newest(before);
  EXPECT_TRUE(db().migrate().empty());
  EXPECT_EQ(db().heap("pile").dequeue_batch(5).size(), 3U);
  EXPECT_EQ(db().fifo("line").dequeue()->payload, "l1");
  EXPECT_EQ(db().lifo("stack").dequeue()->payload, "s3");
  auto later = db().pending("later");
  later.enqueue("new");
  EXPECT_EQ(payloads_of(later.dequeue_batch(5)), (strings{"due first", "due", "new"}));
  auto jobs = db().claim("jobs");
  std::set<std::string> got;
  for (const auto& each : jobs.take(10)) {
    got.insert(each.payload);
    EXPECT_EQ(jobs.complete(each.receipt), tableq::settle_result::applied);
  }
  EXPECT_EQ(got, (std::set<std::string>{"again", "ready", "lease over", "delay over"}));
  EXPECT_EQ(jobs.stats().held, 1U);
  EXPECT_EQ(jobs.stats().dead, 1U);
  EXPECT_EQ(jobs.redrive_all().count, 1U);
}

TEST_P(old_tables, work_as_they_are) {
  EXPECT_EQ(db().find("later")->layout, 1);
  auto later = db().pending("later");
  later.enqueue("new");
  EXPECT_EQ(later.dequeue_batch(9).size(), 3U);
  auto jobs = db().claim("jobs");
  jobs.enqueue("new", {.key = "new"});
  EXPECT_EQ(jobs.take(9).size(), 5U);
  EXPECT_EQ(layouts().at("later"), "1");
  EXPECT_EQ(complaints(db()).size(), old_queues().size());
  for (const std::string& each : complaints(db()))
    EXPECT_TRUE(contains(each, "tableq migrate ")) << each;
}

TEST_P(old_tables, have_progress_and_results_after_their_steps) {
  const tableq::look_options all{.progress = true, .result = true};
  auto old = db().claim("jobs", {.keep_completed = true});
  const auto dead = old.list(tableq::message_state::dead, {.with = all}).at(0);
  EXPECT_EQ(old.wait_for(dead.id).how, tableq::awaited::ending::dead);
  EXPECT_EQ(old.wait_for(dead.id).error.has_value(), !dead.errors.empty());
  const auto taken = old.take_one({.lease = 1h});
  ASSERT_TRUE(taken);
  EXPECT_FALSE(old.get(taken->receipt.id, all)->progress);
  EXPECT_EQ(old.wait_for(taken->receipt.id, {.wait = 0ms}).state, tableq::message_state::leased);
  EXPECT_CODE(unsupported, old.progress(*taken, 0.5));
  EXPECT_CODE(unsupported, static_cast<void>(old.complete(*taken, "42")));
  static_cast<void>(db().migrate());
  EXPECT_CODE(unsupported, old.progress(*taken, 0.5));
  auto jobs = db().claim("jobs", {.keep_completed = true});
  jobs.progress(*taken, 0.5, "half");
  EXPECT_EQ(old.extend(*taken, 1h), tableq::settle_result::applied);
  EXPECT_EQ(jobs.get(taken->receipt.id, all)->progress->note, "half");
  EXPECT_EQ(jobs.complete(*taken, "42"), tableq::settle_result::applied);
  EXPECT_EQ(jobs.wait_for(taken->receipt.id).result, "42");
}

TEST_P(old_tables, stand_beside_new_ones_with_the_newest_layout) {
  db().pending("fresh").enqueue("new");
  EXPECT_EQ(db().find("fresh")->layout, 3);
  EXPECT_EQ(db().pending("fresh").dequeue()->payload, "new");
  EXPECT_EQ(layouts().at("tableq"), "1");
  EXPECT_TRUE(db().drop("fresh"));
  EXPECT_TRUE(db().drop("later"));
  static_cast<void>(db().migrate({.queues = {"tableq"}}));
  EXPECT_TRUE(db().drop("stack"));
}

TEST_P(old_tables, take_the_steps_that_are_asked_for) {
  EXPECT_EQ(texts_of(db().migrate({.queues = {"later", "line"}})),
            (strings{"later 1 2", "later 2 3", "line 1 2", "line 2 3"}));
  EXPECT_EQ(layouts().at("tableq"), "1");
  EXPECT_EQ(layouts().at("jobs"), "1");
  EXPECT_EQ(db().migrate({.to = 1, .dry_run = true}).size(), 4U);
  EXPECT_CODE(invalid_argument, static_cast<void>(db().migrate({.to = 0})));
  EXPECT_CODE(invalid_argument, static_cast<void>(db().migrate({.to = 4})));
  EXPECT_CODE(invalid_argument, static_cast<void>(db().migrate({.wait = -1ms})));
  EXPECT_CODE(not_found, static_cast<void>(db().migrate({.queues = {"nothing"}})));
  EXPECT_CODE(invalid_argument,
              db().transact([&](tableq::transaction& /*tx*/) { db().migrate(); }));
}

TEST_P(old_tables, go_down_and_up_again) {
  const auto before = messages();
  const auto columns = [&] { return here().sql("SELECT * FROM later WHERE id < 0"); };
  db().migrate();
  strings back = steps(down);
  std::rotate(back.begin(), back.begin() + 2, back.end());
  EXPECT_EQ(texts_of(db().migrate({.to = 1})), back);
  EXPECT_EQ(messages(), before);
  EXPECT_EQ(columns(), rows());
  EXPECT_EQ(complaints(db()).size(), old_queues().size());
  EXPECT_FALSE(here().takes("INSERT INTO jobs (payload, state) VALUES (" +
                            here().bytes_literal("bad") + ", 9)"));
  db().migrate();
  expect_newest(before);
}

TEST_P(old_tables, are_only_looked_at_by_a_dry_run) {
  const auto before = messages();
  auto careful = open({.schema = tableq::schema_policy::verify_only});
  const auto planned = careful.migrate({.dry_run = true});
  EXPECT_EQ(texts_of(planned), steps(up));
  EXPECT_EQ(layouts().at("later"), "1");
  EXPECT_CODE(unsupported, careful.migrate());
  EXPECT_EQ(layouts().at("later"), "1");
  for (const tableq::migration_step& each : planned) {
    for (const std::string& statement : cut(each.sql)) here().sql(statement);
  }
  expect_newest(before);
}

TEST_P(old_tables, are_left_by_a_migration_that_gets_no_lock) {
  const auto before = messages();
  here().sql(here().begin_with_lock("jobs"));
  auto impatient = tableq::database::open(here().impatient_url());
  EXPECT_CODE(busy, impatient.migrate({.queues = {"jobs"}, .wait = 0ms}));
  here().sql("ROLLBACK");
  db().migrate();
  expect_newest(before);
}

TEST_P(old_tables, that_took_their_step_are_told_also_if_a_later_step_fails) {
  here().sql(here().begin_with_lock("jobs"));
  auto impatient = tableq::database::open(here().impatient_url());
  strings told;
  EXPECT_CODE(busy, impatient.migrate({.wait = 0ms, .done = [&](const auto& step) {
                                         told.push_back(step.queue);
                                       }}));
  here().sql("ROLLBACK");
  strings left;
  for (const auto& step : db().migrate()) left.push_back(step.queue);
  told.insert(told.end(), left.begin(), left.end());
  EXPECT_EQ(told, steps({"", ""}));
}

TEST_P(old_tables, have_one_migrator) {
  const auto before = messages();
  here().sql(here().begin_with_lock("jobs"));
  auto first = tableq::database::open(here().impatient_url());
  auto migrating = std::async(std::launch::async, [&] { first.migrate({.wait = for_ever}); });
  auto second = tableq::database::open(here().impatient_url());
  for (bool told = false; !told;) {
    const tableq::error refused =
        thrown_by([&] { second.migrate({.queues = {"jobs"}, .wait = 0ms}); });
    EXPECT_EQ(refused.code(), tableq::errc::busy);
    told = !can().concurrent_writers || contains(refused.what(), "another session migrates");
  }
  here().sql("ROLLBACK");
  migrating.get();
  expect_newest(before);
}

TEST_P(old_tables, that_are_open_go_on_through_their_steps) {
  auto later = db().pending("later");
  auto jobs = db().claim("jobs");
  auto other = open();
  auto migrating = std::async(std::launch::async, [&] { other.migrate({.wait = for_ever}); });
  std::set<std::string> sent;
  std::set<std::string> got;
  const auto turn = [&](int n) {
    const std::string payload = "n" + std::to_string(n);
    later.enqueue(payload);
    jobs.enqueue(payload);
    sent.insert(payload);
    for (const auto& each : later.dequeue_batch(5)) got.insert(each.payload);
    for (const auto& each : jobs.take(5))
      EXPECT_EQ(jobs.complete(each.receipt), tableq::settle_result::applied);
  };
  int n = 0;
  while (migrating.wait_for(0s) != std::future_status::ready) turn(n++);
  migrating.get();
  for (const int last = n + 20; n < last;) turn(n++);
  sent.insert({"due", "due first"});
  EXPECT_EQ(got, sent);
  EXPECT_EQ(later.stats().waiting, 0U);
  EXPECT_EQ(jobs.stats().ready, 0U);
  EXPECT_EQ(complaints(db()), strings());
}

TEST_P(old_tables, get_an_index_anew_that_an_earlier_run_left_behind) {
  const auto before = messages();
  here().sql("CREATE INDEX later_late ON later (id)");
  db().migrate();
  expect_newest(before);
}

TEST_P(old_tables, without_their_table_stop_the_steps_before_the_first) {
  here().sql("DROP TABLE stack");
  EXPECT_CODE(schema_mismatch, db().migrate());
  EXPECT_EQ(layouts().at("tableq"), "1");
  EXPECT_TRUE(db().drop("stack"));
  EXPECT_EQ(db().migrate().size(), 2 * (old_queues().size() - 1));
}

class no_tables : public old_tables_test {};
TABLEQ_ON_BACKENDS(no_tables, all_backends);

TEST_P(no_tables, need_no_steps) {
  EXPECT_TRUE(db().migrate().empty());
  static_cast<void>(db().fifo("mail"));
  EXPECT_EQ(db().find("mail")->layout, 3);
  EXPECT_TRUE(db().migrate().empty());
  EXPECT_EQ(texts_of(db().migrate({.to = 1})),
            (strings{"mail 3 2", "mail 2 1", "tableq 3 2", "tableq 2 1"}));
  EXPECT_EQ(db().migrate({.dry_run = true}).size(), 4U);
  EXPECT_EQ(db().migrate().size(), 4U);
}

class new_tables : public old_tables_test {};
TABLEQ_ON_BACKENDS(new_tables, shared_backends);

TEST_P(new_tables, go_not_back_with_what_the_older_layout_has_no_room_for) {
  db().claim("jobs", {.keep_completed = true}).enqueue("kept");
  here().sql("UPDATE jobs SET result = " + here().bytes_literal("r"));
  EXPECT_CODE(constraint_violated, db().migrate({.queues = {"jobs"}, .to = 2}));
  EXPECT_EQ(layouts().at("jobs"), "3");
  here().sql("UPDATE jobs SET result = NULL");
  if (here().takes("UPDATE jobs SET finished_at = 5")) {
    EXPECT_CODE(constraint_violated, db().migrate({.queues = {"jobs"}, .to = 2}));
    EXPECT_EQ(layouts().at("jobs"), "3");
    here().sql("UPDATE jobs SET finished_at = NULL");
  }
  here().sql(
      "INSERT INTO tableq_schedules (name, queue, every_ms, payload) VALUES ('n', 'jobs', 1000, " +
      here().bytes_literal("p") + ")");
  EXPECT_CODE(constraint_violated, db().migrate({.to = 2}));
  EXPECT_EQ(layouts().at("jobs"), "2");
  EXPECT_EQ(layouts().at("tableq"), "3");
  here().sql("DELETE FROM tableq_schedules");
  db().migrate({.to = 2});
  EXPECT_EQ(layouts().at("tableq"), "2");
  EXPECT_EQ(db().claim("jobs").take(1).at(0).payload, "kept");
}

class pooled_tables : public old_tables_test {};
TABLEQ_ON_BACKENDS(pooled_tables, direct_backends);

TEST_P(pooled_tables, are_not_migrated) {
  const std::string url = here().url_with("pooling", "transaction");
  try {
    static_cast<void>(tableq::database::open(url));
  } catch (const tableq::error& failure) {
    EXPECT_EQ(failure.code(), tableq::errc::invalid_argument);
    GTEST_SKIP() << "the database has no such poolers";
  }
  auto pooled = tableq::database::open(url);
  EXPECT_CODE(unsupported, pooled.migrate());
  EXPECT_TRUE(pooled.migrate({.dry_run = true}).empty());
}

}  // namespace
