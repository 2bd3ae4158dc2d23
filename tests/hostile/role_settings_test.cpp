#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "hostile/workload.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Settings of a role by an administrator, with which each of its sessions begins.
class role_settings : public on_each_backend {
 protected:
  /// An address with these settings; empty if roles have none.
  std::optional<std::string> url_with_settings(const std::vector<std::string>& settings) {
    const auto schema = here().other_schema();
    const auto user = schema ? here().new_user() : std::nullopt;
    if (!user) return {};
    schema_ = *schema;
    auto own = open({.schema_name = schema_});
    for (const tableq::kind each : all_kinds()) {
      open_queue(own, each, tableq::to_string(each));
      here().sql(tableq::grants(own.backend(), tableq::role::manager, user->name,
                                tableq::to_string(each), {.kind = each}, {.schema_name = schema_}));
    }
    const tableq::claim_options groups{.groups = tableq::group_options{}};
    static_cast<void>(own.claim("grouped", groups));
    here().sql(tableq::grants(own.backend(), tableq::role::manager, user->name, "grouped",
                              {.kind = tableq::kind::claim, .claim = groups},
                              {.schema_name = schema_}));
    // Its owner may write schedules.
    static_cast<void>(own.claim("periodic"));
    here().sql(tableq::grants(own.backend(), tableq::role::owner, user->name, "periodic",
                              {.kind = tableq::kind::claim}, {.schema_name = schema_}));
    for (const std::string& each : settings) {
      if (!here().role_setting(user->name, each)) return {};
    }
    return user->url;
  }
  [[nodiscard]] tableq::open_options options() const {
    return {.schema = tableq::schema_policy::verify_only, .schema_name = schema_};
  }

 private:
  std::string schema_;
};
TABLEQ_ON_BACKENDS(role_settings, shared_backends);

TEST_P(role_settings, that_change_what_a_text_or_value_means_spoil_nothing) {
  for (const auto& settings : std::vector<std::vector<std::string>>{
           {"array_nulls = off"},
           {"TimeZone = 'Pacific/Chatham'", "DateStyle = 'German, DMY'",
            "IntervalStyle = 'sql_standard'", "lc_numeric = 'C'", "lc_time = 'C'"},
           {"client_encoding = 'LATIN1'", "bytea_output = 'escape'", "extra_float_digits = -15"},
           {"standard_conforming_strings = off", "backslash_quote = off",
            "escape_string_warning = on", "array_nulls = on"},
           {"default_transaction_isolation = 'serializable'", "synchronous_commit = off",
            "default_transaction_deferrable = on"},
           {"default_transaction_isolation = 'repeatable read'", "row_security = off",
            "transform_null_equals = on", "quote_all_identifiers = on", "xmloption = 'document'",
            "search_path = ''"},
           {"enable_indexscan = off", "enable_nestloop = off",
            "plan_cache_mode = force_custom_plan", "jit = on", "jit_above_cost = 0"},
           {"enable_indexonlyscan = off", "enable_hashjoin = off", "enable_mergejoin = off",
            "enable_hashagg = off", "enable_material = off", "enable_tidscan = off",
            "work_mem = '64kB'", "geqo = off", "join_collapse_limit = 1",
            "from_collapse_limit = 1"},
           {"client_min_messages = debug5", "check_function_bodies = off", "exit_on_error = on",
            "idle_in_transaction_session_timeout = '1h'", "lock_timeout = '1h'",
            "gin_fuzzy_search_limit = 1", "synchronize_seqscans = off",
            "vacuum_cost_delay = 10"}}) {
    SCOPED_TRACE(settings.front());
    clear();
    prepare(*GetParam());
    const auto url = url_with_settings(settings);
    if (!url) GTEST_SKIP() << "this database, or this user, gives roles no settings";
    auto db = tableq::database::open(*url, options());
    work_with(db);
    db.transact([&](tableq::transaction& tx) { work_within(db, tx); });
    for (const tableq::finding& each : db.inspect()) {
      EXPECT_FALSE(contains(each.what, "otherwise")) << each.what;
    }
  }
}

TEST_P(role_settings, of_time_outs_end_what_waits_and_harm_nothing_else) {
  const auto url = url_with_settings({"statement_timeout = '300ms'"});
  if (!url) GTEST_SKIP() << "this database, or this user, gives roles no settings";
  tableq::open_options once = options();
  once.retry_for = 0ms;
  auto db = tableq::database::open(*url, once);
  auto mail = db.fifo("fifo");
  here().sql("BEGIN; LOCK TABLE " + options().schema_name + ".fifo IN EXCLUSIVE MODE");
  const tableq::error ended = thrown_by([&] { mail.enqueue("refused"); });
  EXPECT_EQ(ended.code(), tableq::errc::cancelled) << ended.what();
  here().sql("ROLLBACK");
  EXPECT_EQ(mail.stats().waiting, 0U);
  mail.enqueue("stored");
  EXPECT_EQ(mail.dequeue()->payload, "stored");
  // Waiting reads run no statement while they wait.
  EXPECT_FALSE(mail.dequeue({.wait = 700ms}));
  std::latch started(1);
  const std::jthread later([&] {
    started.wait();
    db.fifo("fifo").enqueue("woken");
  });
  started.count_down();
  EXPECT_EQ(mail.dequeue({.wait = 60s})->payload, "woken");
}

