#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class schema_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(schema_of_kind, all_backends);

TEST_P(schema_of_kind, creating_twice_is_harmless) {
  make("mail").put("kept");
  EXPECT_EQ(make("mail").waiting(), 1U);
  EXPECT_EQ(make("mail").take()->payload, "kept");
  EXPECT_EQ(db().queues().size(), 1U);
}

TEST_P(schema_of_kind, opening_as_another_kind_names_both_kinds) {
  make("mail").put("kept");
  for (const tableq::kind other : all_kinds()) {
    if (other == kind()) continue;
    const tableq::error refused = thrown_by([&] { open_queue(db(), other, "mail"); });
    EXPECT_EQ(refused.code(), tableq::errc::kind_mismatch) << refused.what();
    EXPECT_TRUE(contains(refused.what(), tableq::to_string(kind()))) << refused.what();
    EXPECT_TRUE(contains(refused.what(), tableq::to_string(other))) << refused.what();
  }
  EXPECT_EQ(make("mail").take()->payload, "kept");
}

TEST_P(schema_of_kind, the_catalogue_knows_the_queue) {
  static_cast<void>(make("mail"));
  const auto info = db().find("mail");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->name, "mail");
  EXPECT_EQ(info->kind, kind());
  EXPECT_EQ(info->layout, 3);
  EXPECT_GT(info->created_at.time_since_epoch(), 0ms);
}

TEST_P(schema_of_kind, dropping_takes_the_messages_and_frees_the_name) {
  make("mail").put("gone");
  EXPECT_TRUE(db().drop("mail"));
  EXPECT_FALSE(db().find("mail"));
  EXPECT_FALSE(db().drop("mail"));
  for (const tableq::kind next : all_kinds()) {
    any_queue again(db(), next, "mail");
    EXPECT_FALSE(again.take());
    EXPECT_TRUE(db().drop("mail"));
  }
}

class shared_schema_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(shared_schema_of_kind, shared_backends);

TEST_P(shared_schema_of_kind, verify_only_creates_nothing) {
  static_cast<void>(db());  // makes the file of a database that is one
  auto careful = open({.schema = tableq::schema_policy::verify_only});
  EXPECT_CODE(not_found, open_queue(careful, kind(), "mail"));
  EXPECT_TRUE(careful.queues().empty());
  EXPECT_THROW(here().sql("SELECT count(*) FROM tableq_queues"), std::runtime_error);
  EXPECT_THROW(here().sql("SELECT count(*) FROM mail"), std::runtime_error);

  static_cast<void>(make("other"));
  EXPECT_CODE(not_found, open_queue(careful, kind(), "mail"));
  EXPECT_EQ(careful.queues().size(), 1U);
}

TEST_P(shared_schema_of_kind, verify_only_works_on_what_is_there) {
  make("mail").put("found");
  auto careful = open({.schema = tableq::schema_policy::verify_only});
  any_queue mail(careful, kind(), "mail");
  EXPECT_EQ(mail.take()->payload, "found");
  mail.put("left");
  EXPECT_EQ(make("mail").take()->payload, "left");
}

TEST_P(shared_schema_of_kind, verify_only_misses_a_table_that_is_gone) {
  static_cast<void>(make("mail"));
  here().sql("DROP TABLE mail");
  auto careful = open({.schema = tableq::schema_policy::verify_only});
  EXPECT_CODE(not_found, open_queue(careful, kind(), "mail"));
}

TEST_P(shared_schema_of_kind, ddl_run_by_hand_makes_the_same_queue) {
  const std::string text =
      tableq::ddl(db().backend(), "mail", {.kind = kind()}, {.table_prefix = "hand_"});
  here().sql(text);
  here().sql(tableq::ddl(db().backend(), "more", {.kind = kind()}, {.table_prefix = "hand_"}));
  auto careful = open({.schema = tableq::schema_policy::verify_only, .table_prefix = "hand_"});
  EXPECT_EQ(careful.queues().size(), 2U);
  any_queue mail(careful, kind(), "mail");
  mail.put("through a table made by hand");
  EXPECT_EQ(mail.take()->payload, "through a table made by hand");
  for (const tableq::finding& each : careful.inspect()) {
    EXPECT_NE(each.severity, tableq::finding::level::problem) << each.subject << ": " << each.what;
  }
}

