#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include <tableq/tableq.hpp>

#include "first/report.hpp"
#include "support/sqlserver_client.hpp"

namespace tableq_test::first {

/// The server of the run, and the one schema that everything is in.
struct place {
  sqlserver_address at;
  std::string schema;
  std::chrono::milliseconds time;  ///< Of the run: two of them for each row of a layout.

  [[nodiscard]] std::string name_of(const std::string& table) const {
    return "[" + schema + "].[" + table + "]";
  }
  [[nodiscard]] sqlserver_client client() const { return sqlserver_client(at.connection_string()); }
  /// @param patience for repeats: what fails for good must not cost minutes for each statement.
  [[nodiscard]] tableq::database open(
      std::chrono::milliseconds patience = std::chrono::seconds(1)) const;
};

/// Set by SIGINT and SIGTERM: long parts end early.
extern std::atomic<bool> interrupted;

/// Asks the server for the names that messages may have although the address has not, and hides
/// them.
void hide_names(report& in, const place& on);

// The parts of a run, in their order. Each reports what it finds, and may throw.
/// Asks for two minutes while a server or a database is starting; one of Azure that was paused
/// needs up to a minute. @return false: no server answered, and a finding says why.
[[nodiscard]] bool report_connection(report& to, const place& on);
void report_server(report& to, const place& on);
void create_queues(report& to, const place& on);
void report_doctor(report& to, const place& on);
void run_statements(report& to, const place& on);
/// Many readers on a clustered table, and on a heap with an index: latch waits, ghosts, pages read.
void compare_layouts(report& to, const place& on);

/// Drops the schema with all that is in it, also of an interrupted run.
void clean_up(report& to, const place& on);
/// Whether the test suites can have databases of their own.
bool may_create_databases(const place& on);

}  // namespace tableq_test::first
