// Tables and columns that cannot keep a mapping's promises are refused when it is opened.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/table_fixture.hpp"
#include "support/expect.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

class table_trouble : public on_own_table {
 protected:
  /// The mapping is refused with an error that has these words.
  void refused(const tableq::table_mapping& mapping, const std::vector<std::string>& words,
               const std::string& table) {
    const tableq::error why = thrown_by([&] { static_cast<void>(db().table(table, mapping)); });
    EXPECT_EQ(why.code(), tableq::errc::invalid_argument) << why.what();
    for (const std::string& each : words) {
      EXPECT_NE(std::string(why.what()).find(each), std::string::npos) << why.what();
    }
  }
  /// The table `jobs` with the columns id, busy and probe, where the database has such a type.
  bool made(const std::string& probe, const std::string& more = {}) {
    static_cast<void>(here().takes("DROP TABLE jobs"));
    return here().takes("CREATE TABLE jobs (id INTEGER NOT NULL PRIMARY KEY, busy INTEGER " +
                        std::string("DEFAULT 0 NOT NULL, probe ") + probe + more + ")");
  }
  /// Whether the database knows its types: some take any name of one.
  bool typed() { return !here().takes("CREATE TABLE typed (a no_such_type)"); }
  static tableq::table_mapping jobs() { return {.key = {"id"}, .waiting = tableq::flag("busy")}; }
  static tableq::table_mapping lease_that_tells() {
    auto out = whole();
    out.waiting = tableq::null_time("LeaseUntil");
    out.taken_at = {};
    out.max_attempts.reset();
    return out;
  }
};
TABLEQ_ON_BACKENDS(table_trouble, shared_backends);

TEST_P(table_trouble, lease_that_tells_what_waits_tells_no_dead_row) {
  auto mapping = lease_that_tells();
  mapping.max_attempts = 3;
  refused(mapping, {"max_attempts", "lease_until"}, "EmailRequests");
  requests(1);
  auto queue = emails(lease_that_tells());
  const auto taken = take_one(queue);
  EXPECT_CODE(unsupported, static_cast<void>(queue.fail(taken, "no", {.give_up = true})));
  EXPECT_EQ(queue.fail(taken, "no"), settle_result::applied);
  EXPECT_EQ(take_one(queue).attempt, 2);
}

TEST_P(table_trouble, worker_gives_up_no_row_where_nothing_tells_a_dead_one) {
  requests(1);
  auto mapping = lease_that_tells();
  mapping.due_at = {};  // Nothing rests until the test's clock moves.
  auto queue = emails(mapping);
  int calls = 0;
  tableq::worker work(queue,
                      [&](const tableq::delivery&) {
                        return ++calls == 1 ? tableq::handled::give_up("never")
                                            : tableq::handled::completed();
                      },
                      {.until_empty = true});
  work.join();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(count(), "0");
}