TEST_P(shared_schema_of_kind, inspect_finds_nothing_wrong_with_a_new_queue) {
  static_cast<void>(make("mail"));
  for (const tableq::finding& each : db().inspect()) {
    if (each.subject == "database") continue;  // The settings of this run's server.
    EXPECT_EQ(each.severity, tableq::finding::level::ok) << each.subject << ": " << each.what;
  }
}

TEST_P(shared_schema_of_kind, inspect_misses_an_index_that_is_gone) {
  static_cast<void>(make("mail"));
  const rows indexes = here().sql(here().index_names("mail"));
  if (indexes.empty()) GTEST_SKIP() << "the table of this kind needs no index but its key";
  here().drop_index("mail", *indexes.at(0).at(0));
  bool told = false;
  for (const tableq::finding& each : db().inspect()) {
    if (each.severity == tableq::finding::level::ok || each.subject == "database") continue;
    told = true;
    EXPECT_EQ(each.subject, "mail");
    EXPECT_FALSE(each.fix.empty());
  }
  EXPECT_TRUE(told);
}

TEST_P(shared_schema_of_kind, inspect_finds_ids_that_will_be_drawn_again_and_mends_them) {
  any_queue mail = make("mail");
  here().sql(
      here().insert_with_id("mail", "payload", "1, " + here().bytes_literal("from elsewhere")));
  const auto ids = [&] {
    for (const tableq::finding& each : db().inspect()) {
      if (each.subject == "mail" && contains(each.what, "highest id")) return each.fix;
    }
    return std::string();
  };
  if (const std::string fix = ids(); !fix.empty()) {
    const tableq::error refused = thrown_by([&] { mail.put("refused"); });
    EXPECT_EQ(refused.code(), tableq::errc::constraint_violated);
    EXPECT_TRUE(contains(refused.what(), "tableq doctor")) << refused.what();
    here().sql("INSERT INTO mail (id, payload) VALUES (3, " + here().bytes_literal("far") + ")");
    here().sql(fix);
  }
  EXPECT_EQ(ids(), "");
  EXPECT_GT(mail.put("stored").value, 1);
}

TEST_P(shared_schema_of_kind, inspect_finds_rules_children_and_views) {
  for (const char* name : {"ruled", "parent", "seen"}) static_cast<void>(make(name));
  try {
    here().sql("CREATE RULE elsewhere AS ON INSERT TO ruled DO INSTEAD NOTHING");
  } catch (const std::runtime_error&) {
    GTEST_SKIP() << "this database has no such rules";
  }
  if (!here().takes("CREATE TABLE child () INHERITS (parent)")) {
    GTEST_SKIP() << "no table of this database inherits";
  }
  here().sql("ALTER TABLE seen RENAME TO base; CREATE VIEW seen AS SELECT * FROM base");
  const std::map<std::string, std::string> wanted = {
      {"ruled", "rule elsewhere rewrites operations"},
      {"parent", "tables inherit from the table"},
      {"seen", "it is no plain table"}};
  std::set<std::string> told;
  for (const tableq::finding& each : db().inspect()) {
    const auto of = wanted.find(each.subject);
    if (of == wanted.end() || each.what != of->second) continue;
    EXPECT_EQ(each.severity, tableq::finding::level::problem);
    EXPECT_FALSE(each.fix.empty());
    told.insert(each.subject);
  }
  EXPECT_EQ(told.size(), wanted.size());
}

TEST_P(shared_schema_of_kind, a_foreign_table_in_the_way_is_told_and_left_alone) {
  here().sql("CREATE TABLE mail (x INTEGER); INSERT INTO mail VALUES (7)");
  EXPECT_CODE(schema_mismatch, static_cast<void>(make("mail")));
  EXPECT_FALSE(db().find("mail"));
  EXPECT_EQ(here().sql("SELECT x FROM mail").at(0).at(0), "7");
}

