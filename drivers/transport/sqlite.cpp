#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

// SOCI 4.0 puts the whole C interface into this namespace, later ones only what they use. The
// second inclusion does nothing.
namespace sqlite_api {
#include <sqlite3.h>
}

#include "drivers/transport.hpp"
#include "drivers/transport/checkpoint_pace.hpp"
#include "drivers/transport/common_file.hpp"
#include "drivers/transport/file_watch.hpp"
#include "drivers/transport/foreign_names.hpp"
#include "drivers/transport/named_file.hpp"
#include "drivers/transport/other_sqlite.hpp"
#include "drivers/transport/sqlite_checkpoint.hpp"
#include "drivers/transport/sqlite_failure.hpp"
#include "drivers/transport/sqlite_forks.hpp"
#include "drivers/transport/sqlite_turn.hpp"

namespace tableq::inline v0::drivers {
namespace {

using namespace sqlite_api;

/// @param statement that was running; empty: none.
[[noreturn]] void fail(sqlite3* handle, std::string_view statement = {},
                       session_of whose = session_of::tableq) {
  native_failure failure = sqlite_failure(handle, whose);
  if (failure.details().number == SQLITE_FULL && whose == session_of::tableq) empty_log(handle);
  if (!statement.empty()) refuse_foreign_name(failure.details(), statement);
  throw native_failure(std::move(failure));
}

sqlite3* handle_of(soci::session& session) {
  return static_cast<soci::sqlite3_session_backend*>(session.get_backend())->conn_;
}

sqlite3* handle_of(const core::any_session& session) {
  return session.soci != nullptr ? handle_of(*session.soci) : static_cast<sqlite3*>(session.handle);
}

int wait_for_lock(void* turn, int tries) {
  return static_cast<sqlite_turn*>(turn)->wait(tries) ? 1 : 0;
}

/// The clock of SQL's 'now'. Reading it here costs a tenth.
class sqlite_clock {
 public:
  explicit sqlite_clock(sqlite3* handle) noexcept {
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_VFS_POINTER, &system_);
    if (system_ == nullptr) system_ = sqlite3_vfs_find(nullptr);
  }

  /// Milliseconds since 1970.
  [[nodiscard]] sqlite3_int64 now() const noexcept {
    constexpr sqlite3_int64 julian_1970 = 210'866'760'000'000;
    constexpr double milliseconds_a_day = 86'400'000;
    if (system_->iVersion >= 2 && system_->xCurrentTimeInt64 != nullptr) {
      sqlite3_int64 now = 0;
      system_->xCurrentTimeInt64(system_, &now);
      return now - julian_1970;
    }
    double days = 0;
    system_->xCurrentTime(system_, &days);
    return static_cast<sqlite3_int64>(days * milliseconds_a_day) - julian_1970;
  }

 private:
  sqlite3_vfs* system_ = nullptr;
};

/// The file's absolute path; empty for a place in memory.
std::string file_of(sqlite3* handle) {
  const char* file = sqlite3_db_filename(handle, "main");
  return file == nullptr ? std::string() : std::string(file);
}

std::string log_of(sqlite3* handle) {
  const std::string file = file_of(handle);
  return file.empty() ? std::string() : file + "-wal";
}

/// Whether the session has a log open, which no other session deletes from then on.
bool has_log(sqlite3* handle) {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  return log != nullptr && log->pMethods != nullptr;
}

/// Finds the session's file, and its log once the session has opened it.
void find_files(sqlite3* handle, std::optional<session_files>& files) {
  if (!files) {
    const std::string name = file_of(handle);
    if (name.empty()) return;
    // A caller's session may have been open for a long time.
    int moved = 0;
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    files = session_files{.main = moved != 0 ? named_file::gone(name) : named_file(name)};
  }
  if (files->log || !has_log(handle)) return;
  named_file found(files->main.name() + "-wal");
  if (found.found()) files->log = std::move(found);
}

/// Held by a writing statement, from the first attempt to get the lock until its end.
/// @param session null: no waiting line.
std::unique_lock<sqlite_turn> turn_of(sqlite_turn* session) {
  return session == nullptr ? std::unique_lock<sqlite_turn>() : std::unique_lock(*session);
}

struct finalize {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using owned_statement = std::unique_ptr<sqlite3_stmt, finalize>;

/// Resets at the end of a run, so that no lock outlives it. Each run binds all values anew:
/// borrowed values are not read again.
///
/// Holds the connection's mutex during the run. Each call takes this mutex, which is faster if the
/// thread holds it already. Only its holder may read the value of a column.
class running {
 public:
  running(sqlite3* handle, sqlite3_stmt* statement) noexcept
      : mutex_(sqlite3_db_mutex(handle)), statement_(statement) {
    sqlite3_mutex_enter(mutex_);
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() {
    sqlite3_reset(statement_);  // null is none
    sqlite3_mutex_leave(mutex_);
  }

 private:
  sqlite3_mutex* mutex_;  // null if SQLite was built without mutexes
  sqlite3_stmt* statement_;
};

class sqlite_prepared final : public prepared {
 public:
  /// @param session null for a caller's session.
  sqlite_prepared(sqlite3* handle, text statement, bool keep, sqlite_turn* session)
      : handle_(handle),
        clock_(handle),
        text_(std::move(statement)),
        whose_(session == nullptr ? session_of::caller : session_of::tableq) {
    sqlite3_stmt* made = nullptr;
    const unsigned flags = keep ? SQLITE_PREPARE_PERSISTENT : 0U;
    const int result = sqlite3_prepare_v3(handle_, text_.sql.c_str(), -1, flags, &made, nullptr);
    statement_.reset(made);
    if (result != SQLITE_OK) fail(handle_);
    if (!text_.bare && sqlite3_column_count(made) < static_cast<int>(text_.columns.size())) {
      throw native_failure({.number = SQLITE_MISMATCH, .sentence = "the statement lacks a column"});
    }
    if (sqlite3_stmt_readonly(statement_.get()) == 0) turn_ = session;
  }