TEST_P(table_trouble, take_ends_although_a_trigger_keeps_leases_as_they_are) {
  const bool triggered =
      here().takes(
          "CREATE TRIGGER keeps AFTER UPDATE ON EmailRequests WHEN NEW.LeaseUntil IS NULL BEGIN "
          "UPDATE EmailRequests SET LeaseUntil = OLD.LeaseUntil, IsProcessed = 1 WHERE Id = "
          "NEW.Id; END") ||
      (here().takes("CREATE FUNCTION keeps() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                    "NEW.LeaseUntil = OLD.LeaseUntil; NEW.IsProcessed = 1; RETURN NEW; END $$") &&
       here().takes("CREATE TRIGGER keeps BEFORE UPDATE ON EmailRequests FOR EACH ROW EXECUTE "
                    "FUNCTION keeps()"));
  if (!triggered) GTEST_SKIP() << "triggers of this database are refused";
  here().insert_many("emailrequests", "Id, Address, IsProcessed, LeaseUntil", "n, 'a', 1, 1", 1000);
  auto mapping = whole();
  mapping.last_error = {};
  auto queue = emails(mapping);
  EXPECT_TRUE(queue.take(1).empty());
}

TEST_P(table_trouble, columns_whose_null_means_something_may_be_null) {
  here().sql(
      "CREATE TABLE jobs (id INTEGER NOT NULL PRIMARY KEY, busy INTEGER DEFAULT 0 NOT NULL, "
      "moment BIGINT DEFAULT 0 NOT NULL, message VARCHAR(200) DEFAULT '' NOT NULL)");
  auto mapping = jobs();
  mapping.lease_until = "moment";
  refused(mapping, {"moment", "NULL", "lease_until"}, "jobs");
  mapping = jobs();
  mapping.waiting = tableq::null_time("moment");
  refused(mapping, {"moment", "NULL", "waits"}, "jobs");
  mapping = jobs();
  mapping.done = tableq::null_time("moment");
  refused(mapping, {"moment", "NULL", "completed"}, "jobs");
  mapping = jobs();
  mapping.taken_at = "moment";
  mapping.last_error = "message";
  here().sql("INSERT INTO jobs (id) VALUES (1)");
  auto queue = db().table("jobs", mapping);
  EXPECT_EQ(queue.fail(take_one(queue), "no"), settle_result::applied);
  EXPECT_EQ(queue.take(5).size(), 1U);
}

TEST_P(table_trouble, row_with_null_in_its_key_holds_up_no_other) {
  here().sql(
      "CREATE TABLE jobs (id INTEGER UNIQUE, rank INTEGER, busy INTEGER DEFAULT 0 NOT NULL, "
      "until BIGINT, due BIGINT)");
  here().sql("INSERT INTO jobs (id, rank) VALUES (NULL, 0)");
  here().sql("INSERT INTO jobs (id, rank) VALUES (7, 1)");
  auto mapping = jobs();
  mapping.order = {{.column = "rank"}};
  mapping.lease_until = "until";
  mapping.due_at = "due";
  auto queue = db_with_clock().table("jobs", mapping);
  EXPECT_EQ(queue.stats().ready, 1U);
  EXPECT_EQ(queue.peek(5).size(), 1U);
  const auto taken = queue.take(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].row.get<int>("id"), 7);
  EXPECT_EQ(queue.complete(taken[0]), settle_result::applied);
  EXPECT_FALSE(queue.take_one());
  // Nor does one that another program has taken.
  here().sql("UPDATE jobs SET busy = 1, until = 1");
  EXPECT_TRUE(queue.take(1, {.wait = 20ms}).empty());
  auto removing = db().table("jobs", {.key = {"id"}});
  here().sql("INSERT INTO jobs (id, rank) VALUES (8, 1)");
  EXPECT_EQ(removing.take(1).size(), 1U);
  EXPECT_TRUE(removing.take(1).empty());
}

TEST_P(table_trouble, rows_without_an_address_of_their_own_need_a_key) {
  const bool found =
      here().takes("CREATE TABLE parts (id INTEGER PRIMARY KEY) WITHOUT ROWID") ||
      here().takes("CREATE TABLE parts (id INTEGER PRIMARY KEY) PARTITION BY HASH (id)");
  if (!found) GTEST_SKIP() << "each table of this database has such addresses";
  refused({}, {"parts", "key"}, "parts");
  static_cast<void>(here().takes(
      "CREATE TABLE parts_a PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0)"));
  static_cast<void>(here().takes(
      "CREATE TABLE parts_b PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)"));
  here().insert_many("parts", "id", "n", 20);
  auto queue = db().table("parts", {.key = {"id"}});
  EXPECT_EQ(queue.take(1).size(), 1U);
  EXPECT_EQ(queue.take(30).size(), 19U);
}

TEST_P(table_trouble, column_with_the_name_of_an_address_hides_it) {
  here().sql("CREATE TABLE parts (_rowid_ INTEGER, rest INTEGER)");
  here().sql("INSERT INTO parts (_rowid_, rest) VALUES (1, 1)");
  here().sql("INSERT INTO parts (_rowid_, rest) VALUES (1, 2)");
  try {
    // The name has no meaning in some databases.
    EXPECT_EQ(db().table("parts", {}).take(1).size(), 1U);
  } catch (const tableq::error& why) {
    EXPECT_EQ(why.code(), tableq::errc::invalid_argument) << why.what();
  }
  EXPECT_NE(here().sql("SELECT COUNT(*) FROM parts").at(0).at(0), "0");
}

TEST_P(table_trouble, parents_of_tables_that_inherit_are_refused) {
  here().sql("CREATE TABLE parent (id INTEGER NOT NULL PRIMARY KEY)");
  if (!here().takes("CREATE TABLE child () INHERITS (parent)")) {
    GTEST_SKIP() << "no table of this database inherits";
  }
  refused({.key = {"id"}}, {"parent", "inherit"}, "parent");
  refused({}, {"parent", "inherit"}, "parent");
}

TEST_P(table_trouble, tables_that_are_not_plain_are_refused) {
  int found = 0;
  if (here().takes("CREATE VIRTUAL TABLE notes USING fts5(body)")) {
    ++found;
    refused({}, {"virtual"}, "notes");
    refused({}, {"virtual"}, "notes_content");
  }
  if (here().takes("CREATE RULE nothing AS ON UPDATE TO EmailRequests DO INSTEAD NOTHING")) {
    ++found;
    refused(whole(), {"rules"}, "EmailRequests");
  }
  if (found == 0) GTEST_SKIP() << "this database has only plain tables";
}

