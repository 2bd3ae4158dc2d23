#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "support/backends.hpp"
#include "support/soci_sessions.hpp"
#include "support/sqlserver_client.hpp"
#include "support/sqlserver_plan.hpp"
#include "support/text.hpp"

namespace tableq_test {
namespace {

constexpr const char* variable = "TABLEQ_TEST_SQLSERVER";

sqlserver_address server_address() {
  return sqlserver_address(std::getenv(variable));
}

/// Half of the tests, always the same ones.
bool in_one_half() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::uint32_t sum = 2166136261;
  if (test != nullptr) {
    for (const char c : std::string(test->test_suite_name()) + "." + test->name()) {
      sum = (sum ^ static_cast<unsigned char>(c)) * 16777619;
    }
  }
  return (sum >> 16U) % 2 == 1;
}

/// A separate database, because a login's default schema cannot be set for one session.
class database_place : public place {
 public:
  // The other constructor has created the database; an error here drops it.
  database_place() : database_place(server_address()) {
    const bool versions = says_yes(
        "SELECT CAST(is_read_committed_snapshot_on AS int) FROM sys.databases"
        " WHERE database_id = DB_ID()");
    administrator_.run("ALTER DATABASE " + name_ + " SET RECOVERY SIMPLE");
    administrator_.run("ALTER DATABASE " + name_ + " SET READ_COMMITTED_SNAPSHOT " +
                       (versions != in_one_half() ? "ON" : "OFF"));
  }
  database_place(const database_place&) = delete;
  database_place& operator=(const database_place&) = delete;
  ~database_place() override {
    try {
      client_.reset();
      administrator_.run("ALTER DATABASE " + name_ + " SET SINGLE_USER WITH ROLLBACK IMMEDIATE");
      administrator_.run("DROP DATABASE " + name_);
      for (const std::string& login : logins_) administrator_.run("DROP LOGIN " + login);
    } catch (const std::exception& failure) {
      // A destructor must not throw; leftovers are reported.
      std::fprintf(stderr, "left behind %s: %s\n", name_.c_str(), failure.what());
    }
  }

  std::string url() const override { return tableq_.url(); }
  std::string url_with(std::string_view key, std::string_view value) const override {
    sqlserver_address more = tableq_;
    more.settings[std::string(key)] = value;
    return more.url();
  }
  /// The sessions' own limit of 5 s: an address cannot set less.
  std::string impatient_url() const override { return url(); }
  std::vector<std::string> other_forms() const override {
    return {tableq_.url("mssql"), "odbc://" + tableq_.connection_string(),
            url_with("statement_timeout", "9s")};
  }
  std::vector<address_check> session_checks() const override {
    const auto setting = [](const std::string& column) {
      return "SELECT CAST(" + column +
             " AS varchar(128)) FROM sys.dm_exec_sessions WHERE session_id = @@SPID";
    };
    return {{url(), setting("transaction_isolation_level"), "2"},
            {url(), setting("lock_timeout"), "5000"},
            {url(), setting("text_size"), "2147483647"},
            {url(), setting("quoted_identifier"), "1"},
            {url(), setting("arithabort"), "1"},
            {url(), "SELECT CAST(DB_NAME() AS varchar(128))", name_},
            {url_with("application_name", "a b&c=d%/?"), setting("program_name"), "a b&c=d%/?"}};
  }
  std::vector<std::pair<std::string, std::string>> bad_settings() const override {
    return {{"encrypt", "maybe"},          {"trust_server_certificate", "perhaps"},
            {"statement_timeout", "soon"}, {"statement_timeout", "-1s"},
            {"statement_timeout", "0s"},   {"authentication", "guesswork"}};
  }
  std::optional<std::string> bad_url(bad_address which) const override {
    sqlserver_address bad = tableq_;
    if (which == bad_address::missing_database) {
      bad.database = name_ + "_missing";
      return bad.url();
    }
    if (which == bad_address::empty) return "sqlserver://";
    if (which != bad_address::unreachable_host && which != bad_address::wrong_password) return {};
    if (bad.user.empty()) return {};  // Logs in as the user of the process.
    bad.password = "canary-password";
    if (which == bad_address::unreachable_host) {
      bad.host = "127.0.0.1:1";
      bad.settings.erase("instance");
    }
    return bad.url();
  }