TEST_P(shared_schema_of_kind, a_layout_of_a_newer_version_is_refused) {
  make("mail").put("kept");
  here().sql("UPDATE tableq_queues SET layout = 99 WHERE name = 'mail'");
  auto later = open();
  EXPECT_CODE(schema_too_new, open_queue(later, kind(), "mail"));
  EXPECT_EQ(here().sql("SELECT count(*) FROM mail").at(0).at(0), "1");
}

class schema : public on_each_backend {};
TABLEQ_ON_BACKENDS(schema, all_backends);

TEST_P(schema, queues_are_listed_by_name) {
  EXPECT_TRUE(db().queues().empty());
  for (const char* name : {"m", "z", "a"}) static_cast<void>(db().heap(name));
  const auto all = db().queues();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[1].name, "m");
  EXPECT_EQ(all[2].name, "z");
  EXPECT_FALSE(db().find("missing"));
}

TEST_P(schema, other_fixed_options_are_refused_by_name) {
  static_cast<void>(db().claim("jobs"));
  static_cast<void>(db().claim("turns", {.groups = {.by_turns = true, .enabled = true}}));
  const auto refused = [&](const tableq::claim_options& options, const char* queue = "jobs") {
    const tableq::error failure = thrown_by([&] { static_cast<void>(db().claim(queue, options)); });
    EXPECT_EQ(failure.code(), tableq::errc::options_mismatch) << failure.what();
    return std::string(failure.what());
  };
  EXPECT_TRUE(contains(refused({.keys = tableq::key_scope::waiting}), "option keys"));
  EXPECT_TRUE(contains(refused({.key_window = std::chrono::seconds{1}}), "option key_window"));
  EXPECT_TRUE(contains(refused({.groups = tableq::group_options{}}), "option groups"));
  EXPECT_TRUE(
      contains(refused({.groups = {.enabled = true}}, "turns"), "option by_turns of groups"));
  EXPECT_TRUE(contains(refused({.dead_letters = "morgue"}), "option dead_letters"));
  EXPECT_FALSE(db().find("morgue")) << "nothing was made";
}

TEST_P(schema, the_other_ordering_is_refused) {
  using tableq::ordering;
  static_cast<void>(db().fifo("loose"));
  static_cast<void>(db().lifo("tight", {.ordering = ordering::strict}));
  const tableq::error refused =
      thrown_by([&] { static_cast<void>(db().fifo("loose", {.ordering = ordering::strict})); });
  EXPECT_EQ(refused.code(), tableq::errc::options_mismatch);
  EXPECT_TRUE(contains(refused.what(), "strict") && contains(refused.what(), "relaxed"))
      << refused.what();
  EXPECT_CODE(options_mismatch,
              static_cast<void>(db().lifo("tight", {.ordering = ordering::relaxed})));
  EXPECT_EQ(db().find("loose")->ordering, ordering::relaxed);
  EXPECT_EQ(db().find("tight")->ordering, ordering::strict);
}

TEST_P(schema, an_ordering_left_out_is_as_stored) {
  static_cast<void>(db().fifo("tight", {.ordering = tableq::ordering::strict}));
  EXPECT_NO_THROW(static_cast<void>(db().fifo("tight")));
  EXPECT_EQ(db().find("tight")->ordering, tableq::ordering::strict);
}

TEST_P(schema, claim_options_are_stored_by_the_creating_call_only) {
  static_cast<void>(db().claim("jobs", {.lease = 10s, .max_attempts = 3, .keep_completed = true}));
  const auto as_stored = db().claim("jobs");
  EXPECT_EQ(as_stored.lease(), 10s);
  EXPECT_EQ(as_stored.max_attempts(), 3);

  const auto own = db().claim("jobs", {.lease = 1s, .max_attempts = 9});
  EXPECT_EQ(own.lease(), 1s);
  EXPECT_EQ(own.max_attempts(), 9);
  const auto info = db().find("jobs");
  EXPECT_EQ(info->lease, 10s);
  EXPECT_EQ(info->max_attempts, 3);
  EXPECT_TRUE(info->keep_completed);
}

