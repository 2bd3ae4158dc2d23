#pragma once

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/backend.hpp"
#include "support/postgresql_address.hpp"
#include "support/postgresql_administrator.hpp"
#include "support/postgresql_overloads.hpp"
#include "support/postgresql_trigger.hpp"
#include "support/soci_sessions.hpp"
#include "support/text.hpp"

namespace tableq_test {

/// The condition on pg_locks, as `l`, for a listening session.
inline const std::string listens =
    "(l.locktype = 'advisory' AND l.classid = 1952606577 AND l.mode = 'ShareLock')";

/// A schema of its own.
class schema_place : public place {
 public:
  /// @param variable has the server's address.
  explicit schema_place(const char* variable = server_variable)
      : administrator_(server_address(variable)) {
    base_ = administrator_.parameters_of_session();
    // Only the necessary parts: the others are libpq's defaults.
    settings kept;
    for (const char* key : {"host", "port", "user", "password", "dbname", "sslmode"}) {
      if (base_.count(key) != 0) kept[key] = base_[key];
    }
    base_ = kept;
    administrator_.run("SET lock_timeout = '10s'; CREATE SCHEMA " + schema_);
    superuser_ = administrator_.run("SHOW is_superuser").at(0).at(0) == "on";
    settings tableq = base_;
    tableq["application_name"] = schema_;
    tableq["options"] = options();
    tableq_ = tableq;
    administrator_.run("SET search_path = " + schema_);
  }
  schema_place(const schema_place&) = delete;
  schema_place& operator=(const schema_place&) = delete;
  ~schema_place() override {
    try {
      administrator_.run("ROLLBACK; DROP SCHEMA IF EXISTS " + schema_ + "_other CASCADE; " +
                         "DROP SCHEMA " + schema_ + " CASCADE");
      if (limited_) administrator_.run("DROP ROLE " + schema_ + "_limited");
      for (const std::string& user : users_) administrator_.run("DROP ROLE " + user);
      for (const std::string& each : databases_) administrator_.run("DROP DATABASE " + each);
    } catch (const std::exception& failure) {
      // A destructor must not throw; leftovers are reported.
      std::fprintf(stderr, "left behind %s: %s\n", schema_.c_str(), failure.what());
    }
  }

  std::string url() const override { return as_uri(tableq_, "postgresql://", ""); }
  std::string url_with(std::string_view key, std::string_view value) const override {
    settings more = tableq_;
    more[std::string(key)] = value;
    return as_uri(more, "postgresql://", "");
  }
  // Autovacuum sometimes delays a statement for some milliseconds, when it frees pages of the
  // server's catalogue.
  std::string impatient_url() const override { return set(" -clock_timeout=1s"); }
  std::optional<std::string> hasty_url() const override { return set(" -csynchronous_commit=off"); }
  std::string set(const std::string& more) const { return url_with("options", options() + more); }
  std::vector<std::string> other_forms() const override {
    return {as_uri(tableq_, "postgres://", ""), as_uri(tableq_, "postgresql://", "127.0.0.1:1,"),
            "postgresql://" + as_libpq_string(tableq_), url_with("connect_timeout", "9"),
            url_with("target_session_attrs", "read-write")};
  }
  std::vector<address_check> session_checks() const override {
    return {{url(), "SHOW transaction_isolation", "read committed"},
            {url_with("options", options() + " -cdefault_transaction_isolation=serializable"),
             "SHOW transaction_isolation", "read committed"},
            {url_with("application_name", "a b&c=d%/?"), "SHOW application_name", "a b&c=d%/?"},
            {url(), "SHOW search_path", schema_}};
  }
  std::vector<std::pair<std::string, std::string>> bad_settings() const override {
    return {{"sslmode", "perhaps"}, {"target_session_attrs", "mostly"}};
  }
  std::optional<std::string> bad_url(bad_address which) const override {
    settings bad = tableq_;
    bad["password"] = "canary-password";
    switch (which) {
      case bad_address::unreachable_host:
        bad["host"] = "127.0.0.1";
        bad["port"] = "1";
        return address_of(bad);
      case bad_address::missing_database:
        bad = tableq_;
        bad["dbname"] = schema_ + "_missing";
        return address_of(bad);
      case bad_address::wrong_password:
        try {
          postgresql_client trusting(as_libpq_string(bad));
          return {};  // This server asks for no password.
        } catch (const std::runtime_error&) {
          return address_of(bad);
        }
      default:
        return {};
    }
  }

