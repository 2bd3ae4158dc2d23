#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tableq/sqlite.hpp>

#include "databases.hpp"

namespace bench {

namespace {

class connection {
 public:
  connection(const std::filesystem::path& file, const std::string& synchronous) {
    const int code = sqlite3_open_v2(file.c_str(), &handle_,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    if (code != SQLITE_OK) {
      sqlite3_close(handle_);
      throw std::runtime_error("SQLite: cannot open " + file.string());
    }
    sqlite3_busy_timeout(handle_, 60'000);
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = " + synchronous);
  }
  explicit connection(sqlite3* borrowed) : handle_(borrowed), owns_(false) {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() {
    if (owns_) sqlite3_close(handle_);
  }

  void run(const std::string& text) {
    check(sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr));
  }
  void check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
      throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(handle_));
    }
  }
  [[nodiscard]] sqlite3* handle() const { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
  bool owns_ = true;
};

class statement {
 public:
  statement(connection& link, const std::string& text) : connection_(link) {
    link.check(sqlite3_prepare_v3(link.handle(), text.c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                                  &handle_, nullptr));
  }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement() { sqlite3_finalize(handle_); }

  void bind(int position, std::string_view bytes) {
    connection_.check(
        sqlite3_bind_blob64(handle_, position, bytes.data(), bytes.size(), SQLITE_STATIC));
  }
  void bind(int position, std::int64_t number) {
    connection_.check(sqlite3_bind_int64(handle_, position, number));
  }
  /// Runs to the end, with a copy of each payload, as a caller would.
  /// @return the ids.
  const std::vector<std::int64_t>& run() {
    ids_.clear();
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(handle_)) == SQLITE_ROW) {
      ids_.push_back(sqlite3_column_int64(handle_, 0));
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_, 1));
      if (bytes != nullptr) {
        row_.assign(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, 1)));
      }
    }
    connection_.check(code);
    connection_.check(sqlite3_reset(handle_));
    return ids_;
  }

 private:
  connection& connection_;
  sqlite3_stmt* handle_ = nullptr;
  std::vector<std::int64_t> ids_;
  std::string row_;
};

std::string quoted(std::string_view name) {
  return '"' + std::string(name) + '"';
}

std::string marks(std::size_t count) {
  std::string out = "?";
  for (std::size_t i = 1; i < count; ++i) out += ", ?";
  return out;
}

class client : public raw_client {
 public:
  client(const std::filesystem::path& file, const std::string& synchronous, std::size_t batch,
         const raw_words& words)
      : on_(file, synchronous),
        batch_(batch),
        limit_(" LIMIT " + std::to_string(batch)),
        among_(batch == 1 ? " WHERE id = (SELECT id FROM " : " WHERE id IN (SELECT id FROM "),
        begin_(on_, "BEGIN IMMEDIATE"),
        commit_(on_, "COMMIT"),
        insert_(on_, "INSERT INTO " + words.mail + " (payload) VALUES (?)"),
        pop_(on_, "DELETE FROM " + words.mail + among_ + words.mail + " ORDER BY id" + limit_ +
                      ") RETURNING id, payload"),
        claim_(on_, "UPDATE " + words.claims + " SET " + words.taken + among_ + words.claims +
                        " WHERE " + words.waiting + " ORDER BY " + words.order + limit_ +
                        ") RETURNING id, payload"),
        remove_(on_, "DELETE FROM " + words.claims + " WHERE id IN (" + marks(batch) + ")") {}

  void insert() override {
    insert_.bind(1, payload());
    if (batch_ == 1) {
      insert_.run();
      return;
    }
    begin_.run();
    for (std::size_t i = 0; i < batch_; ++i) insert_.run();
    commit_.run();
  }
  std::size_t pop() override { return pop_.run().size(); }
  std::size_t claim() override {
    const std::vector<std::int64_t>& taken = claim_.run();
    if (taken.empty()) return 0;
    for (std::size_t i = 0; i < batch_; ++i) {
      remove_.bind(static_cast<int>(i + 1), i < taken.size() ? taken[i] : 0);
    }
    remove_.run();
    return taken.size();
  }

 private:
  connection on_;
  std::size_t batch_;
  std::string limit_;
  std::string among_;
  statement begin_;
  statement commit_;
  statement insert_;
  statement pop_;
  statement claim_;
  statement remove_;
};

