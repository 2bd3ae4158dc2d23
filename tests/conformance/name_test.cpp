#include <gtest/gtest.h>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::string_literals;

const std::vector<std::string>& bad_names() {
  static const std::vector<std::string> all = {
      "",
      std::string(41, 'a'),
      std::string(100'000, 'a'),
      "Mail",
      "1mail",
      "-mail",
      ".mail",
      "ma il",
      " mail",
      "mail ",
      "mail\n",
      "ma\til",
      "ma\x7Fil",
      "ma\0il"s,
      "m\xC3\xA4il",
      "m\xFFil",
      "mail'",
      "mail\"",
      "mail`",
      "[mail]",
      "mail;",
      "mail/*",
      "mail\\",
      "../mail",
      "mail(payload)",
      "{table}",
      "{catalog}",
      ":name",
      "mail?1",
      "$1",
      "%s%n",
      "'; DROP TABLE tableq_queues; --",
      "\"; DROP TABLE tableq_queues; --",
      "mail\" (payload) VALUES ('x'); DROP TABLE \"mail",
      "' OR '1'='1",
      "mail UNION SELECT * FROM tableq_queues",
      "tableq",
      "tableq_queues",
      "tableq_",
      "tableq_mine",
      "sqlite_master",
      "sqlite_mine",
      "sqlite",
      "pg_class",
      "pg_mine",
  };
  return all;
}

class queue_names : public on_each_kind {};
TABLEQ_ON_KINDS(queue_names, all_backends);

TEST_P(queue_names, bad_ones_and_injections_are_refused_and_change_nothing) {
  make("canary").put("alive");
  for (const std::string& bad : bad_names()) {
    SCOPED_TRACE(bad.substr(0, 60));
    EXPECT_CODE(invalid_argument, static_cast<void>(make(bad)));
  }
  ASSERT_EQ(db().queues().size(), 1U);
  EXPECT_EQ(make("canary").take()->payload, "alive");
}

TEST_P(queue_names, unusual_but_good_ones_work) {
  for (const char* good : {"a", "_", "_x", "a.b-c_9", "select", "user", "order", "table", "index",
                           "a--", "a..b", "null", "m-", "pg", "primary",
                           // Statements use these for themselves.
                           "t", "q", "g", "v", "due", "ready", "next", "msg", "mine"}) {
    SCOPED_TRACE(good);
    any_queue queue = make(good);
    queue.put(good);
    EXPECT_EQ(queue.waiting(), 1U);
    EXPECT_EQ(queue.take()->payload, good);
    EXPECT_TRUE(db().find(good));
  }
}

TEST_P(queue_names, the_longest_ones_do_not_collide) {
  auto crowded = open({.table_prefix = std::string(16, 'p')});
  const std::string stem(39, 'q');
  for (const char* last : {"1", "2", "3"}) any_queue(crowded, kind(), stem + last).put(last);
  for (const char* last : {"1", "2", "3"}) {
    any_queue queue(crowded, kind(), stem + last);
    EXPECT_EQ(queue.waiting(), 1U);
    EXPECT_EQ(queue.take()->payload, last);
  }
}

class naming : public on_each_backend {};
TABLEQ_ON_BACKENDS(naming, all_backends);

TEST_P(naming, of_a_statements_own_name_serves_groups) {
  for (const char* name : {"t", "g", "next"}) {
    SCOPED_TRACE(name);
    auto jobs = db().claim(name, {.groups = {}});
    jobs.enqueue("first", {.group = "a"});
    EXPECT_EQ(jobs.complete(jobs.take_one().value()), tableq::settle_result::applied);
  }
}

TEST_P(naming, looking_for_a_bad_name_harms_nothing) {
  db().fifo("canary").enqueue("alive");
  for (const std::string& bad : bad_names()) {
    SCOPED_TRACE(bad.substr(0, 60));
    try {
      EXPECT_FALSE(db().find(bad));
    } catch (const tableq::error& refused) {
      EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    }
    try {
      EXPECT_FALSE(db().drop(bad));
    } catch (const tableq::error& refused) {
      EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    }
  }
  EXPECT_EQ(db().queues().size(), 1U);
  EXPECT_EQ(db().fifo("canary").dequeue()->payload, "alive");
}

TEST_P(naming, bad_prefixes_are_refused) {
  for (const std::string& bad :
       {"1a"s, std::string(17, 'a'), "A"s, "a-b"s, "a.b"s, "a'"s, "a\""s, "a;"s, "a b"s, "a\n"s,
        "\xC3\xA4"s, "a\0"s, "sqlite_"s, "sqlite_x"s, "pg_"s}) {
    SCOPED_TRACE(bad);
    EXPECT_CODE(invalid_argument, static_cast<void>(open({.table_prefix = bad})));
  }
}

TEST_P(naming, bad_schema_names_are_refused) {
  if (!can().schemas) GTEST_SKIP() << "this database has no schemas";
  for (const std::string& bad : {"1a"s, std::string(41, 'a'), "A"s, "a'"s, "a\""s, "a;"s, "a b"s,
                                 "a\n"s, "a\0"s, "public\".\"x"s}) {
    SCOPED_TRACE(bad);
    EXPECT_CODE(invalid_argument, static_cast<void>(open({.schema_name = bad})));
  }
}

TEST_P(naming, a_schema_where_there_are_none_is_unsupported) {
  if (can().schemas) GTEST_SKIP() << "this database has schemas";
  EXPECT_CODE(unsupported, static_cast<void>(open({.schema_name = "elsewhere"})));
}

class separation : public on_each_backend {};
TABLEQ_ON_BACKENDS(separation, shared_backends);

TEST_P(separation, prefixes_do_not_see_each_other) {
  auto first = open({.table_prefix = "a_"});
  auto second = open({.table_prefix = "b_"});
  first.fifo("mail").enqueue("of a");
  EXPECT_FALSE(second.find("mail"));
  second.lifo("mail").enqueue("of b");
  EXPECT_EQ(first.fifo("mail").dequeue()->payload, "of a");
  EXPECT_TRUE(second.drop("mail"));
  EXPECT_TRUE(first.find("mail"));
  EXPECT_TRUE(db().queues().empty());
  EXPECT_EQ(here().sql("SELECT kind FROM a_tableq_queues WHERE name = 'mail'").at(0).at(0), "fifo");
}

TEST_P(separation, schemas_do_not_see_each_other) {
  const auto other = here().other_schema();
  if (!other) GTEST_SKIP() << "this database has no schemas";
  auto elsewhere = open({.schema_name = *other});
  db().fifo("mail").enqueue("here");
  EXPECT_FALSE(elsewhere.find("mail"));
  for (const tableq::kind each : all_kinds()) {
    any_queue queue(elsewhere, each, tableq::to_string(each));
    queue.put("there");
    EXPECT_EQ(queue.take()->payload, "there");
  }
  EXPECT_EQ(db().queues().size(), 1U);
  EXPECT_EQ(elsewhere.queues().size(), 5U);
  EXPECT_EQ(here().sql("SELECT count(*) FROM " + *other + ".fifo").at(0).at(0), "0");
}

TEST_P(separation, a_missing_schema_is_told) {
  if (!can().schemas) GTEST_SKIP() << "this database has no schemas";
  auto nowhere = open({.schema_name = "tq_no_such_schema"});
  const tableq::error refused = thrown_by([&] { static_cast<void>(nowhere.fifo("mail")); });
  EXPECT_NE(refused.code(), tableq::errc::internal) << refused.what();
}

class catalogue_names : public on_each_backend {};
TABLEQ_ON_BACKENDS(catalogue_names, shared_backends);

TEST_P(catalogue_names, that_plain_sql_has_forged_reach_no_statement) {
  db().fifo("canary").enqueue("alive");
  const auto jobs = db().claim("jobs", {.dead_letters = "morgue"});
  here().sql(
      "INSERT INTO tableq_queues (name, \"identity\", kind, layout, options)"
      " VALUES ('x\"''); DELETE FROM canary; --', 7, 'fifo', 1, 'ordering=relaxed')");
  EXPECT_CODE(schema_mismatch, static_cast<void>(db().queues()));
  EXPECT_CODE(schema_mismatch, static_cast<void>(db().inspect()));
  here().sql("DELETE FROM tableq_queues WHERE \"identity\" = 7");
  here().sql(
      "UPDATE tableq_queues SET options = replace(options, 'morgue', "
      "'a\";DELETE/**/FROM/**/canary')"
      " WHERE name = 'jobs'");
  EXPECT_CODE(invalid_argument, static_cast<void>(open().claim("jobs")));
  EXPECT_CODE(invalid_argument, static_cast<void>(db().queues()));
  EXPECT_EQ(db().fifo("canary").dequeue()->payload, "alive");
}

}  // namespace
