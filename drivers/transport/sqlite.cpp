#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "drivers/transport.hpp"
#include "drivers/transport/file_watch.hpp"

namespace tableq::drivers {
namespace {

// SOCI's header puts the C interface into this namespace.
using namespace sqlite_api;

[[noreturn]] void fail(sqlite3* handle) {
  throw native_failure(
      {.number = sqlite3_extended_errcode(handle), .sentence = sqlite3_errmsg(handle)});
}

sqlite3* handle_of(soci::session& session) {
  return static_cast<soci::sqlite3_session_backend*>(session.get_backend())->conn_;
}

/// Waits for a lock. SQLite's own handler sleeps up to 100 ms at a time, and the processes that
/// wait starve behind the one that comes back at once; short, random sleeps share the lock.
/// @param limit the busy time-out in milliseconds, carried in the pointer itself.
int wait_for_lock(void* limit, int tries) {
  // One wait is the work of one thread.
  thread_local std::chrono::steady_clock::time_point began;
  thread_local std::minstd_rand random{std::random_device{}()};
  constexpr int many = 2000;
  const auto now = std::chrono::steady_clock::now();
  if (tries == 0) began = now;
  const std::chrono::milliseconds longest{reinterpret_cast<std::intptr_t>(limit)};
  if (now - began >= longest) return 0;
  std::uniform_int_distribution<int> microseconds(20, tries < many ? 200 : 2000);
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
  return 1;
}

struct finalize {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

/// Resets at the end of a run, so that neither a lock nor a borrowed value outlives it.
class running {
 public:
  explicit running(sqlite3_stmt* statement) noexcept : statement_(statement) {}
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

 private:
  sqlite3_stmt* statement_;
};

class sqlite_prepared final : public prepared {
 public:
  sqlite_prepared(sqlite3* handle, text of, bool keep) : handle_(handle), text_(std::move(of)) {
    sqlite3_stmt* made = nullptr;
    const int result =
        sqlite3_prepare_v3(handle, text_.sql.c_str(), static_cast<int>(text_.sql.size() + 1),
                           keep ? SQLITE_PREPARE_PERSISTENT : 0U, &made, nullptr);
    statement_.reset(made);
    if (result != SQLITE_OK) fail(handle);
    if (sqlite3_column_count(made) < static_cast<int>(text_.columns.size())) {
      throw native_failure({.number = SQLITE_MISMATCH, .sentence = "the statement lacks a column"});
    }
  }

  void run(const arguments& with, core::row_set& out) override {
    const running guard(statement_.get());
    for (std::size_t i = 0; i < text_.parameters.size(); ++i) {
      const parameter& place = text_.parameters[i];
      bind(static_cast<int>(i) + 1, place, with.of(place));
    }
    int result = sqlite3_step(statement_.get());
    for (; result == SQLITE_ROW; result = sqlite3_step(statement_.get())) {
      for (std::size_t i = 0; i < text_.columns.size(); ++i) {
        out.add(read(static_cast<int>(i), text_.columns[i]));
      }
    }
    if (result != SQLITE_DONE) fail(handle_);
  }

 private:
  void bind(int place, const parameter& as, const core::value& given) {
    sqlite3_stmt* to = statement_.get();
    // A null pointer would bind NULL; an empty payload is not that.
    const char* data = given.data.empty() ? "" : given.data.data();
    int result = SQLITE_OK;
    if (given.is == core::value::shape::null) {
      result = sqlite3_bind_null(to, place);
    } else if (given.is == core::value::shape::integer) {
      result = sqlite3_bind_int64(to, place, given.number);
    } else if (as.type == core::value_type::bytes) {
      result = sqlite3_bind_blob64(to, place, data, given.data.size(), SQLITE_STATIC);
    } else {
      result = sqlite3_bind_text64(to, place, data, given.data.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    if (result != SQLITE_OK) fail(handle_);
  }

  core::cell read(int column, core::value_type type) {
    sqlite3_stmt* from = statement_.get();
    if (sqlite3_column_type(from, column) == SQLITE_NULL) return {};
    if (type == core::value_type::integer) return std::int64_t{sqlite3_column_int64(from, column)};
    // As text it is UTF-8, whatever the encoding of the file.
    const void* data = type == core::value_type::text
                           ? static_cast<const void*>(sqlite3_column_text(from, column))
                           : sqlite3_column_blob(from, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(from, column));
    if (data == nullptr && size != 0) fail(handle_);
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
  }

  sqlite3* handle_;
  text text_;
  std::unique_ptr<sqlite3_stmt, finalize> statement_;
};

class sqlite_executor final : public transport {
 public:
  explicit sqlite_executor(sqlite3* handle) noexcept : handle_(handle) {}

  std::unique_ptr<prepared> prepare(text of, bool keep) override {
    return std::make_unique<sqlite_prepared>(handle_, std::move(of), keep);
  }
  void script(const std::string& sql, boundary /*what*/) override {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(handle_);
  }
  bool alive() noexcept override { return true; }
  bool in_transaction() noexcept override { return sqlite3_get_autocommit(handle_) == 0; }

 private:
  sqlite3* handle_;
};

std::unique_ptr<soci::session> open(const endpoint& at) {
  std::unique_ptr<soci::session> session;
  try {
    session = std::make_unique<soci::session>(soci::sqlite3, at.connect);
  } catch (const soci::sqlite3_soci_error& failure) {
    throw native_failure({.number = failure.result(), .sentence = failure.get_error_message()});
  }
  sqlite3* handle = handle_of(*session);
  sqlite3_extended_result_codes(handle, 1);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): never followed, see wait_for_lock
  auto* const limit = reinterpret_cast<void*>(static_cast<std::intptr_t>(at.busy_timeout.count()));
  sqlite3_busy_handler(handle, wait_for_lock, limit);
  sqlite_executor executor(handle);
  for (const std::string& statement : at.setup) executor.script(statement, boundary::none);
  return session;
}

std::unique_ptr<transport> attach(soci::session& session, const endpoint& /*at*/) {
  return std::make_unique<sqlite_executor>(handle_of(session));
}

bool fits(soci::session& session, const dialect& /*speaks*/) {
  return session.get_backend() != nullptr && session.get_backend_name() == "sqlite3";
}

/// The session tells which file it is, and is not needed any more.
std::unique_ptr<core::listener> listen(std::unique_ptr<core::connection> session,
                                       const endpoint& /*at*/) {
  const char* file = sqlite3_db_filename(handle_of(session->session()), "main");
  return watch_file(file == nullptr ? "" : file);
}

}  // namespace

const transport_kind sqlite_transport{
    "sqlite", marker::numbered_question, false, open, attach, fits, listen};

}  // namespace tableq::drivers
