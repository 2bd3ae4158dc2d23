#include "support/fixture.hpp"

#include <tableq/libpq.hpp>
#include <tableq/odbc.hpp>
#include <tableq/soci.hpp>
#include <tableq/sqlite.hpp>

#include <cstdlib>
#include <string_view>

#include "support/soci_sessions.hpp"

namespace tableq_test {

bool combining() {
  const char* const given = std::getenv("TABLEQ_TEST_COMBINING");
  return given == nullptr || std::string_view(given) != "off";
}

void ground::prepare(const backend& on) {
  can_ = on.can();
  if (const auto reason = on.missing()) {
    if (required(on)) FAIL() << on.name() << " is required by TABLEQ_TEST_REQUIRE, but " << *reason;
    GTEST_SKIP() << *reason;
  }
  place_ = on.fresh();
}

tableq::database& ground::db() {
  if (!database_) database_ = open();
  return *database_;
}

tableq::database& ground::db_with_clock() {
  if (!database_) database_ = open({.clock = clock.source()});
  return *database_;
}

tableq::database ground::open(tableq::open_options options) {
  if (!combining()) options.shortcuts.combining = false;
  if (faults_) return faults_->open(place_->url(), options);
  return tableq::database::open(place_->url(), options);
}

namespace {

template <class... Mode>
tableq::enlistment enlist_handle(const tableq::database& with, soci::session& session,
                                 Mode... mode) {
  const std::string through =
      session.get_backend() == nullptr ? "closed" : session.get_backend_name();
#if defined(TABLEQ_WITH_POSTGRESQL)
  if (through == "postgresql") {
    return tableq::enlist(with, static_cast<pg_conn*>(postgresql_handle(session)), mode...);
  }
#endif
#if defined(TABLEQ_WITH_SQLITE)
  if (through == "sqlite3") {
    return tableq::enlist(with, static_cast<sqlite3*>(sqlite_handle(session)), mode...);
  }
#endif
#if defined(TABLEQ_WITH_ODBC)
  if (through == "odbc") return tableq::enlist_odbc(with, odbc_handle(session), mode...);
#endif
  return tableq::enlist_odbc(with, nullptr, mode...);
}

}  // namespace

tableq::enlistment ground::enlist(const tableq::database& with, soci::session& session,
                                  const tableq::enlist_options& options) {
  return can_.handles ? enlist_handle(with, session, options)
                      : tableq::enlist(with, session, options);
}

std::string backend_name(const testing::TestParamInfo<const backend*>& info) {
  return info.param->name();
}

std::string backend_and_kind(
    const testing::TestParamInfo<std::tuple<const backend*, tableq::kind>>& info) {
  return std::get<0>(info.param)->name() + "_" +
         std::string(tableq::to_string(std::get<1>(info.param)));
}

const std::vector<tableq::kind>& all_kinds() {
  static const std::vector<tableq::kind> all = {tableq::kind::heap, tableq::kind::fifo,
                                                tableq::kind::lifo, tableq::kind::pending,
                                                tableq::kind::claim};
  return all;
}

}  // namespace tableq_test