class reader : public held {
 public:
  reader(const std::filesystem::path& file, const std::string& synchronous)
      : on_(file, synchronous) {
    on_.run("BEGIN; SELECT count(*) FROM sqlite_master");
  }

 private:
  connection on_;
};

class sqlite_application : public application {
 public:
  sqlite_application(const std::filesystem::path& file, const std::string& synchronous)
      : on_(file, synchronous) {}
  void run(const char* text) override { on_.run(text); }
  void add(std::string_view table) override {
    statement insert(on_, "INSERT INTO " + quoted(table) + " (payload) VALUES (?)");
    insert.bind(1, payload());
    insert.run();
  }
  void add_in(tableq::transaction& tx, std::string_view table) override {
    connection borrowed(tableq::sqlite_session_of(tx));
    statement insert(borrowed, "INSERT INTO " + quoted(table) + " (payload) VALUES (?)");
    insert.bind(1, payload());
    insert.run();
  }
  tableq::enlistment enlist(const tableq::database& db,
                            const tableq::enlist_options& options) override {
    return tableq::enlist(db, on_.handle(), options);
  }

 private:
  connection on_;
};

class database : public raw_database {
 public:
  database(const std::filesystem::path& directory, std::string synchronous)
      : home_(directory / ("tableq-bench-" + synchronous)), synchronous_(std::move(synchronous)) {
    std::filesystem::remove_all(home_);
    std::filesystem::create_directories(home_);
    connection on(file(owner::raw), synchronous_);
    on.run("CREATE TABLE plain (id INTEGER PRIMARY KEY, payload BLOB NOT NULL)");
    on.run(
        "CREATE TABLE claims (id INTEGER PRIMARY KEY, taken INTEGER NOT NULL DEFAULT 0,"
        " payload BLOB NOT NULL)");
    on.run("CREATE INDEX ready ON claims (id) WHERE taken = 0");
  }
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  ~database() override {
    std::error_code ignored;  // Files left in a temporary directory do no harm.
    std::filesystem::remove_all(home_, ignored);
  }

  std::string url() const override { return url_of(owner::tableq); }
  std::string plain_url() const override { return url_of(owner::raw); }
  std::unique_ptr<raw_client> connect(std::size_t batch, owner whose) override {
    return std::make_unique<client>(file(whose), synchronous_, batch,
                                    whose == owner::tableq ? words_of_jobs()
                                                           : raw_words{.mail = "plain",
                                                                       .claims = "claims",
                                                                       .waiting = "taken = 0",
                                                                       .order = "id",
                                                                       .taken = "taken = 1"});
  }
  std::unique_ptr<application> of_application() override {
    return std::make_unique<sqlite_application>(file(owner::tableq), synchronous_);
  }
  void run(owner whose, const std::string& text) override {
    connection(file(whose), "off").run(text);
  }
  void clear(owner whose, std::string_view table) override {
    connection(file(whose), "off").run("DELETE FROM " + quoted(table));
  }
  void add(owner whose, std::string_view table, std::size_t messages) override {
    connection on(file(whose), "off");
    statement all(on,
                  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                  " WHERE i < ?1) INSERT INTO " +
                      quoted(table) + " (payload) SELECT ?2 FROM n");
    all.bind(1, static_cast<std::int64_t>(messages));
    all.bind(2, payload());
    all.run();
  }
  void tidy(owner whose, std::string_view /*table*/) override {
    connection(file(whose), "off").run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::unique_ptr<held> hold_snapshot(owner whose) override {
    return std::make_unique<reader>(file(whose), synchronous_);
  }
  json describe() override { return {{"sqlite", sqlite3_libversion()}}; }

 private:
  [[nodiscard]] std::filesystem::path file(owner whose) const {
    return home_ / (whose == owner::raw ? "raw.db" : "tableq.db");
  }
  [[nodiscard]] std::string url_of(owner whose) const {
    return "sqlite://" + file(whose).string() + "?synchronous=" + synchronous_;
  }

  std::filesystem::path home_;
  std::string synchronous_;
};

}  // namespace

std::unique_ptr<raw_database> raw_sqlite(const std::string& directory, const std::string& mode) {
  return std::make_unique<database>(directory, mode);
}

}  // namespace bench