  void run(const arguments& given, core::row_set& out) override {
    const auto lock = turn_of(sqlite3_get_autocommit(handle_) == 0 ? nullptr : turn_);
    const running guard(handle_, statement_.get());
    for (std::size_t i = 0; i < text_.parameters.size(); ++i) {
      const parameter& place = text_.parameters[i];
      const core::value& value = given.value_of(place);
      const bool tells = place.clock && value.is == core::value::shape::null;
      const core::value bound = tells ? core::value(clock_.now()) : value;
      bind(statement_.get(), static_cast<int>(i) + 1, place, bound);
    }
    const sqlite3_int64 before = sqlite3_total_changes(handle_);
    step_all(statement_.get(), text_.bare ? nullptr : &out);
    if (text_.bare) add_changed(given, sqlite3_total_changes(handle_) - before, out);
  }

 private:
  /// @param out null: rows are left out, such as those of a caller's PRAGMA count_changes.
  void step_all(sqlite3_stmt* statement, core::row_set* out) {
    int result = sqlite3_step(statement);
    for (; result == SQLITE_ROW; result = sqlite3_step(statement)) {
      for (std::size_t i = 0; out != nullptr && i < text_.columns.size(); ++i) {
        out->add(read(statement, static_cast<int>(i), text_.columns[i]));
      }
    }
    if (result != SQLITE_DONE) fail(handle_, text_.sql, whose_);
  }

  /// @param all changes of the statement and of its triggers.
  void add_changed(const arguments& given, sqlite3_int64 all, core::row_set& out) const {
    const auto rows = static_cast<sqlite3_int64>(text_.rows);
    if (sqlite3_changes(handle_) != rows) return;
    if (text_.given_id) {
      for (std::size_t i = 0; i < text_.rows; ++i) {
        out.add(std::int64_t{given.items[i * given.item_width + *text_.given_id].number});
      }
      return;
    }
    // Ids that one statement draws follow each other, unless a trigger has drawn some between.
    if (rows > 1 && all != rows) return;
    const sqlite3_int64 last = sqlite3_last_insert_rowid(handle_);
    for (sqlite3_int64 i = 1; i <= rows; ++i) out.add(std::int64_t{last - rows + i});
  }

  void bind(sqlite3_stmt* statement, int place, const parameter& target, const core::value& given) {
    if (place > sqlite3_bind_parameter_count(statement)) return;
    // A null pointer would bind NULL, unlike an empty payload.
    const char* data = given.data.empty() ? "" : given.data.data();
    int result = SQLITE_OK;
    if (given.is == core::value::shape::null) {
      result = sqlite3_bind_null(statement, place);
    } else if (given.is == core::value::shape::integer) {
      result = sqlite3_bind_int64(statement, place, given.number);
    } else if (target.type == core::value_type::bytes) {
      result = sqlite3_bind_blob64(statement, place, data, given.data.size(), SQLITE_STATIC);
    } else {
      result = sqlite3_bind_text64(statement, place, data, given.data.size(), SQLITE_STATIC,
                                   SQLITE_UTF8);
    }
    if (result != SQLITE_OK) fail(handle_);
  }

