#include <gtest/gtest.h>

#include <utility>

#include <tableq/unstable/dialect.hpp>

#include "upgrade/old_tables.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::testing::moment;
using tableq::testing::trouble;

/// A dialect may have steps for any table: here a column more, for a database whose own steps
/// change no table yet.
class steps_of_a_dialect : public old_tables_test {
 protected:
  void SetUp() override {
    old_tables_test::SetUp();
    if (IsSkipped()) return;
    if (!can().cheap_sessions) GTEST_SKIP() << "the dialect here has steps of its own";
    make_old_tables();
    tableq::dialect changed = tableq::find_dialect(db().backend());
    original_ = changed.schemes.front();
    changed.name = "with_steps";
    changed.schemes = {"withsteps"};
    changed.products.clear();
    changed.steps = {{"2/fifo",
                      "-- name: 1.transaction\n"
                      "ALTER TABLE main.{table} ADD COLUMN note TEXT;\n"
                      "CREATE INDEX {index:note} ON {table} (note);\n"
                      "UPDATE main.{table} SET note = 'done; with it';\n"},
                     {"2/fifo.down", "-- name: 1.alone\nDROP INDEX IF EXISTS {index:note};\n"}};
    dialect_ = changed;
    tableq::register_dialect(std::move(changed));
  }
  [[nodiscard]] std::string url() {
    std::string out = here().url();
    return out.replace(0, original_.size(), "withsteps");
  }
  tableq::dialect dialect_;

 private:
  std::string original_;
};
TABLEQ_ON_BACKENDS(steps_of_a_dialect, distinct_backends);

TEST_P(steps_of_a_dialect, run_part_by_part_and_once) {
  auto db = tableq::database::open(url());
  const auto done = db.migrate({.queues = {"line"}});
  ASSERT_EQ(texts_of(done), (std::vector<std::string>{"line 1 2", "line 2 3"}));
  EXPECT_TRUE(
      contains(done.front().sql, "BEGIN IMMEDIATE;\nALTER TABLE main.\"line\" ADD COLUMN note"))
      << done.front().sql;
  EXPECT_TRUE(contains(done.front().sql, "'done; with it';\nWITH unused")) << done.front().sql;
  EXPECT_EQ(here().sql("SELECT DISTINCT note FROM line"), (rows{{"done; with it"}}));
  EXPECT_TRUE(db.migrate({.queues = {"line"}}).empty());
  EXPECT_EQ(db.fifo("line").dequeue()->payload, "l1");
  EXPECT_EQ(texts_of(db.migrate({.queues = {"line"}, .to = 1})),
            (std::vector<std::string>{"line 3 2", "line 2 1"}));
}

TEST_P(steps_of_a_dialect, leave_nothing_of_a_transaction_that_was_cut) {
  for (const std::size_t n : {1U, 2U, 3U}) {
    tableq::testing::faults faults;
    auto cut = faults.open(url());
    faults.fail("create", {.what = trouble::lost_connection, .when = moment::after}, n);
    EXPECT_CODE(connection_lost, cut.migrate({.queues = {"line"}, .wait = 0ms}));
    EXPECT_FALSE(here().takes("SELECT note FROM line"));
  }
}

TEST_P(steps_of_a_dialect, that_would_lose_something_go_one_way) {
  tableq::dialect one_way = dialect_;
  one_way.steps.erase("2/fifo.down");
  tableq::register_dialect(one_way);
  auto db = tableq::database::open(url());
  db.migrate();
  EXPECT_CODE(unsupported, db.migrate({.to = 1}));
  EXPECT_EQ(layouts().at("tableq"), "3") << "nothing was done";
}

TEST_P(steps_of_a_dialect, have_parts_with_a_number_and_a_way) {
  for (const char* text : {"", "-- name: first\nSELECT 1", "-- name: 1.alone 2\nSELECT 1",
                           "-- name: 1.alone\nSELECT {nothing}"}) {
    tableq::dialect wrong = dialect_;
    wrong.steps["2/fifo"] = text;
    EXPECT_CODE(invalid_argument, tableq::register_dialect(wrong));
  }
}

}  // namespace
