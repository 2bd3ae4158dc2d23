#include <gtest/gtest.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <cstddef>
#include <string>
#include <string_view>

#include <tableq/tableq.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "drivers/session.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using tableq::core::statement;
using tableq::drivers::most_known_texts;

const tableq::core::contract& next_due = contract_of(statement::pending_next_due);

class known_texts_of_sqlite : public tableq_test::on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, known_texts_of_sqlite,
                         testing::Values(&tableq_test::sqlite_file_backend()),
                         tableq_test::backend_name);

std::size_t prepared_in(tableq::core::connection& session) {
  auto* backend =
      static_cast<soci::sqlite3_session_backend*>(session.session().soci->get_backend());
  std::size_t out = 0;
  for (auto* each = sqlite_api::sqlite3_next_stmt(backend->conn_, nullptr); each != nullptr;
       each = sqlite_api::sqlite3_next_stmt(backend->conn_, each)) {
    ++out;
  }
  return out;
}

bool has_prepared(tableq::core::connection& session, std::string_view part) {
  auto* backend =
      static_cast<soci::sqlite3_session_backend*>(session.session().soci->get_backend());
  bool out = false;
  for (auto* each = sqlite_api::sqlite3_next_stmt(backend->conn_, nullptr); each != nullptr;
       each = sqlite_api::sqlite3_next_stmt(backend->conn_, each)) {
    out = out || tableq_test::contains(sqlite_api::sqlite3_sql(each), part);
  }
  return out;
}

TEST_P(known_texts_of_sqlite, do_not_grow_with_the_number_of_queues) {
  for (const char* name : {"first", "used", "others"}) static_cast<void>(db().pending(name));
  const auto driver = tableq::core::make_driver(here().url());
  const auto session = driver->connect();
  session->execute(next_due, tableq::core::names_for({}, "first"), {}, {});
  tableq::core::table_names others = tableq::core::names_for({}, "others");
  for (std::size_t i = 0; i < most_known_texts + 10; ++i) {
    session->execute(next_due, tableq::core::names_for({}, "used"), {}, {});
    others.slot = i;  // as of another queue
    session->execute(next_due, others, {}, {});
    // All queues share a text that names no table.
    session->execute(contract_of(statement::catalog_lock),
                     tableq::core::names_for({}, "queue" + std::to_string(i)), {}, {});
  }
  EXPECT_TRUE(has_prepared(*session, "used"));
  EXPECT_FALSE(has_prepared(*session, "first"));
  EXPECT_LE(prepared_in(*session), most_known_texts);
  EXPECT_GT(prepared_in(*session), most_known_texts / 2);
}

TEST_P(known_texts_of_sqlite, are_told_apart_when_two_names_have_one_hash) {
  db().pending("mail").enqueue("x");
  static_cast<void>(db().pending("empty"));
  const auto driver = tableq::core::make_driver(here().url());
  const auto session = driver->connect();
  const auto mail = tableq::core::names_for({}, "mail");
  auto empty = tableq::core::names_for({}, "empty");
  empty.slot = mail.slot;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(session->execute(next_due, mail, {}, {}).size(), 1U);
    EXPECT_EQ(session->execute(next_due, empty, {}, {}).size(), 0U);
  }
}

}  // namespace
