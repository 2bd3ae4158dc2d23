#include <array>
#include <iostream>

#include "first/place.hpp"
#include "support/odbc_client.hpp"

namespace tableq_test::first {
namespace {

/// Each setting that decides how texts and locks behave. Names of servers and databases are not
/// among them.
constexpr const char* facts =
    "SELECT N'version ' + CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(200)),"
    " N'level ' + CAST(SERVERPROPERTY('ProductLevel') AS nvarchar(200)),"
    " N'update ' + CAST(SERVERPROPERTY('ProductUpdateLevel') AS nvarchar(200)),"
    " N'edition ' + CAST(SERVERPROPERTY('Edition') AS nvarchar(200)),"
    " N'engine edition ' + CAST(SERVERPROPERTY('EngineEdition') AS nvarchar(200)),"
    " N'collation of the server ' + CAST(SERVERPROPERTY('Collation') AS nvarchar(200))";

/// The same of the database and the session.
constexpr const char* settings =
    "SELECT N'collation ' + d.collation_name,"
    " N'optimized locking ' + CAST(DATABASEPROPERTYEX(d.name, 'IsOptimizedLockingOn') AS "
    "nvarchar(9)),"
    " N'updateability ' + CAST(DATABASEPROPERTYEX(d.name, 'Updateability') AS nvarchar(99)),"
    " N'compatibility level ' + CAST(d.compatibility_level AS nvarchar(9)),"
    " N'read committed snapshot ' + CAST(d.is_read_committed_snapshot_on AS nvarchar(9)),"
    " N'snapshot isolation ' + d.snapshot_isolation_state_desc,"
    " N'delayed durability ' + d.delayed_durability_desc, N'recovery ' + d.recovery_model_desc,"
    " N'isolation level ' + CAST(s.transaction_isolation_level AS nvarchar(9)),"
    " N'ANSI_NULLS ' + CAST(s.ansi_nulls AS nvarchar(9)),"
    " N'QUOTED_IDENTIFIER ' + CAST(s.quoted_identifier AS nvarchar(9)),"
    " N'ARITHABORT ' + CAST(s.arithabort AS nvarchar(9))"
    " FROM sys.databases AS d CROSS JOIN sys.dm_exec_sessions AS s"
    " WHERE d.database_id = DB_ID() AND s.session_id = @@SPID";

}  // namespace

void hide_names(report& in, const place& on) {
  try {
    const rows told = on.client().run(
        "SELECT DB_NAME(), SUSER_SNAME(), USER_NAME(), @@SERVERNAME, HOST_NAME(),"
        " CAST(SERVERPROPERTY('MachineName') AS nvarchar(128)) AS names_to_hide");
    constexpr std::array names{"<database>", "<user>", "<user>", "<host>", "<client>", "<host>"};
    for (const row& each : told) {
      for (std::size_t i = 0; i < names.size() && i < each.size(); ++i) {
        const std::string name = each[i].value_or("");
        // The schema and the user of owners: in every text, and no secret.
        if (name != "dbo") in.hide(name, names.at(i));
      }
    }
  } catch (const std::exception&) {
    // Without a session there are no messages of the server either; the step `connection` tells
    // why.
  }
}

bool report_connection(report& to, const place& on) {
  using namespace std::chrono_literals;
  for (const auto& [key, value] : on.at.settings) to.note(key + " = " + value);
  const auto until = std::chrono::steady_clock::now() + 2min;
  for (auto patience = 0s;; patience = 5s) {
    try {
      static_cast<void>(tableq::database::open(on.at.url(), {.retry_for = patience}));
      break;
    } catch (const tableq::error& refused) {
      const bool starting = refused.code() == tableq::errc::busy || refused.sqlstate() == "HYT00";
      if (!starting || interrupted || std::chrono::steady_clock::now() > until) {
        to.finding("connect: " + with_number(refused));
        return false;
      }
      std::cerr << "no login yet, the database may be starting: trying again, two minutes in all\n";
    }
  }
  hide_names(to, on);
  const odbc_client client(on.at.connection_string());
  to.note("driver " + client.information(SQL_DRIVER_NAME) + " " +
          client.information(SQL_DRIVER_VER));
  to.note("driver manager " + client.information(SQL_DM_VER));
  to.note("product " + client.information(SQL_DBMS_NAME) + " " + client.information(SQL_DBMS_VER));
  return true;
}

void report_server(report& to, const place& on) {
  for (const char* text : {facts, settings}) {
    to.attempt("settings", [&] {
      for (const row& each : on.client().run(text)) {
        for (const auto& fact : each) to.note(fact.value_or("unknown"));
      }
    });
  }
}

}  // namespace tableq_test::first