  core::cell read(sqlite3_stmt* statement, int column, core::value_type type) {
    sqlite3_value* field = sqlite3_column_value(statement, column);
    if (sqlite3_value_type(field) == SQLITE_NULL) return {};
    if (type == core::value_type::integer) return std::int64_t{sqlite3_value_int64(field)};
    // Text is UTF-8 here, whatever the encoding of the file.
    const void* data = type == core::value_type::text
                           ? static_cast<const void*>(sqlite3_value_text(field))
                           : sqlite3_value_blob(field);
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(field));
    if (data == nullptr && size != 0) fail(handle_);
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
  }

  sqlite3* handle_;
  sqlite_clock clock_;
  text text_;
  session_of whose_;
  sqlite_turn* turn_ = nullptr;  // null also for a statement that only reads
  owned_statement statement_;
};

class sqlite_executor final : public transport {
 public:
  /// For the caller's session, which waits for locks as the caller has set it.
  explicit sqlite_executor(const core::any_session& callers)
      : handle_(handle_of(callers)), callers_(callers.soci) {
    find_files(handle_, files_);
  }
  /// For a session that tableq opened.
  sqlite_executor(sqlite3* handle, const endpoint& address)
      : handle_(handle),
        turn_(std::make_unique<sqlite_turn>(
            address.shortcuts.writers_line ? log_of(handle) : std::string(),
            address.busy_timeout)) {
    find_files(handle, files_);
    sqlite3_busy_handler(handle_, wait_for_lock, turn_.get());
    sqlite3_wal_hook(handle_, copy_log, &pace_);
  }
  sqlite_executor(const sqlite_executor&) = delete;
  sqlite_executor& operator=(const sqlite_executor&) = delete;
  ~sqlite_executor() override {
    if (!turn_) return;
    sqlite3_busy_handler(handle_, nullptr, nullptr);
    sqlite3_wal_hook(handle_, nullptr, nullptr);
  }

  std::unique_ptr<prepared> prepare(text statement, bool keep) override {
    return std::make_unique<sqlite_prepared>(handle_, std::move(statement), keep, turn_.get());
  }
  void script(const std::string& sql, boundary what) override {
    const auto lock = turn_of(what == boundary::begin ? turn_.get() : nullptr);
    if (turn_ && what != boundary::none) return run(kept_[sql], sql);
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(handle_);
  }

  bool run_together(const std::string& /*begin*/, bool /*needed*/,
                    std::span<const bound_statement> /*all*/) override {
    return false;
  }

  bool alive() noexcept override { return true; }
  core::transaction_status transaction() noexcept override {
    if (callers_ != nullptr && !attached()) return core::transaction_status::closed;
    return sqlite3_get_autocommit(handle_) == 0 ? core::transaction_status::open
                                                : core::transaction_status::none;
  }
  const session_files* files() noexcept override {
    if (!files_) return nullptr;
    if (!files_->log) find_files(handle_, files_);
    return &*files_;
  }

