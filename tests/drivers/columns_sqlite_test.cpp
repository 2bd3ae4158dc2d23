#include <sqlite3.h>

#include <gtest/gtest.h>

#include <memory>

#include "core/input/identifier.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"
#include "drivers/blocks.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/every_text.hpp"
#include "drivers/text.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using tableq::core::contract;

struct sqlite_closer {
  void operator()(sqlite3* open) const noexcept { sqlite3_close_v2(open); }
  void operator()(sqlite3_stmt* prepared) const noexcept { sqlite3_finalize(prepared); }
};

/// SQLite's descriptions of the texts, compared with their contracts.
class columns_of_sqlite : public tableq_test::on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    tableq_test::define_all(here().url());
    sqlite3* opened = nullptr;
    ASSERT_EQ(sqlite3_open(here().url().substr(std::string("sqlite://").size()).c_str(), &opened),
              SQLITE_OK);
    handle_.reset(opened);
  }

  [[nodiscard]] std::unique_ptr<sqlite3_stmt, sqlite_closer> prepare(const std::string& sql) const {
    sqlite3_stmt* prepared = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &prepared, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle_.get());
    return std::unique_ptr<sqlite3_stmt, sqlite_closer>(prepared);
  }

 private:
  std::unique_ptr<sqlite3, sqlite_closer> handle_;
};
INSTANTIATE_TEST_SUITE_P(, columns_of_sqlite, testing::Values(&tableq_test::sqlite_file_backend()),
                         tableq_test::backend_name);

/// The contract of a block's text; null for none.
const contract* contract_of(std::string_view block) {
  for (const std::string_view ending :
       {tableq::drivers::for_payloads, tableq::drivers::for_mixed, tableq::drivers::for_one,
        tableq::drivers::for_next, tableq::drivers::for_query}) {
    if (block.ends_with(ending)) block.remove_suffix(ending.size());
  }
  for (const contract& of : tableq::core::contracts()) {
    if (of.name == block) return &of;
  }
  return nullptr;
}

TEST_P(columns_of_sqlite, and_parameters_are_those_of_the_contracts) {
  const tableq::dialect definition = tableq::find_dialect("sqlite");
  const auto blocks = tableq::drivers::split_blocks(definition.statements);
  for (const contract& of : tableq::core::contracts()) {
    EXPECT_TRUE(blocks.contains(text_name(of)) || !of.needed_with(definition.capabilities))
        << of.name;
  }
  for (const auto& [name, filled] : tableq_test::every_text(definition)) {
    SCOPED_TRACE(name);
    const contract* of = contract_of(name);
    ASSERT_NE(of, nullptr);
    const bool next =
        (name + '.').find(std::string(tableq::drivers::for_next) + '.') != std::string::npos;
    const bool rows = !next && filled.find("{items:") != std::string::npos;
    const auto made =
        tableq::drivers::compile(filled, *of,
                                 {.markers = tableq::drivers::marker::numbered_question,
                                  .batches = rows ? tableq::batching::rows : definition.batches});
    auto prepared = prepare(made.sql);
    ASSERT_TRUE(prepared);
    EXPECT_EQ(sqlite3_bind_parameter_count(prepared.get()),
              static_cast<int>(made.parameters.size()));
    const bool query = name.ends_with(tableq::drivers::for_query);
    EXPECT_EQ(sqlite3_stmt_readonly(prepared.get()) == 0, of->writes && !query);
    if (next) {
      EXPECT_EQ(sqlite3_column_count(prepared.get()), 0);
      continue;
    }
    if (rows) {
      EXPECT_EQ(sqlite3_step(prepared.get()), SQLITE_DONE) << "a place without an item has a row";
    }
    if (of->columns.empty()) continue;
    const int before = rows ? 1 : 0;  // the number of the item
    ASSERT_EQ(sqlite3_column_count(prepared.get()), before + static_cast<int>(of->columns.size()));
    for (std::size_t i = 0; i < of->columns.size(); ++i) {
      EXPECT_EQ(sqlite3_column_name(prepared.get(), before + static_cast<int>(i)),
                of->columns[i].name);
    }
  }
}

/// A column of SQLite may hold a value of any type.
class rules_of_sqlite : public tableq_test::on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, rules_of_sqlite, testing::Values(&tableq_test::sqlite_file_backend()),
                         tableq_test::backend_name);

TEST_P(rules_of_sqlite, whose_times_have_another_type_are_disabled_if_they_are_wrong) {
  auto jobs = db().fifo("jobs");
  auto rules = db().schedules();
  rules.add({.name = "odd", .queue = "jobs", .cron = "@daily", .payload = "x"});
  here().sql("UPDATE tableq_schedules SET cron = CAST('0 25 * * *' AS BLOB), due_at = NULL");
  auto again = open();
  EXPECT_FALSE(again.fifo("jobs").dequeue());
  const auto found = again.schedules().find("odd");
  EXPECT_FALSE(found->enabled);
  EXPECT_NE(found->problem.find("character 3"), std::string::npos) << found->problem;
}

}  // namespace
