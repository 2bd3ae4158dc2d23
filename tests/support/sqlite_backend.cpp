#if !defined(_WIN32)
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <utility>

#include "support/backends.hpp"
#include "support/scratch_directory.hpp"
#include "support/soci_sessions.hpp"
#include "support/sqlite_client.hpp"
#include "support/text.hpp"

namespace tableq_test {
namespace {

namespace files = std::filesystem;

/// The next commit of this process runs it.
class next_commit {
 public:
  /// Reaches all sessions that are opened from now on.
  static void reach_sessions() {
    // SQLite keeps extensions as functions without arguments, and calls them with three.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&reach));
  }
  static void runs(std::function<void()> what) {
    delete action().exchange(new std::function<void()>(std::move(what)));
  }

 private:
  static int reach(sqlite3* session, char** /*why*/, const void* /*functions*/) {
    sqlite3_commit_hook(session, &begins, nullptr);
    return SQLITE_OK;
  }
  static int begins(void* /*nothing*/) {
    const std::unique_ptr<std::function<void()>> now(action().exchange(nullptr));
    if (now) (*now)();
    return 0;  // The commit goes on.
  }
  /// No mutex: a thread could have it while another one forks.
  static std::atomic<std::function<void()>*>& action() {
    static std::atomic<std::function<void()>*> one = nullptr;
    return one;
  }
};

class file_place : public place {
 public:
  file_place() { next_commit::reach_sessions(); }
  std::string url() const override { return "sqlite://" + file_.string(); }
  std::string url_with(std::string_view key, std::string_view value) const override {
    return url() + "?" + std::string(key) + "=" + percent_encoded(value);
  }
  std::string impatient_url() const override { return url_with("busy_timeout", "1ms"); }
  std::optional<std::string> hasty_url() const override {
    return url_with("synchronous", "normal");
  }

  std::vector<std::string> other_forms() const override {
    return {"sqlite://" + files::relative(file_).string(), "sqlite3://dbname=" + file_.string(),
            "sqlite3://" + file_.string(), url() + "?synchronous=extra&busy_timeout=5s"};
  }
  std::vector<address_check> session_checks() const override {
    return {{url(), "PRAGMA journal_mode", "wal"},
            {url(), "PRAGMA synchronous", "2"},
            {url(), "PRAGMA temp_store", "2"},
            {url_with("synchronous", "off"), "PRAGMA synchronous", "0"},
            {url_with("synchronous", "normal"), "PRAGMA synchronous", "1"},
            {url_with("synchronous", "full"), "PRAGMA synchronous", "2"},
            {url_with("synchronous", "extra"), "PRAGMA synchronous", "3"}};
  }
  std::vector<std::pair<std::string, std::string>> bad_settings() const override {
    return {{"synchronous", "sometimes"},
            {"synchronous", ""},
            {"busy_timeout", "soon"},
            {"busy_timeout", "-1s"},
            {"busy_timeout", "5"},
            {"busy_timeout", "5 parsecs"},
            {"busy_timeout", "99999999999999999999s"}};
  }
  std::optional<std::string> bad_url(bad_address which) const override {
    if (which == bad_address::missing_directory) {
      return "sqlite://" + (directory_ / "nowhere/queues.db").string();
    }
    if (which == bad_address::empty) return "sqlite://";
    if (which == bad_address::directory_as_file) return "sqlite://" + directory_.path().string();
    if (which == bad_address::foreign_file) {
      const files::path foreign = directory_ / "letter.txt";
      std::ofstream(foreign) << std::string(8192, 'x');
      return "sqlite://" + foreign.string();
    }
    return {};
  }

  rows sql(const std::string& text) override { return client().run(text); }
  std::unique_ptr<soci::session> session() const override {
    return soci_sqlite_session(file_.string());
  }

  std::optional<std::string> held() override {
    sqlite_client impatient(file_.string(), 0);
    try {
      impatient.run("BEGIN IMMEDIATE; ROLLBACK");
    } catch (const std::exception& failure) {
      return std::string("the write lock: ") + failure.what();
    }
    const rows checkpoint = impatient.run("PRAGMA wal_checkpoint(TRUNCATE)");
    if (checkpoint.at(0).at(0) != "0") return "a read snapshot";
    return {};
  }

  std::optional<std::string> damage() override {
    const std::string found = client().run("PRAGMA integrity_check").at(0).at(0).value();
    if (found == "ok") return {};
    return found;
  }