 private:
  /// @param kept the statement after its first use: to parse it costs more than to run it.
  void run(owned_statement& kept, const std::string& sql) {
    if (!kept) {
      sqlite3_stmt* made = nullptr;
      sqlite3_prepare_v3(handle_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
      kept.reset(made);
      if (made == nullptr) fail(handle_);
    }
    const running guard(handle_, kept.get());
    if (sqlite3_step(kept.get()) != SQLITE_DONE) fail(handle_);
  }
  /// The caller may have connected the session anew, to any database.
  [[nodiscard]] bool attached() const noexcept {
    return callers_->get_backend_name() == "sqlite3" && handle_of(*callers_) == handle_;
  }

  sqlite3* handle_;
  soci::session* callers_ = nullptr;    // null also for a handle without SOCI
  std::optional<session_files> files_;  // empty for a database in memory
  std::unique_ptr<sqlite_turn> turn_;
  checkpoint_pace pace_;
  std::map<std::string, owned_statement> kept_;  // begins and ends of a session of tableq
};

/// The file of `dbname="file"`; empty for one that only SQLite can find.
std::string file_of(const std::string& connect) {
  const std::size_t begin = connect.find('"');
  const std::size_t end = connect.rfind('"');
  if (begin == std::string::npos || begin == end) return {};
  const std::string name = connect.substr(begin + 1, end - begin - 1);
  return name.starts_with("file:") || name.starts_with(':') ? std::string() : name;
}

/// Why the file cannot be opened, if it is a directory or has none; else empty.
std::string missing_directory(const std::string& name) {
  if (name.empty()) return {};
  const std::filesystem::path file(name);
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) {
    return name + " is a directory; name a file in it";
  }
  const std::filesystem::path directory = std::filesystem::absolute(file, failed).parent_path();
  if (failed || std::filesystem::exists(directory, failed) || failed) return {};
  return "the directory " + directory.string() + " does not exist; create it first";
}

/// Tells only_sqlite of the end of a session: SQLite destroys functions after it has closed the
/// files, and has no other callback there.
void tell_end(sqlite3* handle) {
  const auto returns_null = [](sqlite3_context* call, int /*count*/, sqlite3_value** /*values*/) {
    sqlite3_result_null(call);
  };
  const auto end = [](void* data) {
    const std::unique_ptr<file_identity> file(static_cast<file_identity*>(data));
    only_sqlite::closed(*file);
  };
  sqlite3_create_function_v2(handle, "tableq_end_of_session", 0, SQLITE_UTF8,
                             new file_identity(identity_of_file(file_of(handle))), returns_null,
                             nullptr, nullptr, end);
}

void connect(soci::session& session, const endpoint& address) {
  prepare_sqlite_for_forks();
  const std::string file = file_of(address.connect);
  common_file::refuse_inherited(named_file(file));
  std::error_code failed;
  if (!address.may_create && !file.empty() && !std::filesystem::exists(file, failed) && !failed) {
    const std::string why = missing_directory(file);
    throw native_failure::judged_as(
        {.code = errc::not_found},
        why.empty() ? "the file " + file +
                          " does not exist; check its name, or create a queue, which makes it"
                    : why);
  }
  const bool alone = address.connect.ends_with(other_sqlite_refused);
  const std::size_t own = alone ? other_sqlite_refused.size() : 0;
  std::optional<only_sqlite> opening;
  if (alone && !file.empty()) opening.emplace(file);
  try {
    session.open(soci::sqlite3, address.connect.substr(0, address.connect.size() - own));
    if (!opening) return;
    opening.reset();  // Without memory SQLite calls `end` at once, which waits for the end of this.
    tell_end(handle_of(session));
  } catch (const soci::sqlite3_soci_error& failure) {
    const std::string missing = missing_directory(file);
    if (std::string refused = refused_writes(file); missing.empty() && !refused.empty()) {
      throw native_failure::judged_as({errc::read_only, advice::never}, std::move(refused));
    }
    throw native_failure({.number = failure.result(),
                          .sentence = missing.empty() ? failure.get_error_message() : missing});
  }
}

void open_callers(soci::session& session, const endpoint& address) {
  connect(session, address);
  sqlite3_busy_timeout(handle_of(session), static_cast<int>(address.busy_timeout.count()));
}

std::unique_ptr<soci::session> open(const endpoint& address) {
  auto session = std::make_unique<soci::session>();
  connect(*session, address);
  sqlite3* handle = handle_of(*session);
  sqlite3_extended_result_codes(handle, 1);
  sqlite_executor executor(handle, address);
  for (const std::string& statement : address.setup) executor.script(statement, boundary::none);
  return session;
}

std::unique_ptr<transport> attach(const core::any_session& session, const endpoint& address,
                                  bool callers) {
  return callers ? std::make_unique<sqlite_executor>(session)
                 : std::make_unique<sqlite_executor>(handle_of(session), address);
}

session_place place(const core::any_session& /*session*/, const session_files* files) {
  if (files == nullptr) return {.exclusive = true};
  // The next operation reports a file that is gone.
  if (!files->main.there()) return {};
  return {.name = files->main.number(), .exclusive = true};
}

/// Only the file's name is taken from the session.
std::unique_ptr<core::listener> listen(std::unique_ptr<core::connection> session,
                                       const endpoint& /*address*/) {
  return watch_file(file_of(static_cast<sqlite3*>(session->session().handle)));
}

std::optional<native_error> answer_in(const std::exception& thrown,
                                      const core::any_session& /*session*/) {
  const auto* const known = dynamic_cast<const soci::sqlite3_soci_error*>(&thrown);
  if (known == nullptr) return std::nullopt;
  return native_error{.number = known->result()};
}

}  // namespace

const transport_kind sqlite_transport{
    .name = "sqlite",
    .backend = "sqlite3",
    .markers = marker::numbered_question,
    .arrays = false,
    .open = open,
    .open_callers = open_callers,
    .attach = attach,
    .fits = nullptr,
    .place = place,
    .handle_of = [](soci::session& session) -> void* { return handle_of(session); },
    .listen = listen,
    .answer_in = answer_in,
    .bare = true,
    .tells_time = true};

}  // namespace tableq::inline v0::drivers