  rows sql(const std::string& text) override { return client().run(text); }
  std::unique_ptr<soci::session> session() const override {
    sqlserver_address own = tableq_;
    own.settings["application_name"] = "caller";
    return soci_odbc_session(own.connection_string());
  }

  std::optional<std::string> held() override {
    // The answer may arrive just before the server has ended the request.
    rows found;
    for (int i = 0; i < 100; ++i) {
      found = administrator_.run(
          "SELECT s.open_transaction_count, r.command, l.resource_type, l.request_mode"
          " FROM sys.dm_exec_sessions AS s"
          " LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id"
          " LEFT JOIN sys.dm_tran_locks AS l"
          " ON l.request_session_id = s.session_id AND l.resource_type <> N'DATABASE'"
          " WHERE s.program_name = N'" +
          name_ +
          "' AND (s.open_transaction_count > 0 OR r.session_id IS NOT NULL"
          " OR l.request_session_id IS NOT NULL)");
      if (found.empty()) return {};
    }
    std::string words;
    for (const row& each : found) {
      for (const auto& field : each) words += field.value_or("-") + " ";
    }
    return words;
  }
  std::optional<std::string> session_id_sql() const override {
    return "SELECT CAST(@@SPID AS varchar(10))";
  }
  void end_session(const std::string& id) override {
    // KILL only requests it.
    administrator_.run("KILL " + id);
    administrator_.run(
        "DECLARE @rounds int = 0; WHILE @rounds < 500 AND EXISTS ("
        "SELECT 1 FROM sys.dm_exec_sessions WHERE session_id = " +
        id + " AND program_name = N'" + name_ +
        "') BEGIN WAITFOR DELAY '00:00:00.020'; SET @rounds += 1; END");
  }
  /// Only SNAPSHOT refuses rows that others changed, and tableq does not join such transactions.
  std::vector<std::string> conflict_setup() const override { return {}; }
  std::string begin_with_lock(std::string_view table) const override {
    // A shared lock: all may read, none may write.
    return "BEGIN TRANSACTION; SELECT COUNT(*) FROM " + quoted(table) + " WITH (TABLOCK, HOLDLOCK)";
  }
  std::optional<std::string> leftovers_sql() const override {
    // The plain client and the caller have other lock time-outs than tableq's own sessions.
    return "SELECT (SELECT COUNT(*) FROM sys.dm_exec_cursors(@@SPID)) + @@TRANCOUNT"
           " + (SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
           " AND (transaction_isolation_level <> 2 OR lock_timeout = 5000))";
  }

  int run_read_only(const std::function<int(const std::string& url)>& check) override {
    client_.reset();
    const std::string change = "ALTER DATABASE " + name_ + " SET ";
    administrator_.run(change + "READ_ONLY WITH ROLLBACK IMMEDIATE");
    const int verdict = check(url());
    administrator_.run(change + "READ_WRITE WITH ROLLBACK IMMEDIATE");
    return verdict;
  }

  std::optional<std::string> shadow_sql(std::string_view /*table*/) const override { return {}; }
  std::optional<std::string> other_schema() override {
    sql("CREATE SCHEMA " + name_ + "_other");
    return name_ + "_other";
  }
  std::optional<std::string> url_without_ddl_rights() override {
    const auto limited = new_user();
    if (!limited) return {};
    sql("GRANT SELECT, INSERT, UPDATE, DELETE ON SCHEMA::dbo TO " + limited->name);
    return limited->url;
  }
  std::optional<database_user> new_user() override {
    if (!says_yes("SELECT CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY LOGIN') = 1"
                  " AND CAST(SERVERPROPERTY('IsIntegratedSecurityOnly') AS int) = 0"
                  " THEN 1 ELSE 0 END")) {
      return {};
    }
    sqlserver_address limited = tableq_;
    limited.user = name_ + "_limited" + std::to_string(logins_.size());
    limited.password = "Aa1." + name_;
    limited.settings.erase("authentication");
    administrator_.run("CREATE LOGIN " + limited.user + " WITH PASSWORD = N'" + limited.password +
                       "', CHECK_POLICY = OFF");
    logins_.push_back(limited.user);
    sql("CREATE USER " + limited.user + " FOR LOGIN " + limited.user);
    return database_user{limited.user, limited.url()};
  }