TEST_P(table_trouble, tables_of_the_database_itself_are_refused) {
  static_cast<void>(here().takes("CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)"));
  for (const char* each : {"pg_class", "sqlite_master", "sqlite_sequence", "spt_monitor"}) {
    const tableq::error why = thrown_by([&] { static_cast<void>(db().table(each, {})); });
    EXPECT_TRUE(why.code() == tableq::errc::invalid_argument ||
                why.code() == tableq::errc::not_found)
        << why.what();
  }
}

TEST_P(table_trouble, tables_of_tableq_are_refused) {
  for (const char* prefix : {"", "own_"}) {
    auto prefixed = open({.table_prefix = prefix});
    prefixed.claim("orders").enqueue("x");
    prefixed.heap("things").enqueue("x");
    for (const char* each : {"orders", "Things", "tableq_queues", "tableq_limits"}) {
      const std::string table = std::string(prefix) + each;
      const tableq::error why =
          thrown_by([&] { static_cast<void>(prefixed.table(table, {.key = {"id"}})); });
      EXPECT_EQ(why.code(), tableq::errc::invalid_argument) << table << ": " << why.what();
      EXPECT_NE(std::string(why.what()).find("tableq"), std::string::npos) << why.what();
    }
    EXPECT_EQ(prefixed.heap("things").stats().waiting, 1U);
  }
}

TEST_P(table_trouble, times_of_a_lease_have_milliseconds) {
  if (!typed()) GTEST_SKIP() << "each time of this database has milliseconds";
  for (const char* type : {"DATE", "TIMESTAMP(0)", "TIMESTAMP(2)", "TIMESTAMPTZ(1)", "DATETIME2(0)",
                           "DATETIME2(2)", "DATETIMEOFFSET(0)", "SMALLDATETIME"}) {
    if (!made(type)) continue;
    for (std::string tableq::table_mapping::*role :
         {&tableq::table_mapping::lease_until, &tableq::table_mapping::due_at,
          &tableq::table_mapping::taken_at}) {
      auto mapping = jobs();
      mapping.*role = "probe";
      refused(mapping, {"probe", "millisecond"}, "jobs");
    }
    auto mapping = jobs();
    mapping.waiting = tableq::null_time("probe");
    EXPECT_NO_THROW(static_cast<void>(db().table("jobs", mapping))) << type;
  }
  ASSERT_TRUE(made(here().types().time));
  auto mapping = jobs();
  mapping.lease_until = "probe";
  EXPECT_NO_THROW(static_cast<void>(db().table("jobs", mapping)));
}

TEST_P(table_trouble, columns_of_errors_take_any_text) {
  if (!typed()) GTEST_SKIP() << "each text column of this database takes any text";
  static_cast<void>(here().takes("CREATE TYPE mood AS ENUM ('good', 'bad')"));
  for (const char* type : {"UUID", "JSON", "JSONB", "INET", "mood", "INTEGER[]", "XML",
                           "UNIQUEIDENTIFIER", "SQL_VARIANT", "INTERVAL"}) {
    if (!made(type)) continue;
    for (std::string tableq::table_mapping::*role :
         {&tableq::table_mapping::last_error, &tableq::table_mapping::errors}) {
      auto mapping = jobs();
      mapping.*role = "probe";
      refused(mapping, {"probe", "any text"}, "jobs");
    }
  }
  static_cast<void>(here().takes("CREATE DOMAIN short_line AS VARCHAR(40)"));
  for (const char* type :
       {"VARCHAR(20)", "CHAR(20)", "TEXT", "name", "short_line", "NVARCHAR(20)"}) {
    if (!made(type)) continue;
    auto mapping = jobs();
    mapping.last_error = "probe";
    EXPECT_NO_THROW(static_cast<void>(db().table("jobs", mapping))) << type;
  }
}

TEST_P(table_trouble, columns_of_an_order_can_be_compared) {
  if (!typed()) GTEST_SKIP() << "all columns of this database can be compared";
  for (const char* type : {"INTEGER[]", "JSON", "XML", "POINT", "NTEXT"}) {
    if (!made(type)) continue;
    auto mapping = jobs();
    mapping.order = {{.column = "probe"}};
    refused(mapping, {"probe", "order"}, "jobs");
    if (!here().takes("CREATE UNIQUE INDEX one ON jobs (probe)")) continue;
    mapping = jobs();
    mapping.key = {"probe"};
    refused(mapping, {"probe", "key"}, "jobs");
  }
}

