#include <gtest/gtest.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <array>
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

const tableq::core::contract& table_exists = contract_of(statement::table_exists);

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
  const auto driver = tableq::core::make_driver(here().url());
  const auto session = driver->connect();
  const std::array identity{tableq::core::value(std::int64_t{1})};
  for (std::size_t i = 0; i < most_known_texts + 10; ++i) {
    session->execute(table_exists, tableq::core::names_for({}, "used"), {}, {});
    session->execute(table_exists, tableq::core::names_for({}, "queue" + std::to_string(i)), {},
                     {});
    // All queues share a text that names no table.
    session->execute(contract_of(statement::queue_lock),
                     tableq::core::names_for({}, "queue" + std::to_string(i)), {}, identity);
  }
  EXPECT_TRUE(has_prepared(*session, "used"));
  EXPECT_FALSE(has_prepared(*session, "queue0\""));
  EXPECT_LE(prepared_in(*session), most_known_texts);
  EXPECT_GT(prepared_in(*session), most_known_texts / 2);
}

TEST_P(known_texts_of_sqlite, are_told_apart_when_two_names_have_one_hash) {
  auto db = tableq::database::open(here().url());
  const auto queue = db.fifo("mail");
  const auto driver = tableq::core::make_driver(here().url());
  const auto session = driver->connect();
  const auto mail = tableq::core::names_for({}, "mail");
  auto absent = tableq::core::names_for({}, "absent");
  absent.slot = mail.slot;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(session->execute(table_exists, mail, {}, {}).integer(0, 0), 1);
    EXPECT_EQ(session->execute(table_exists, absent, {}, {}).integer(0, 0), 0);
  }
}

}  // namespace