  bool overload(const std::vector<std::string>& functions) override {
    std::string names;
    for (const std::string& each : functions) names += (names.empty() ? "" : " ") + each;
    administrator_.run("CREATE TYPE overloaded AS (nothing text)");
    administrator_.run(replaced(postgresql_overloads, "{names}", names));
    return true;
  }
  std::optional<std::string> url_in_encoding(const std::string& encoding) override {
    databases_.push_back(schema_ + "_" + encoding);
    administrator_.run("CREATE DATABASE " + databases_.back() + " ENCODING '" + encoding +
                       "' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    settings other = base_;
    // Names without quotes are lower case.
    other["dbname"] = databases_.back();
    for (char& c : other["dbname"]) c = static_cast<char>(std::tolower(c));
    return address_of(other);
  }

  rows sql(const std::string& text) override { return administrator_.run(text); }
  std::unique_ptr<soci::session> session() const override {
    settings own = tableq_;
    own["application_name"] = "caller";
    return soci_postgresql_session(as_libpq_string(own));
  }

  std::optional<std::string> held() override {
    const rows found = administrator_.run(
        "SELECT a.state, a.backend_xmin, l.locktype, l.mode FROM pg_stat_activity a"
        " LEFT JOIN pg_locks l USING (pid) WHERE a.application_name = '" +
        schema_ +
        "'"
        // A listening session holds an advisory lock.
        " AND NOT COALESCE(" +
        listens +
        ", false)"
        " AND (l.pid IS NOT NULL OR a.state <> 'idle' OR a.backend_xmin IS NOT NULL)");
    if (found.empty()) return {};
    std::string words;
    for (const row& each : found) {
      for (const auto& field : each) words += field.value_or("-") + " ";
    }
    return words;
  }
  std::optional<std::string> session_id_sql() const override { return "SELECT pg_backend_pid()"; }
  void end_session(const std::string& id) override {
    // Its second parameter, a time to wait for the end of the process, is of PostgreSQL 14.
    administrator_.run(
        "DO $$ BEGIN IF CAST(current_setting('server_version_num') AS int) >= 140000 THEN "
        "EXECUTE 'SELECT pg_terminate_backend(" +
        id + ", 10000)'; ELSE PERFORM pg_terminate_backend(" + id +
        "); FOR i IN 1..1000 LOOP PERFORM pg_stat_clear_snapshot(); "
        "EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = " +
        id + "); PERFORM pg_sleep(0.01); END LOOP; PERFORM pg_sleep(0.1); END IF; END $$");
  }
  std::optional<std::string> listening_sql() const override {
    return "SELECT DISTINCT a.pid FROM pg_stat_activity a JOIN pg_locks l USING (pid)"
           " WHERE a.application_name = '" +
           schema_ + "' AND " + listens;
  }
  std::optional<std::string> session_count_sql() const override {
    return "SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + schema_ + "'";
  }
  std::vector<std::string> conflict_setup() const override {
    return {"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT 1"};
  }
  std::string begin_with_lock(std::string_view table) const override {
    return "BEGIN; LOCK TABLE \"" + std::string(table) + "\" IN EXCLUSIVE MODE";
  }
  std::optional<std::string> leftovers_sql() const override {
    return "SELECT count(*) FROM pg_prepared_statements";
  }

  int run_read_only(const std::function<int(const std::string& url)>& check) override {
    return check(url_with("options", options() + " -cdefault_transaction_read_only=on"));
  }

  std::optional<std::string> look_elsewhere_sql() const override { return "SET search_path = x"; }
  std::optional<std::string> other_schema() override {
    administrator_.run("CREATE SCHEMA " + schema_ + "_other");
    return schema_ + "_other";
  }
  /// Without autovacuum: its statistics, of a table that is empty until the commit, would be wrong.
  void insert_many(std::string_view table, const std::string& columns, const std::string& values,
                   std::int64_t count) override {
    // A partitioned table has no such parameter.
    static_cast<void>(
        takes("ALTER TABLE \"" + std::string(table) + "\" SET (autovacuum_enabled = off)"));
    place::insert_many(table, columns, values, count);
  }

  std::optional<std::string> url_without_ddl_rights() override {
    if (!superuser_) return {};
    const std::string role = schema_ + "_limited";
    administrator_.run("CREATE ROLE " + role + "; GRANT USAGE ON SCHEMA " + schema_ + " TO " +
                       role + "; GRANT ALL ON ALL TABLES IN SCHEMA " + schema_ + " TO " + role +
                       "; GRANT ALL ON ALL SEQUENCES IN SCHEMA " + schema_ + " TO " + role);
    limited_ = true;
    return url_with("options", options() + " -crole=" + role);
  }

  std::optional<database_user> new_user() override {
    if (!superuser_) return {};
    settings theirs = tableq_;
    theirs["user"] = schema_ + "_user" + std::to_string(users_.size());
    theirs["password"] = schema_;
    theirs["options"] = "-csearch_path=" + schema_;
    administrator_.run("CREATE ROLE " + theirs["user"] + " LOGIN PASSWORD '" + schema_ + "'");
    users_.push_back(theirs["user"]);
    return database_user{theirs["user"], address_of(theirs)};
  }

  bool role_setting(const std::string& user, const std::string& setting) override {
    administrator_.run("ALTER ROLE " + user + " SET " + setting);
    return true;
  }
  bool limit_sessions(const std::string& user, int most) override {
    administrator_.run("ALTER ROLE " + user + " CONNECTION LIMIT " + std::to_string(most));
    return true;
  }

  bool hide_rows(const std::string& table) override {
    sql("ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY");
    return true;
  }

  std::string bytes_literal(std::string_view bytes) const override {
    return "'\\x" + hex(bytes) + "'::bytea";
  }
  column_types types() const override { return postgresql_types; }
  std::vector<std::pair<std::string, bool>> time_defaults() const override {
    return {{"timestamp DEFAULT now()", true},
            {"timestamp DEFAULT CURRENT_TIMESTAMP", true},
            {"timestamp(3) DEFAULT LOCALTIMESTAMP + INTERVAL '1 hour'", true},
            {"timestamp DEFAULT (clock_timestamp() AT TIME ZONE 'Europe/Berlin')", true},
            {"timestamp DEFAULT 'now'::text::timestamp", true},
            {"timestamp", false},
            {"timestamp DEFAULT '2024-01-31 12:00:00'", false},
            {"timestamp DEFAULT (now() AT TIME ZONE 'UTC')", false},
            {"timestamp DEFAULT timezone('utc', statement_timestamp())", false},
            {"timestamptz DEFAULT now()", false}};
  }
  std::string numbers(std::int64_t count) const override {
    return "generate_series(1, " + std::to_string(count) + ") AS numbers (n)";
  }
  bool quote_payloads_in_errors(std::string_view table) override {
    const std::string name(table);
    administrator_.run(
        "CREATE OR REPLACE FUNCTION quoting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'no: %', convert_from(NEW.payload, 'UTF8') USING DETAIL = NEW.payload; "
        "END $$; CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON " +
        name + " FOR EACH ROW EXECUTE FUNCTION quoting()");
    return true;
  }
  bool use_payloads_as_names(std::string_view table) override {
    const std::string name(table);
    administrator_.run(
        "CREATE OR REPLACE FUNCTION naming() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "EXECUTE format(CASE NEW.id % 4 WHEN 0 THEN 'INSERT INTO %I VALUES (1)' "
        "WHEN 1 THEN 'SELECT %I()' WHEN 2 THEN 'EXECUTE %I' ELSE 'SELECT %I' END, "
        "convert_from(NEW.payload, 'UTF8')); RETURN NEW; END $$; "
        "CREATE TRIGGER naming BEFORE INSERT OR UPDATE ON " +
        name + " FOR EACH ROW EXECUTE FUNCTION naming()");
    return true;
  }
  bool add_trigger(const row_trigger& wanted) override {
    administrator_.run(trigger_text(wanted));
    return true;
  }
  void lift_checks(std::string_view table) override {
    const std::string name(table);
    const std::string which = "contype = 'c' AND conrelid = '" + name + "'::regclass";
    for (const row& each : sql("SELECT conname FROM pg_constraint WHERE " + which))
      sql("ALTER TABLE " + name + " DROP CONSTRAINT " + *each.at(0));
  }
  std::string index_names(std::string_view table) const override {
    return "SELECT indexname FROM pg_indexes WHERE schemaname = '" + schema_ +
           "' AND tablename = '" + std::string(table) +
           "' AND indexname NOT IN (SELECT conname FROM pg_constraint)";
  }
  void analyze() override {
    const rows tables = administrator_.run(
        "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = '" + schema_ + "'");
    for (const row& each : tables) administrator_.run("VACUUM (ANALYZE) " + *each.at(0));
  }
  std::string one_item(std::int64_t value) const override {
    return "'{" + std::to_string(value) + "}'";
  }
  std::string one_text_item(std::string_view text) const override {
    return "'{" + std::string(text) + "}'";
  }
  std::string explain(const std::string& text, const parameters& with) override {
    const std::string run = execute(prepare("explained", text), with);
    std::string plan;
    for (const char* mode : {"force_custom_plan", "force_generic_plan"}) {
      administrator_.run(std::string("BEGIN; SET LOCAL plan_cache_mode = ") + mode);
      for (const row& line : administrator_.run("EXPLAIN (COSTS OFF) " + run)) {
        plan += *line.at(0) + "\n";
      }
      administrator_.run("ROLLBACK");
    }
    administrator_.run("DEALLOCATE explained");
    return plan;
  }
  std::optional<std::string> complaint(const std::string& plan,
                                       bool /*in_key_order*/) const override {
    for (const char* word : {"Seq Scan", "Sort", "Hash"}) {
      if (contains(plan, word)) return word;
    }
    return {};
  }
  std::int64_t work_of(const std::string& text, const parameters& with) override {
    // The plan stays with the statement, as in a session that prepared it while the table was
    // small.
    auto known = kept_.find(text);
    if (known == kept_.end()) {
      const std::string name = "kept_" + std::to_string(kept_.size());
      known = kept_.emplace(text, prepare(name, text)).first;
    }
    administrator_.run("BEGIN; SET LOCAL plan_cache_mode = force_generic_plan");
    const rows told = administrator_.run("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " +
                                         execute(known->second, with));
    administrator_.run("ROLLBACK");
    const auto plan = nlohmann::json::parse(*told.at(0).at(0)).at(0).at("Plan");
    return plan.at("Shared Hit Blocks").get<std::int64_t>() +
           plan.at("Shared Read Blocks").get<std::int64_t>();
  }

 protected:
  [[nodiscard]] const std::string& schema() const { return schema_; }
  [[nodiscard]] const settings& tableq_settings() const { return tableq_; }
  [[nodiscard]] virtual std::string address_of(const settings& all) const {
    return as_uri(all, "postgresql://", "");
  }

 private:
  struct prepared {
    std::string name;
    std::vector<std::string> parameters;
  };
  prepared prepare(const std::string& name, const std::string& text) {
    prepared out{.name = name, .parameters = {}};
    std::vector<std::string>& names = out.parameters;
    const std::string numbered = with_markers(text, [&names](const std::string& each) {
      const auto found = std::find(names.begin(), names.end(), each);
      const auto number = found - names.begin() + 1;
      if (found == names.end()) names.push_back(each);
      return "$" + std::to_string(number);
    });
    administrator_.run("PREPARE " + name + " AS " + numbered);
    return out;
  }
  static std::string execute(const prepared& what, const parameters& with) {
    std::string given;
    for (const std::string& each : what.parameters) {
      given += (given.empty() ? "(" : ", ") + with.at(each);
    }
    return "EXECUTE " + what.name + given + (given.empty() ? "" : ")");
  }
  [[nodiscard]] std::string options() const {
    // A short deadlock time-out, so that tests with deadlocks are fast.
    return "-csearch_path=" + schema_ + (superuser_ ? " -cdeadlock_timeout=50ms" : "");
  }

  std::string schema_ = unique_name();
  administrator administrator_;
  bool superuser_ = false;
  bool limited_ = false;
  std::vector<std::string> users_;
  std::vector<std::string> databases_;
  std::map<std::string, prepared> kept_;
  settings base_;
  settings tableq_;
};

}  // namespace tableq_test