TEST_P(table_trouble, columns_of_a_state_tell_its_values_apart) {
  ASSERT_TRUE(made("BOOLEAN") || made(here().types().flag));
  auto mapping = jobs();
  mapping.waiting = tableq::flag("probe", 1, 2);
  refused(mapping, {"probe", "2"}, "jobs");
  mapping.waiting = tableq::states("busy", {.waiting = 0, .taken = 1, .dead = 0});
  refused(mapping, {"busy", "same value"}, "jobs");
  if (!typed()) return;
  ASSERT_TRUE(made("SMALLINT"));
  mapping.waiting = tableq::flag("probe", 0, 40'000);
  refused(mapping, {"probe", "40000"}, "jobs");
  mapping.waiting = tableq::flag("busy", -2'147'483'648, 2'147'483'648);
  refused(mapping, {"busy", "2147483648"}, "jobs");
  for (const char* type : {"VARCHAR(4)", "CHAR(4)"}) {
    ASSERT_TRUE(made(type));
    mapping.waiting = tableq::states("probe", {.waiting = "wait", .taken = "waits"});
    refused(mapping, {"probe", "waits"}, "jobs");
    mapping.waiting = tableq::states("probe", {.waiting = "wait", .taken = "\xc3\xa4\xc3\xb6"});
    EXPECT_NO_THROW(static_cast<void>(db().table("jobs", mapping)));
  }
}

TEST_P(table_trouble, a_due_time_whose_default_is_a_local_time_is_told) {
  for (const auto& [definition, local] : here().time_defaults()) {
    SCOPED_TRACE(definition);
    here().sql(
        "CREATE TABLE reminders (id INTEGER NOT NULL PRIMARY KEY, busy INTEGER DEFAULT 0 NOT "
        "NULL, due " +
        definition + ")");
    const auto found =
        db().table("reminders", {.key = {"id"}, .waiting = tableq::flag("busy"), .due_at = "due"})
            .inspect();
    const bool told = std::ranges::any_of(found, [](const tableq::finding& each) {
      return each.severity == tableq::finding::level::warning &&
             contains(each.what, "column due ") && contains(each.what, "local time");
    });
    EXPECT_EQ(told, local);
    here().sql("DROP TABLE reminders");
  }
}

TEST_P(table_trouble, states_are_labels_of_their_type) {
  if (!can().returns_labels || !here().takes("CREATE TYPE step AS ENUM ('new', 'busy')")) {
    GTEST_SKIP() << "this database has no types with labels, or returns them from no change";
  }
  ASSERT_TRUE(made("step", " DEFAULT 'new'"));
  auto mapping = jobs();
  mapping.waiting = tableq::states("probe", {.waiting = "new", .taken = "taken"});
  refused(mapping, {"probe", "taken"}, "jobs");
  mapping.waiting = tableq::states("probe", {.waiting = "new", .taken = "busy"});
  here().sql("INSERT INTO jobs (id) VALUES (1)");
  auto queue = db().table("jobs", mapping);
  EXPECT_EQ(queue.complete(take_one(queue)), settle_result::applied);
}

TEST_P(table_trouble, unique_index_takes_the_same_texts_as_equal_as_its_column) {
  const bool found =
      here().takes("CREATE TABLE words (word VARCHAR(20) COLLATE NOCASE NOT NULL)") ||
      (here().takes("CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', "
                    "deterministic = false)") &&
       here().takes("CREATE TABLE words (word VARCHAR(20) COLLATE any_case NOT NULL)"));
  if (!found) GTEST_SKIP() << "this database has no such collations";
  ASSERT_TRUE(here().takes("CREATE UNIQUE INDEX exact ON words (word COLLATE BINARY)") ||
              here().takes("CREATE UNIQUE INDEX exact ON words (word COLLATE \"C\")"));
  refused({.key = {"word"}}, {"unique"}, "words");
  here().sql("CREATE UNIQUE INDEX same ON words (word)");
  here().sql("INSERT INTO words (word) VALUES ('a')");
  EXPECT_EQ(db().table("words", {.key = {"word"}}).take(5).size(), 1U);
}

TEST_P(table_trouble, rows_that_are_completed_and_left_are_not_requeued) {
  requests(2);
  auto mapping = whole();
  mapping.completed = tableq::on_complete::leave;
  mapping.max_attempts = 1;
  auto queue = emails(mapping);
  EXPECT_EQ(queue.complete(take_one(queue)), settle_result::applied);
  EXPECT_EQ(queue.take(1).size(), 1U);
  EXPECT_EQ(queue.stats().dead, 0U);
  clock.advance(1s);
  EXPECT_EQ(queue.requeue_older_than(1s), 1U);
  EXPECT_EQ(count("IsProcessed = 0"), "1");
  EXPECT_EQ(held(1, "IsProcessed"), "1");
}

}  // namespace
