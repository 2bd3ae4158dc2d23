#include "first/place.hpp"

#include "support/text.hpp"

namespace tableq_test::first {

std::atomic<bool> interrupted{false};

tableq::database place::open(std::chrono::milliseconds patience,
                             std::shared_ptr<tableq::observer> watching) const {
  return tableq::database::open(
      at.url(), {.schema_name = schema, .retry_for = patience, .observer = std::move(watching)});
}

void create_queues(report& to, const place& on) {
  on.client().run("CREATE SCHEMA [" + on.schema + "]");
  tableq::database db = on.open();
  const auto make = [&](const char* name, const std::function<void()>& part) {
    to.attempt(std::string("create ") + name, part);
  };
  make("heap", [&] { static_cast<void>(db.heap("heap")); });
  make("fifo", [&] { static_cast<void>(db.fifo("fifo")); });
  make("lifo", [&] { static_cast<void>(db.lifo("lifo")); });
  make("pending", [&] { static_cast<void>(db.pending("pending")); });
  make("claim", [&] { static_cast<void>(db.claim("claim")); });
  make("strict_fifo",
       [&] { static_cast<void>(db.fifo("strict_fifo", {.ordering = tableq::ordering::strict})); });
  make("strict_lifo",
       [&] { static_cast<void>(db.lifo("strict_lifo", {.ordering = tableq::ordering::strict})); });
  make("the index for limits", [&] { db.claim("claim").set_limits({.concurrency = 100}); });
  make("no limits", [&] { db.claim("claim").set_limits({}); });
  to.note("queues: " + std::to_string(db.queues().size()));
}

void report_doctor(report& to, const place& on) {
  for (const tableq::finding& each : on.open().inspect()) {
    const std::string line = each.subject + ": " + each.what;
    if (each.severity == tableq::finding::level::ok) {
      to.note(line);
    } else {
      to.finding(line + "; " + each.fix);
    }
  }
}

void clean_up(report& to, const place& on) {
  sqlserver_client client = on.client();
  const std::string schema = "N'" + on.schema + "'";
  client.run(
      "DECLARE @all nvarchar(max) = N'';"
      " SELECT @all += N'DROP TABLE ' + QUOTENAME(" +
      schema + ") + N'.' + QUOTENAME(name) + N';' FROM sys.tables WHERE schema_id = SCHEMA_ID(" +
      schema + "); EXEC (@all); IF SCHEMA_ID(" + schema + ") IS NOT NULL EXEC (N'DROP SCHEMA [" +
      on.schema + "]')");
  const auto left =
      client.run("SELECT COUNT(*) AS schemas_left FROM sys.schemas WHERE name = " + schema);
  if (left.empty() || left.at(0).at(0) != "0") {
    to.finding("the schema " + on.schema + " is left: drop its tables and then the schema");
  } else {
    to.note("the schema is dropped");
  }
}

bool may_create_databases(const place& on) {
  const auto told = on.client().run(
      "SELECT CASE WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) <> 5"
      " AND HAS_PERMS_BY_NAME(NULL, NULL, 'CREATE ANY DATABASE') = 1"
      " THEN 1 ELSE 0 END AS may_create");
  return !told.empty() && told.at(0).at(0) == "1";
}

}  // namespace tableq_test::first
