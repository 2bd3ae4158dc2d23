// Statements on a large table of the application, with exactly the indexes that ddl prints.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/database/access.hpp"
#include "core/table/mapped_table.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

constexpr std::int64_t mapped_rows = 1'000'000;
/// The key of the first row that waits; rows in other states have lower ones.
constexpr std::int64_t first_waiting = 5'000'001;

class mapped_plan : public on_each_backend {
 protected:
  /// The plain client plans as the library's own sessions do.
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const std::string& each : tableq::find_dialect(db().backend()).setup) here().sql(each);
  }

  struct statement {
    std::string name;
    std::string text;
    parameters with;
    bool counts = false;  ///< A bounded count, which some databases print as a scan.
    /// With the statistics of a small table a plan may begin with all taken rows.
    bool needs_statistics = false;
  };

  /// Columns for all ways to tell what waits; a mapping uses some of them.
  void make(const std::string& lease_type, tableq::table_mapping mapping,
            const std::string& key_rule = "NOT NULL PRIMARY KEY") {
    here().sql(
        "CREATE TABLE requests (Id INTEGER " + key_rule +
        ", Address VARCHAR(40) NOT NULL, "
        "IsProcessed INTEGER DEFAULT 0 NOT NULL, StartedAt BIGINT, State VARCHAR(10) DEFAULT "
        "'new' NOT NULL, SentAt BIGINT, LeaseUntil " +
        lease_type + ", Fence BIGINT DEFAULT 0 NOT NULL, RetryCount INTEGER DEFAULT 0 NOT NULL)");
    mapping.key = {"Id"};
    mapping.lease_until = "LeaseUntil";
    mapping.fence = "Fence";
    mapping.attempts = "RetryCount";
    mapping.max_attempts = 3;
    queue_ = db().table("requests", mapping);
    std::string printed = queue_->ddl();
    for (std::size_t end = 0; (end = printed.find(";\n")) != std::string::npos;) {
      here().sql(printed.substr(0, end));
      printed.erase(0, end + 2);
    }
    ASSERT_EQ(queue_->ddl(), "");
  }
  /// The plain client's names of parameters have no digits.
  static std::string named(const std::string& text) { return replaced(text, "key_0", "key"); }
  /// The texts for one row and for many.
  void add(std::vector<statement>& to, const std::string& name,
           const tableq::core::mapped_statements::one& of, const parameters& for_many,
           const parameters& for_one, bool counts = false) {
    ASSERT_NE(of, nullptr) << name;
    const auto& texts = of->what().texts->own_clock;
    to.push_back({name, named(texts.many), for_many, counts});
    if (!texts.one.empty()) to.push_back({name + ".one", named(texts.one), for_one, counts});
  }
  [[nodiscard]] const tableq::core::mapped_statements& mapped() const {
    return static_cast<const tableq::core::mapped_table&>(
               *tableq::core::access::state_of(*queue_).mapped())
        .statements();
  }
  /// Without the count of dead rows: these are taken rows with many attempts, and no index of the
  /// mapping tells them apart. It may read all taken rows.
  std::vector<statement> all() {
    const auto& made = mapped();
    std::vector<statement> out;
    parameters take = {{"max", "10"}, {"lease", "30000"}, {"token", "7"}};
    parameters held = {{"key", here().one_item(first_waiting)}, {"fence", here().one_item(0)},
                       {"error", here().one_text_item("no")},   {"delay", here().one_item(0)},
                       {"final", here().one_item(0)},           {"lease", "30000"}};
    parameters one = {{"key", std::to_string(first_waiting)},
                      {"fence", "0"},
                      {"error", "'no'"},
                      {"delay", "0"},
                      {"final", "0"},
                      {"lease", "30000"}};
    parameters some = {{"max", "10"}, {"error", "'expired'"}};
    for (parameters* each : {&take, &held, &one, &some}) {
      each->insert({{"waiting_value", "'new'"},
                    {"taken_value", "'busy'"},
                    {"done_value", "'done'"},
                    {"dead_value", "'busy'"}});
    }
    add(out, "take", made.take, take, take);
    add(out, "complete", made.complete, held, one);
    add(out, "fail", made.fail, held, one);
    add(out, "release", made.release, held, one);
    add(out, "extend", made.extend, held, one);
    add(out, "expire", made.expire, some, some);
    add(out, "next_lease", made.next_lease, some, some);
    add(out, "peek", made.peek, some, some);
    add(out, "ready", made.ready, some, some, true);
    add(out, "leased", made.leased, some, some, true);
    add(out, "expired", made.expired, some, some, true);
    for (statement& each : out) {
      each.needs_statistics = each.with.contains("key") && !each.name.ends_with(".one");
    }
    return out;
  }
  std::vector<std::int64_t> work(const std::vector<statement>& of) {
    std::vector<std::int64_t> out;
    for (const statement& each : of) out.push_back(here().work_of(each.text, each.with));
    return out;
  }
  /// A scan would touch thousands of times more; a deeper tree touches a little more.
  void expect_no_more(const std::vector<statement>& of, const std::vector<std::int64_t>& before,
                      bool analyzed) {
    const char* when = analyzed ? "that was analyzed" : "that has grown";
    const auto after = work(of);
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i].needs_statistics && !analyzed) continue;
      EXPECT_LE(after[i], 3 * before[i] + 300) << of[i].name << " on a table " << when;
      if (of[i].counts) continue;
      const std::string shown = here().explain(of[i].text, of[i].with);
      const auto complaint = here().complaint(shown, false);
      EXPECT_FALSE(complaint) << of[i].name << " on a table " << when << ": " << *complaint << "\n"
                              << shown;
    }
  }
  void insert(const std::string& columns, const std::string& values, std::int64_t after,
              std::int64_t count) {
    here().insert_many("requests", "Id, Address" + columns,
                       "n + " + std::to_string(after) + ", 'a'" + values, count);
  }
  struct columns_and_values {
    std::string columns;
    std::string values;
  };
  /// As many rows are done as are leased for long, and as wait. Leases differ: SQLite 3.46 seeks in
  /// no index whose rows were all alike when it was analyzed. They come before those that wait in
  /// the order of takes: only an index passes over them.
  void expect_constant(const columns_and_values& done, const columns_and_values& leased) {
    constexpr std::int64_t third = mapped_rows / 3;
    insert("", "", first_waiting - 1, 50);
    const auto statements = all();
    const auto before = work(statements);
    insert(done.columns, done.values, 0, third);
    insert(leased.columns, leased.values, third, third);
    insert("", "", first_waiting + 50, third);
    expect_no_more(statements, before, false);
    here().analyze();
    expect_no_more(statements, before, true);
  }

  std::optional<tableq::table_queue> queue_;
};
TABLEQ_ON_BACKENDS(mapped_plan, distinct_backends);