/// Settings of a caller's session before tableq joins it.
class session_settings : public on_each_backend {
 protected:
  struct setting {
    std::string change;
    std::string look;
    std::string value;
  };
  [[nodiscard]] std::vector<setting> settings() {
    if (db().backend() == "postgresql") {
      return {{"SET array_nulls TO off", "SHOW array_nulls", "off"},
              {"SET standard_conforming_strings TO off", "SHOW standard_conforming_strings", "off"},
              {"SET bytea_output TO 'escape'", "SHOW bytea_output", "escape"},
              {"SET TimeZone TO 'Pacific/Chatham'", "SHOW TimeZone", "Pacific/Chatham"},
              {"SET IntervalStyle TO 'sql_standard'", "SHOW IntervalStyle", "sql_standard"},
              {"SET extra_float_digits TO -15", "SHOW extra_float_digits", "-15"},
              {"SET transform_null_equals TO on", "SHOW transform_null_equals", "on"},
              {"SET quote_all_identifiers TO on", "SHOW quote_all_identifiers", "on"},
              {"SET row_security TO off", "SHOW row_security", "off"},
              {"SET enable_indexscan TO off", "SHOW enable_indexscan", "off"}};
    }
    if (db().backend() == "sqlite") {
      return {{"PRAGMA count_changes = ON", "PRAGMA count_changes", "1"},
              {"PRAGMA reverse_unordered_selects = ON", "PRAGMA reverse_unordered_selects", "1"},
              {"PRAGMA case_sensitive_like = ON", "SELECT 'a' LIKE 'A'", "0"},
              {"PRAGMA recursive_triggers = ON", "PRAGMA recursive_triggers", "1"},
              {"PRAGMA foreign_keys = ON", "PRAGMA foreign_keys", "1"},
              {"PRAGMA ignore_check_constraints = ON", "PRAGMA ignore_check_constraints", "1"},
              {"PRAGMA short_column_names = OFF", "PRAGMA short_column_names", "0"},
              {"PRAGMA full_column_names = ON", "PRAGMA full_column_names", "1"},
              {"PRAGMA writable_schema = ON", "PRAGMA writable_schema", "1"}};
    }
    return {};
  }
};
TABLEQ_ON_BACKENDS(session_settings, shared_backends);

TEST_P(session_settings, of_a_caller_spoil_nothing_and_stay) {
  const auto all = settings();
  if (all.empty()) GTEST_SKIP() << "this database's sessions need theirs: docs/sqlserver.md";
  // The tables are created before a caller's transaction can block that.
  for (const tableq::kind each : all_kinds()) open_queue(db(), each, tableq::to_string(each));
  static_cast<void>(db().claim("grouped", {.groups = tableq::group_options{}}));
  for (const setting& each : all) {
    SCOPED_TRACE(each.change);
    // Through ODBC arrays travel as text, in which this setting forbids NULL.
    if (can().second_way && contains(each.change, "array_nulls")) continue;
    const auto session = here().session();
    session->once << each.change;
    {
      soci::transaction mine(*session);
      tableq::enlistment joined = tableq::enlist(db(), *session);
      work_within(db(), static_cast<tableq::transaction&>(joined));
      mine.commit();
    }
    std::string now;
    session->once << each.look, soci::into(now);
    EXPECT_EQ(now, each.value);
  }
}

TEST_P(session_settings, that_would_store_other_texts_are_refused) {
  if (db().backend() != "postgresql" || can().second_way) {
    GTEST_SKIP() << "sessions of this client library have one encoding";
  }
  const auto session = here().session();
  session->once << "SET client_encoding TO 'LATIN1'";
  const tableq::error refused =
      thrown_by([&] { static_cast<void>(tableq::enlist(db(), *session)); });
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
  EXPECT_TRUE(contains(refused.what(), "SET client_encoding TO 'UTF8'")) << refused.what();
  session->once << "SET client_encoding TO 'UTF8'";
  auto mail = db().fifo("mail");
  mail.in(tableq::enlist(db(), *session, tableq::autocommit)).enqueue("stored");
  EXPECT_EQ(mail.stats().waiting, 1U);
}

}  // namespace