  std::string bytes_literal(std::string_view bytes) const override { return "0x" + hex(bytes); }
  std::string text_payload(std::string_view text) const override {
    return "CAST('" + replaced(std::string(text), "'", "''") + "' AS varbinary(max))";
  }
  column_types types() const override {
    return {"uniqueidentifier", "bit", "datetime2(3)", "nvarchar(max)",
            "bigint IDENTITY PRIMARY KEY"};
  }
  std::vector<std::pair<std::string, bool>> time_defaults() const override {
    return {{"datetime2(3) DEFAULT SYSDATETIME()", true},
            {"datetime DEFAULT CURRENT_TIMESTAMP", true},
            {"datetime2(3) DEFAULT (DATEADD(hour, 1, GETDATE()))", true},
            {"datetime2(3) DEFAULT SYSUTCDATETIME()", false},
            {"datetime2(3) DEFAULT (SYSDATETIMEOFFSET() AT TIME ZONE 'UTC')", false},
            {"datetimeoffset(3) DEFAULT SYSDATETIMEOFFSET()", false}};
  }
  std::string numbers(std::int64_t count) const override {
    return "(SELECT TOP (" + std::to_string(count) +
           ") ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) FROM sys.all_columns AS a"
           " CROSS JOIN sys.all_columns AS b) AS numbers (n)";
  }
  void insert_many(std::string_view table, const std::string& columns, const std::string& values,
                   std::int64_t count) override {
    // The table does not escalate its locks: a million of them would need much of the memory.
    constexpr std::int64_t at_once = 100'000;
    for (std::int64_t first = 0; first < count; first += at_once) {
      sql("INSERT INTO " + quoted(table) + " WITH (TABLOCK) (" + columns + ") SELECT " + values +
          " FROM (SELECT part.n + " + std::to_string(first) + " FROM " +
          replaced(numbers(std::min(at_once, count - first)), "AS numbers", "AS part") +
          ") AS numbers (n)");
    }
  }
  std::string insert_with_id(std::string_view into, const std::string& columns,
                             const std::string& values) const override {
    const std::string change = "SET IDENTITY_INSERT " + quoted(into);
    return change + " ON; " + place::insert_with_id(quoted(into), columns, values) + "; " + change +
           " OFF";
  }
  void rename_column(const std::string& of, const std::string& from,
                     const std::string& to) override {
    sql("EXEC sp_rename N'" + of + "." + from + "', N'" + to + "', N'COLUMN'");
  }
  std::string short_text(int characters) const override {
    return "nvarchar(" + std::to_string(characters) + ")";
  }
  /// A column without a length limit cannot be indexed, but its first bytes can.
  void forbid_equal_payloads(std::string_view table) override {
    sql("ALTER TABLE " + quoted(table) + " ADD beginning AS CAST(payload AS varbinary(400))");
    sql("CREATE UNIQUE INDEX only_once ON " + quoted(table) + " (beginning)");
  }
  bool hide_rows(const std::string& table) override {
    const std::string schema = table.substr(0, table.find('.'));
    sql("EXEC(N'CREATE FUNCTION " + schema +
        ".nothing() RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT 1 AS one WHERE 1 = 0')");
    sql("CREATE SECURITY POLICY " + schema + ".hiding ADD FILTER PREDICATE " + schema +
        ".nothing() ON " + table);
    // Only users who may see the definition of a policy see that there is one.
    sql("GRANT VIEW DEFINITION ON SCHEMA::" + schema + " TO public");
    return true;
  }
  void lift_checks(std::string_view table) override {
    sql("ALTER TABLE " + quoted(table) + " NOCHECK CONSTRAINT ALL");
  }
  std::string index_names(std::string_view table) const override {
    return "SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID(N'" + quoted(table) +
           "') AND index_id > 0 AND is_primary_key = 0";
  }
  void drop_index(std::string_view table, const std::string& index) override {
    sql("DROP INDEX " + quoted(index) + " ON " + quoted(table));
  }
  void analyze() override { sql("EXEC sp_updatestats"); }
  std::string one_item(std::int64_t value) const override { return std::to_string(value); }
  std::string key_literal(std::string_view key) const override {
    return "CAST(N'" + std::string(key) + "' AS varbinary(400))";
  }
  std::string explain(const std::string& text, const parameters& with) override {
    return client().plans(with_literals(text, with)) + client().plans(with_variables(text, with));
  }
  std::optional<std::string> complaint(const std::string& plan,
                                       bool /*in_key_order*/) const override {
    return sqlserver_complaint(plan);
  }
  std::int64_t work_of(const std::string& text, const parameters& with) override {
    const std::string call = as_prepared(text, with);
    // The first run plans, and may update statistics.
    sql("BEGIN TRANSACTION");
    sql(call);
    sql("ROLLBACK TRANSACTION");
    sql("BEGIN TRANSACTION");
    const std::int64_t before = client().pages_read();
    sql(call);
    const std::int64_t after = client().pages_read();
    sql("ROLLBACK TRANSACTION");
    return after - before;
  }

