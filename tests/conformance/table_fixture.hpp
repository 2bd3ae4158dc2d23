#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/fixture.hpp"

namespace tableq_test {

/// Tests of a table that an application has made, by a clock that the test sets. The table has a
/// column for each role that a mapping can give one.
class on_own_table : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    here().sql(
        "CREATE TABLE EmailRequests (Id INTEGER NOT NULL PRIMARY KEY, Address VARCHAR(200) NOT "
        "NULL, "
        "Subject VARCHAR(200), IsProcessed INTEGER DEFAULT 0 NOT NULL, TakenAt BIGINT, "
        "LeaseUntil BIGINT, Fence BIGINT DEFAULT 0 NOT NULL, RetryCount INTEGER DEFAULT 0 NOT "
        "NULL, "
        "LastError VARCHAR(2000), DueAt BIGINT, Importance INTEGER DEFAULT 0 NOT NULL, "
        "SentAt BIGINT, Errors " +
        here().types().text + ")");
  }

  /// A mapping with all roles.
  static tableq::table_mapping whole() {
    return {.key = {"Id"},
            .waiting = tableq::flag("IsProcessed"),
            .columns = {"Id", "Address", "Subject"},
            .taken_at = "TakenAt",
            .lease_until = "LeaseUntil",
            .fence = "Fence",
            .attempts = "RetryCount",
            .last_error = "LastError",
            .due_at = "DueAt",
            .priority = "Importance",
            .max_attempts = 3,
            .lease = std::chrono::seconds(30)};
  }
  /// One with the fewest.
  static tableq::table_mapping least() {
    return {.key = {"Id"}, .waiting = tableq::flag("IsProcessed")};
  }

  tableq::table_queue emails(const tableq::table_mapping& mapping = whole()) {
    return db_with_clock().table("EmailRequests", mapping);
  }

  /// As the application does it.
  void request(std::int64_t id, const std::string& more_names = {},
               const std::string& more_values = {}) {
    here().sql("INSERT INTO EmailRequests (Id, Address" + more_names + ") VALUES (" +
               std::to_string(id) + ", 'a" + std::to_string(id) + "@b.example'" + more_values +
               ")");
  }
  void requests(std::int64_t count) {
    for (std::int64_t id = 1; id <= count; ++id) request(id);
  }

  /// The value of a column of one row, as text.
  std::optional<std::string> held(std::int64_t id, const std::string& column) {
    const auto found =
        here().sql("SELECT " + column + " FROM EmailRequests WHERE Id = " + std::to_string(id));
    if (found.empty()) throw std::runtime_error("the row is gone");
    return found.at(0).at(0);
  }
  std::string count(const std::string& where = "1 = 1") {
    return here().sql("SELECT COUNT(*) FROM EmailRequests WHERE " + where).at(0).at(0).value();
  }

  static tableq::delivery take_one(tableq::table_queue& from) {
    auto taken = from.take_one();
    if (!taken) throw std::runtime_error("nothing waited");
    return *std::move(taken);
  }
  static std::vector<std::int64_t> ids_of(const std::vector<tableq::delivery>& taken) {
    std::vector<std::int64_t> out;
    for (const auto& each : taken) out.push_back(each.row.get<std::int64_t>("Id"));
    return out;
  }
};

}  // namespace tableq_test
