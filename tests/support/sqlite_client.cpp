#include "support/sqlite_client.hpp"

#include <stdexcept>

namespace tableq_test {
namespace {

struct finalizer {
  void operator()(sqlite3_stmt* prepared) const noexcept { sqlite3_finalize(prepared); }
};
using statement = std::unique_ptr<sqlite3_stmt, finalizer>;

[[noreturn]] void refuse(sqlite3* handle, const char* what) {
  throw std::runtime_error(std::string("plain client: ") + what + ": " + sqlite3_errmsg(handle));
}

statement prepare(sqlite3* handle, const char* text, const char** rest) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(handle, text, -1, &prepared, rest) != SQLITE_OK) refuse(handle, "prepare");
  return statement(prepared);
}

row read(sqlite3_stmt* prepared) {
  row out;
  for (int i = 0; i < sqlite3_column_count(prepared); ++i) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(prepared, i));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(prepared, i));
    if (sqlite3_column_type(prepared, i) == SQLITE_NULL) {
      out.emplace_back();
    } else {
      out.emplace_back(size == 0 ? std::string() : std::string(bytes, size));
    }
  }
  return out;
}

/// Binds integers and quoted texts; NULL is what a parameter is before it is bound.
void bind(sqlite3_stmt* prepared, const parameters& with) {
  for (const auto& [name, literal] : with) {
    const int at = sqlite3_bind_parameter_index(prepared, (":" + name).c_str());
    if (at == 0 || literal == "NULL") continue;
    if (literal.front() == '\'') {
      const std::string text = literal.substr(1, literal.size() - 2);
      sqlite3_bind_text(prepared, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    } else {
      sqlite3_bind_int64(prepared, at, std::stoll(literal));
    }
  }
}

}  // namespace

sqlite_client::sqlite_client(const std::string& path, int busy_milliseconds) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(path.c_str(), &opened);
  handle_.reset(opened);
  if (code != SQLITE_OK) refuse(opened, "open");
  sqlite3_busy_timeout(opened, busy_milliseconds);
  // Data of a test need not survive a crash.
  run("PRAGMA synchronous = OFF");
}

rows sqlite_client::run(const std::string& text) {
  rows out;
  const char* rest = text.c_str();
  while (*rest != '\0') {
    const statement prepared = prepare(handle_.get(), rest, &rest);
    if (!prepared) continue;  // Only space was left.
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(prepared.get())) == SQLITE_ROW) out.push_back(read(prepared.get()));
    if (code != SQLITE_DONE) refuse(handle_.get(), "run");
  }
  return out;
}

rows sqlite_client::run(const std::string& text, const parameters& with) {
  const statement prepared = prepare(handle_.get(), text.c_str(), nullptr);
  bind(prepared.get(), with);
  rows out;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(prepared.get())) == SQLITE_ROW) out.push_back(read(prepared.get()));
  if (code != SQLITE_DONE) refuse(handle_.get(), "run");
  return out;
}

std::int64_t sqlite_client::steps_of(const std::string& text, const parameters& with) {
  const statement prepared = prepare(handle_.get(), text.c_str(), nullptr);
  bind(prepared.get(), with);
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = sqlite3_step(prepared.get());
  if (code != SQLITE_DONE) refuse(handle_.get(), "run");
  return sqlite3_stmt_status(prepared.get(), SQLITE_STMTSTATUS_VM_STEP, 0);
}

}  // namespace tableq_test
