#include <array>

#include "first/place.hpp"
#include "support/odbc_client.hpp"

namespace tableq_test::first {
namespace {

/// Each setting that decides how texts and locks behave. Names of servers and databases are not
/// among them.
constexpr const char* facts =
    "SELECT f.name, f.value FROM (VALUES"
    " (1, N'version', CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(200))),"
    " (2, N'level', CAST(SERVERPROPERTY('ProductLevel') AS nvarchar(200))),"
    " (3, N'update', CAST(SERVERPROPERTY('ProductUpdateLevel') AS nvarchar(200))),"
    " (4, N'edition', CAST(SERVERPROPERTY('Edition') AS nvarchar(200))),"
    " (5, N'engine edition', CAST(SERVERPROPERTY('EngineEdition') AS nvarchar(200))),"
    " (6, N'collation of the server', CAST(SERVERPROPERTY('Collation') AS nvarchar(200))),"
    " (7, N'collation of the database', CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS "
    "nvarchar(200))),"
    " (8, N'optimized locking',"
    " CAST(DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn') AS nvarchar(200))),"
    " (9, N'updateability', CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(200)))"
    ") AS f (place, name, value) ORDER BY f.place";

constexpr const char* settings =
    "SELECT N'compatibility level ' + CAST(compatibility_level AS nvarchar(20))"
    " + N', read committed snapshot ' + CAST(is_read_committed_snapshot_on AS nvarchar(20))"
    " + N', snapshot isolation ' + snapshot_isolation_state_desc"
    " + N', delayed durability ' + delayed_durability_desc"
    " + N', recovery ' + recovery_model_desc FROM sys.databases WHERE database_id = DB_ID()";

constexpr const char* session_settings =
    "SELECT N'isolation level ' + CAST(transaction_isolation_level AS nvarchar(20))"
    " + N', ANSI_NULLS ' + CAST(ansi_nulls AS nvarchar(20))"
    " + N', QUOTED_IDENTIFIER ' + CAST(quoted_identifier AS nvarchar(20))"
    " + N', ARITHABORT ' + CAST(arithabort AS nvarchar(20))"
    " FROM sys.dm_exec_sessions WHERE session_id = @@SPID";

std::string field(const row& of, std::size_t at) {
  return at < of.size() ? of[at].value_or("NULL") : "nothing";
}

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
  for (const auto& [key, value] : on.at.settings) to.note(key + " = " + value);
  try {
    static_cast<void>(tableq::database::open(on.at.url(), {.retry_for = {}}));
  } catch (const tableq::error& refused) {
    to.finding("connect: " + with_number(refused));
    return false;
  }
  const odbc_client client(on.at.connection_string());
  to.note("driver " + client.information(SQL_DRIVER_NAME) + " " +
          client.information(SQL_DRIVER_VER));
  to.note("driver manager " + client.information(SQL_DM_VER));
  to.note("product " + client.information(SQL_DBMS_NAME) + " " + client.information(SQL_DBMS_VER));
  return true;
}

bool may_answer_later(const place& on) {
  try {
    static_cast<void>(tableq::database::open(on.at.url(), {.retry_for = {}}));
    return false;
  } catch (const tableq::error& refused) {
    return refused.code() == tableq::errc::busy || refused.sqlstate() == "HYT00";
  }
}

void report_server(report& to, const place& on) {
  sqlserver_client client = on.client();
  to.attempt("facts", [&] {
    for (const row& each : client.run(facts)) to.note(field(each, 0) + ": " + field(each, 1));
  });
  for (const char* text : {settings, session_settings}) {
    to.attempt("settings", [&] {
      for (const row& each : client.run(text)) to.note(field(each, 0));
    });
  }
}

}  // namespace tableq_test::first
