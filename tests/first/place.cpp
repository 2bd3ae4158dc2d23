#include "first/place.hpp"

#include "support/text.hpp"

namespace tableq_test::first {

namespace {

bool told_yes(sqlserver_client& client, const std::string& question) {
  const rows told = client.run("SELECT " + question + " AS yes_or_no");
  return !told.empty() && told.at(0).at(0) == "1";
}

}  // namespace

std::atomic<bool> interrupted{false};

tableq::database place::open(std::chrono::milliseconds patience) const {
  return tableq::database::open(at.url(), {.schema_name = schema, .retry_for = patience});
}

void create_queues(report& to, const place& on) {
  on.client().run("CREATE SCHEMA [" + on.schema + "]");
  tableq::database db = on.open();
  const tableq::order_options strict{.ordering = tableq::ordering::strict};
  to.attempt("heap", [&] { static_cast<void>(db.heap("heap")); });
  to.attempt("fifo", [&] { static_cast<void>(db.fifo("fifo")); });
  to.attempt("lifo", [&] { static_cast<void>(db.lifo("lifo")); });
  to.attempt("pending", [&] { static_cast<void>(db.pending("pending")); });
  to.attempt("claim", [&] { static_cast<void>(db.claim("claim")); });
  to.attempt("strict_fifo", [&] { static_cast<void>(db.fifo("strict_fifo", strict)); });
  to.attempt("strict_lifo", [&] { static_cast<void>(db.lifo("strict_lifo", strict)); });
  to.attempt("the index for limits", [&] { db.claim("claim").set_limits({.concurrency = 100}); });
  to.attempt("no limits", [&] { db.claim("claim").set_limits({}); });
  to.note("queues: " + std::to_string(db.queues().size()));
}

void report_doctor(report& to, const place& on) {
  for (const tableq::finding& each : on.open().inspect()) {
    const bool good = each.severity == tableq::finding::level::ok;
    const std::string line = each.subject + ": " + each.what;
    if (good) {
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
  const bool gone = told_yes(client, "CASE WHEN SCHEMA_ID(" + schema + ") IS NULL THEN 1 END");
  if (gone) {
    to.note("the schema is dropped");
  } else {
    to.finding("the schema " + on.schema + " is left: drop its tables and then the schema");
  }
}

bool may_create_databases(const place& on) {
  sqlserver_client client = on.client();
  return told_yes(client,
                  "CASE WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) <> 5"
                  " THEN HAS_PERMS_BY_NAME(NULL, NULL, 'CREATE ANY DATABASE') END");
}

}  // namespace tableq_test::first