TEST_P(schema, claim_options_left_out_are_the_documented_defaults) {
  const auto jobs = db().claim("jobs");
  EXPECT_EQ(jobs.lease(), 30s);
  EXPECT_EQ(jobs.max_attempts(), 5);
  EXPECT_FALSE(db().find("jobs")->keep_completed);
}

class shared_schema : public on_each_backend {};
TABLEQ_ON_BACKENDS(shared_schema, shared_backends);

TEST_P(shared_schema, a_catalogue_of_a_newer_version_is_refused) {
  db().fifo("mail").enqueue("kept");
  here().sql("UPDATE tableq_queues SET layout = 99 WHERE name = 'tableq' AND kind = 'catalogue'");
  EXPECT_CODE(schema_too_new, static_cast<void>(open()));
  here().sql("UPDATE tableq_queues SET layout = 2 WHERE name = 'tableq'");
  EXPECT_EQ(open().fifo("mail").dequeue()->payload, "kept");
}

TEST_P(shared_schema, rows_of_the_catalogue_that_no_tableq_wrote_are_told_by_the_queues_name) {
  db().fifo("mail").enqueue("kept");
  for (const char* spoilt : {"kind = 'weird'", "layout = 0", "layout = -3"}) {
    SCOPED_TRACE(spoilt);
    here().sql(std::string("UPDATE tableq_queues SET ") + spoilt + " WHERE name = 'mail'");
    auto later = open();
    for (const tableq::error& refused : {thrown_by([&] { static_cast<void>(later.queues()); }),
                                         thrown_by([&] { static_cast<void>(later.find("mail")); }),
                                         thrown_by([&] { static_cast<void>(later.fifo("mail")); }),
                                         thrown_by([&] { static_cast<void>(later.migrate()); })}) {
      EXPECT_EQ(tableq::to_string(refused.code()), "schema_mismatch") << refused.what();
      EXPECT_TRUE(contains(refused.what(), "mail")) << refused.what();
    }
    here().sql("UPDATE tableq_queues SET kind = 'fifo', layout = 2 WHERE name = 'mail'");
  }
  EXPECT_EQ(open().fifo("mail").dequeue()->payload, "kept");
}

TEST_P(shared_schema, the_catalogue_itself_is_not_listed) {
  static_cast<void>(db().fifo("mail"));
  EXPECT_EQ(here().sql("SELECT count(*) FROM tableq_queues").at(0).at(0), "2");
  EXPECT_EQ(db().queues().size(), 1U);
  EXPECT_CODE(invalid_argument, static_cast<void>(db().find("tableq")));
  EXPECT_CODE(invalid_argument, db().drop("tableq"));
  EXPECT_NO_THROW(static_cast<void>(open().fifo("mail")));
}

TEST_P(shared_schema, a_user_without_ddl_rights_works_on_what_is_there) {
  for (const tableq::kind each : all_kinds()) open_queue(db(), each, tableq::to_string(each));
  const auto url = here().url_without_ddl_rights();
  if (!url) GTEST_SKIP() << "this database, or this user, knows no rights";
  auto limited = tableq::database::open(*url, {.schema = tableq::schema_policy::verify_only});
  for (const tableq::kind each : all_kinds()) {
    any_queue queue(limited, each, tableq::to_string(each));
    queue.put("allowed");
    EXPECT_EQ(queue.take()->payload, "allowed");
  }
  auto presuming = tableq::database::open(*url);
  EXPECT_NO_THROW(open_queue(presuming, tableq::kind::fifo, "fifo"));
  EXPECT_CODE(permission_denied, open_queue(presuming, tableq::kind::fifo, "denied"));
}

}  // namespace