  std::vector<std::string> conflict_setup() const override {
    return {"SELECT count(*) FROM sqlite_schema"};
  }
  std::string begin_with_lock(std::string_view /*table*/) const override {
    return "BEGIN IMMEDIATE";
  }
  bool in_next_commit(std::function<void()> what) override {
    next_commit::runs(std::move(what));
    return true;
  }

  int run_read_only(const std::function<int(const std::string& url)>& check) override {
    client_.reset();
#if defined(_WIN32)
    files::permissions(file_, files::perms::owner_read);
    const int verdict = check(url());
    files::permissions(file_, files::perms::owner_all);
    return verdict;
#else
    constexpr ::uid_t nobody = 65534;
    ::chmod(file_.c_str(), 0444);
    ::chmod(directory_.path().c_str(), 0777);  // The reader creates the side files of WAL.
    const ::pid_t child = ::fork();
    if (child == 0) {
      // Root ignores the permission bits; only another user obeys them.
      if (::geteuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) ::_exit(99);
      const int verdict = check(url());
      std::fflush(nullptr);
      ::_exit(verdict);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::chmod(file_.c_str(), 0644);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
#endif
  }

  std::string bytes_literal(std::string_view bytes) const override {
    return "x'" + hex(bytes) + "'";
  }
  column_types types() const override {
    return {"UNIQUEIDENTIFIER", "BIT", "DATETIME", "TEXT", "INTEGER PRIMARY KEY"};
  }
  std::vector<std::pair<std::string, bool>> time_defaults() const override {
    return {{"DATETIME DEFAULT (datetime('now', 'localtime'))", true},
            {"TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now', 'LOCALTIME'))", true},
            {"DATETIME DEFAULT CURRENT_TIMESTAMP", false},
            {"DATETIME DEFAULT (datetime('now'))", false}};
  }
  std::string numbers(std::int64_t count) const override {
    return "(WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < " +
           std::to_string(count) + ") SELECT n FROM up) AS numbers";
  }
  bool use_payloads_as_names(std::string_view table) override {
    const std::string name(table);
    for (const std::string event : {"INSERT", "UPDATE"}) {
      sql("CREATE TRIGGER naming_" + name + event + " BEFORE " + event + " ON " + name +
          " BEGIN SELECT CASE WHEN NEW.id % 2 THEN json_extract('{}', CAST(NEW.payload AS TEXT))"
          " ELSE (SELECT 1 FROM pragma_integrity_check(CAST(NEW.payload AS TEXT))) END; END");
    }
    return true;
  }
  bool add_trigger(const row_trigger& wanted) override {
    const std::string table(wanted.table);
    const std::string event(wanted.event);
    sql("CREATE TRIGGER " + table + "_" + event + " BEFORE " + event + " ON " + table + " WHEN " +
        std::string(wanted.condition) + " BEGIN SELECT RAISE(" +
        (wanted.silent ? "IGNORE" : "ABORT, 'refused'") + "); END");
    return true;
  }
  void lift_checks(std::string_view /*table*/) override {
    client().run("PRAGMA ignore_check_constraints = ON");
  }
  std::string index_names(std::string_view table) const override {
    return "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = "
           "'" +
           std::string(table) + "'";
  }
  void analyze() override {
    client().run("ANALYZE; PRAGMA wal_checkpoint");
  }
  std::string one_item(std::int64_t value) const override {
    return std::to_string(value);
  }
  std::string explain(const std::string& text, const parameters& with) override {
    std::string plan;
    for (const row& line : client().run("EXPLAIN QUERY PLAN " + text, with)) {
      plan += *line.at(3) + "\n";
    }
    return plan;
  }
  std::optional<std::string> complaint(const std::string& plan, bool in_key_order) const override {
    std::istringstream lines(plan);
    std::string materialized;
    const auto is_materialized = [&](const std::string& line) {
      return line.rfind("SCAN ", 0) == 0 && contains(plan, "MATERIALIZE " + line.substr(5) + "\n");
    };
    std::string one_row = "CONSTANT ROW";  // a source of one row
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("MATERIALIZE ", 0) == 0) materialized = line.substr(12);
      if (line == "SCAN CONSTANT ROW" && !materialized.empty()) one_row = materialized;
      const bool scan = line.rfind("SCAN ", 0) == 0 && line != "SCAN CONSTANT ROW" &&
                        line != "SCAN " + one_row && !is_materialized(line) &&
                        !contains(line, " USING INDEX") && !contains(line, " USING COVERING INDEX");
      if (contains(line, "TEMP B-TREE") || contains(line, "AUTOMATIC")) return line;
      if (scan && !in_key_order) return line;
    }
    return {};
  }
  std::int64_t work_of(const std::string& text, const parameters& with) override {
    client().run("BEGIN IMMEDIATE");
    const std::int64_t steps = client().steps_of(text, with);
    client().run("ROLLBACK");
    return steps;
  }

