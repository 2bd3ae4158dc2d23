#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "hostile/workload.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Settings that an administrator has given to a role, so that every session of it begins with
/// them.
class role_settings : public on_each_backend {
 protected:
  /// An address by which those settings hold; empty where roles have none.
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

TEST_P(role_settings, of_zone_encoding_dates_and_strings_spoil_nothing) {
  for (const auto& settings : std::vector<std::vector<std::string>>{
           {"TimeZone = 'Pacific/Chatham'", "DateStyle = 'German, DMY'",
            "IntervalStyle = 'sql_standard'", "lc_numeric = 'C'"},
           {"client_encoding = 'LATIN1'", "bytea_output = 'escape'", "extra_float_digits = -15"},
           {"standard_conforming_strings = off", "backslash_quote = off",
            "escape_string_warning = on", "array_nulls = on"},
           {"default_transaction_isolation = 'serializable'", "synchronous_commit = off",
            "default_transaction_deferrable = on"},
           {"enable_indexscan = off", "enable_nestloop = off",
            "plan_cache_mode = force_custom_plan", "jit = on", "jit_above_cost = 0"}}) {
    SCOPED_TRACE(settings.front());
    clear();
    prepare(*GetParam());
    const auto url = url_with_settings(settings);
    if (!url) GTEST_SKIP() << "this database, or this user, gives roles no settings";
    auto db = tableq::database::open(*url, options());
    work_with(db);
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

}  // namespace