TEST_P(mapped_plan, tells_no_time_where_no_lease_ends) {
  make("BIGINT", {.waiting = tableq::flag("IsProcessed")});
  for (const statement& each : all()) {
    if (each.name != "next_lease") continue;
    EXPECT_EQ(here().sql(each.text).at(0).at(0), std::nullopt);
  }
}

TEST_P(mapped_plan, of_single_takes_finds_keys_whose_type_has_its_own_comparison_by_their_index) {
  if (!here().takes("CREATE EXTENSION IF NOT EXISTS citext")) {
    GTEST_SKIP() << "types of this database have no comparisons of their own";
  }
  here().sql(
      "CREATE TABLE words (word citext NOT NULL PRIMARY KEY, busy INTEGER DEFAULT 0 NOT NULL)");
  here().sql("CREATE INDEX waiting ON words (busy, word)");
  here().insert_many("words", "word", "CAST('Word ' || n AS citext)", 10'000);
  here().analyze();
  for (const auto completed : {tableq::on_complete::leave, tableq::on_complete::remove}) {
    queue_ = db().table("words",
                        {.key = {"word"}, .waiting = tableq::flag("busy"), .completed = completed});
    std::vector<statement> take;
    add(take, "take", mapped().take, {{"max", "1"}}, {{"max", "1"}});
    const std::string shown = here().explain(take.back().text, take.back().with);
    EXPECT_EQ(take.back().name, "take.one");
    const auto complaint = here().complaint(shown, false);
    EXPECT_FALSE(complaint) << *complaint << "\n" << shown;
    EXPECT_EQ(queue_->complete(queue_->take(1).at(0).receipt), tableq::settle_result::applied);
  }
}

TEST_P(mapped_plan, of_all_statements_is_constant_over_a_million_rows) {
  make("BIGINT", {.waiting = tableq::flag("IsProcessed"),
                  .done = tableq::null_time("SentAt"),
                  .completed = tableq::on_complete::mark});
  expect_constant({", IsProcessed, SentAt", ", 1, 5"},
                  {", IsProcessed, LeaseUntil", ", 1, 4102444800000 + n"});
}

TEST_P(mapped_plan, of_all_statements_is_constant_where_the_key_may_be_null) {
  make("BIGINT",
       {.waiting = tableq::flag("IsProcessed"),
        .done = tableq::null_time("SentAt"),
        .completed = tableq::on_complete::mark},
       "UNIQUE");
  expect_constant({", IsProcessed, SentAt", ", 1, 5"},
                  {", IsProcessed, LeaseUntil", ", 1, 4102444800000 + n"});
}

TEST_P(mapped_plan, of_all_statements_is_constant_where_times_tell_what_waits) {
  make(here().types().time,
       {.waiting = tableq::null_time("StartedAt"), .completed = tableq::on_complete::leave});
  expect_constant({", StartedAt", ", 5"},
                  {", StartedAt, LeaseUntil", ", 5, '2100-01-01 00:00:00'"});
}

TEST_P(mapped_plan, of_all_statements_is_constant_where_texts_tell_what_waits) {
  make("BIGINT",
       {.waiting = tableq::states("State", {.waiting = "new", .taken = "busy", .done = "done"}),
        .completed = tableq::on_complete::mark});
  expect_constant({", State", ", 'done'"}, {", State, LeaseUntil", ", 'busy', 4102444800000 + n"});
}

}  // namespace
