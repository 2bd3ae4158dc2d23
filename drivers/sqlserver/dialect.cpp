#include "drivers/dialects.hpp"
#include "drivers/sqlserver/sqlserver_sql.hpp"
#include "drivers/transport/odbc_address.hpp"
#include "drivers/transport/odbc_tds.hpp"

namespace tableq::inline v0::drivers {
namespace {

endpoint resolve(const dialect& self, const connection_url& url) {
  const odbc::tds_address address = odbc::resolve_tds(url, self.name, odbc::installed_drivers());
  return {.connect = address.connect,
          .statement_timeout = address.statement_timeout,
          .capabilities = self.capabilities};
}

}  // namespace

dialect make_sqlserver_dialect() {
  return {
      .name = "sqlserver",
      .schemes = {"sqlserver", "mssql"},
      .transport = "odbc",
      .products = {"Microsoft SQL Server"},
      .statements = sqlserver_sql::statements,
      .ddl = sqlserver_sql::ddl(),
      .steps = sqlserver_sql::steps(),
      .tables = sqlserver_sql::tables,
      .quote_open = '[',
      .quote_close = ']',
      .wide_text = true,
      .setup = {sqlserver_sql::setup},
      .begin = "BEGIN TRANSACTION",
      .begin_in_scripts = "SET XACT_ABORT ON;\nBEGIN TRANSACTION",
      // After a deadlock the transaction has ended, and a plain ROLLBACK would fail.
      .rollback = "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION",
      .savepoint = sqlserver_sql::savepoint,
      .release = "",  // Most errors doom the transaction, which then has no savepoints.
      .undo = "IF XACT_STATE() = 1 ROLLBACK TRANSACTION tableq_operation_{depth}",
      .transaction_state = sqlserver_sql::transaction_state,
      .read_only_state = sqlserver_sql::read_only_state,
      .batches = batching::rows,
      .row_counts = {1, 4, 16, 64, 180, 256},  // The server makes one plan for each.
      // A statement has 2,100 parameters at most; some are left for the shared ones.
      .most_item_values = 2000,
      .plan_hints = {", INDEX ({table:key})", ", INDEX ({table:done})", ", INDEX ({table:group})",
                     ", INDEX ({table:turns})", ", FORCESEEK", "\nOPTION (FORCE ORDER, LOOP JOIN)",
                     "LOOP JOIN, "},
      .plan_failures = {8622, 8180},
      .capabilities = {.strict_needs_lock = true,  // an id is drawn before its row is locked
                       .triggers_hide_rows = true,
                       .caution = "this driver was not run on a SQL Server yet",
                       .caution_remedy = "run tableq's tests on yours first; docs/sqlserver.md "
                                         "says how"},
      .resolve = resolve,
      .classify = classify_sqlserver,
  };
}

}  // namespace tableq::inline v0::drivers