 private:
  explicit database_place(const sqlserver_address& given)
      : administrator_(given.connection_string()), tableq_(given) {
    // Without the right to see other sessions, their locks would be invisible.
    if (!says_yes("SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')")) {
      throw std::runtime_error("the login of TABLEQ_TEST_SQLSERVER lacks VIEW SERVER STATE");
    }
    tableq_.database = name_;
    tableq_.settings["application_name"] = name_;
    // Two at the same time would both need the model database exclusively.
    administrator_.run(
        "EXEC sp_getapplock @Resource = N'tableq tests', @LockMode = N'Exclusive',"
        " @LockOwner = N'Session', @LockTimeout = 300000");
    administrator_.run("CREATE DATABASE " + name_);
    administrator_.run(
        "EXEC sp_releaseapplock @Resource = N'tableq tests', @LockOwner = N'Session'");
  }
  [[nodiscard]] bool says_yes(const std::string& query) {
    return administrator_.run(query).at(0).at(0) == "1";
  }
  static std::string quoted(std::string_view name) { return "[" + std::string(name) + "]"; }

  sqlserver_client& client() {
    if (!client_) {
      sqlserver_address plain = tableq_;
      plain.settings["application_name"] = "plain client";
      client_.emplace(plain.connection_string());
      client_->run("SET LOCK_TIMEOUT 10000");
    }
    return *client_;
  }

  std::string name_ = unique_name();
  sqlserver_client administrator_;
  sqlserver_address tableq_;
  std::optional<sqlserver_client> client_;
  std::vector<std::string> logins_;
};

class server_backend : public backend {
 public:
  std::string name() const override { return "sqlserver"; }
  features can() const override {
    return {.shows_held_messages = false,
            .partial_indexes = false,
            .schemas_own_tables = true,
            .time_outs_are_known = false,
            .links_close_in_children = false,
            .rare = true};
  }
  std::optional<std::string> missing() const override {
    const char* given = std::getenv(variable);
    if (given != nullptr && *given != '\0') return {};
    return std::string("the environment variable ") + variable + " is not set";
  }
  std::unique_ptr<place> fresh() const override { return std::make_unique<database_place>(); }
};

}  // namespace

const backend& sqlserver_backend() {
  static const server_backend only;
  return only;
}

}  // namespace tableq_test