 protected:
  [[nodiscard]] const files::path& file() const {
    return file_;
  }

 private:
  sqlite_client& client() {
    if (!client_) client_.emplace(file_.string());
    return *client_;
  }

  scratch_directory directory_;
  files::path file_ = directory_ / "queues.db";
  std::optional<sqlite_client> client_;
};

/// Each database object opened here has its own memory, which no other can see.
class memory_place : public file_place {
 public:
  std::string url() const override { return "sqlite://:memory:"; }
  std::vector<std::string> other_forms() const override { return {}; }
  std::vector<address_check> session_checks() const override { return {}; }
};

#if defined(TABLEQ_WITH_ODBC)
/// A file, used through its ODBC driver.
class odbc_file_place : public file_place {
 public:
  std::string url() const override { return "odbc://" + connect(); }
  std::string url_with(std::string_view key, std::string_view value) const override {
    return url() + ";" + std::string(key) + "=" + std::string(value);
  }
  std::string impatient_url() const override { return "odbc://" + connect("1"); }
  std::optional<std::string> hasty_url() const override { return {}; }
  std::vector<std::string> other_forms() const override {
    return {"odbc://DRIVER={SQLite3};DATABASE=" + file().string() + ";", file_place::url()};
  }
  std::vector<address_check> session_checks() const override {
    return {{url(), "PRAGMA journal_mode", "wal"}, {url(), "PRAGMA synchronous", "2"}};
  }
  std::vector<std::pair<std::string, std::string>> bad_settings() const override { return {}; }
  std::optional<std::string> bad_url(bad_address which) const override {
    const auto bad = file_place::bad_url(which);
    if (!bad) return {};
    const std::string path = bad->substr(std::string("sqlite://").size());
    return path.empty() ? "odbc://" : "odbc://Driver=SQLite3;Database=" + path;
  }
  std::unique_ptr<soci::session> session() const override { return soci_odbc_session(connect()); }

 private:
  /// @param timeout for locks, in milliseconds.
  [[nodiscard]] std::string connect(const std::string& timeout = "5000") const {
    return "Driver=SQLite3;Timeout=" + timeout + ";Database=" + file().string();
  }
};
#endif

class file_backend : public backend {
 public:
  std::string name() const override { return "sqlite"; }
  features can() const override {
    return {.concurrent_writers = false,
            .schemas = false,
            .children_open_it = false,
            .cheap_sessions = true};
  }
  std::optional<std::string> missing() const override { return {}; }
  std::unique_ptr<place> fresh() const override { return std::make_unique<file_place>(); }
};

class memory_backend : public file_backend {
 public:
  std::string name() const override { return "sqlite_memory"; }
  features can() const override {
    return {.shared = false, .concurrent_writers = false, .schemas = false, .cheap_sessions = true};
  }
  std::unique_ptr<place> fresh() const override { return std::make_unique<memory_place>(); }
};

#if defined(TABLEQ_WITH_ODBC)
class odbc_file_backend : public file_backend {
 public:
  std::string name() const override { return "sqlite_odbc"; }
  features can() const override {
    return {.concurrent_writers = false,
            .schemas = false,
            .checks_keys = false,
            .second_way = true,
            .tells_stale_snapshots = false,
            .children_open_it = false};
  }
  std::unique_ptr<place> fresh() const override { return std::make_unique<odbc_file_place>(); }
};
#endif

}  // namespace

const backend& sqlite_file_backend() {
  static const file_backend only;
  return only;
}

const backend& sqlite_memory_backend() {
  static const memory_backend only;
  return only;
}

#if defined(TABLEQ_WITH_ODBC)
const backend& sqlite_odbc_backend() {
  static const odbc_file_backend only;
  return only;
}
#endif

}  // namespace tableq_test
