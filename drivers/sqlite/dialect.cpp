#include <algorithm>
#include <array>
#include <chrono>
#include <locale>
#include <string>
#include <string_view>
#include <utility>

#include <boost/algorithm/string/predicate.hpp>

#include "core/base/errors.hpp"
#include "core/input/connection_string.hpp"
#include "drivers/dialects.hpp"
#include "drivers/sqlite/sqlite_sql.hpp"
#include "drivers/text.hpp"
#include "drivers/transport/file_system.hpp"
#include "drivers/transport/other_sqlite.hpp"

namespace tableq::inline v0::drivers {
namespace {

using namespace std::chrono_literals;
constexpr std::string_view memory = ":memory:";
using level_text = std::pair<std::string_view, const char*>;
constexpr std::array<level_text, 4> levels{{{"off", "PRAGMA synchronous = off"},
                                            {"normal", "PRAGMA synchronous = normal"},
                                            {"full", "PRAGMA synchronous = full"},
                                            {"extra", "PRAGMA synchronous = extra"}}};

/// The file of either form: `sqlite://path`, or SOCI's `sqlite3://dbname=path`.
std::string file_of(const connection_url& url) {
  std::string file = url.rest;
  for (const std::string_view key : {"dbname=", "db="}) {
    if (file.starts_with(key)) {
      file.erase(0, key.size());
      if (file.size() > 1 && file.front() == '"' && file.back() == '"')
        file = file.substr(1, file.size() - 2);
      else if (file.find(' ') != std::string::npos)
        core::refuse("give options after `?`: sqlite://file?synchronous=full&busy_timeout=5s");
      break;
    }
  }
  if (file.empty()) core::refuse("no file is named; write sqlite://jobs.db or sqlite://:memory:");
  const auto begins_with = [&](std::string_view start) {
    return boost::algorithm::istarts_with(file, start, std::locale::classic());
  };
  if (file != memory &&
      (file.ends_with("/:memory:") || begins_with(":memory") || begins_with("file::memory"))) {
    core::refuse(
        "this would make a file, or a database for each session; write sqlite://:memory: for a "
        "database in memory, or name the file otherwise");
  }
  if (std::any_of(file.begin(), file.end(), [](char c) { return c == '"' || (c >= 0 && c < ' '); }))
    core::refuse("the file's name must not hold double quotes or control characters");
  return file;
}

endpoint resolve(const dialect& self, const connection_url& url) {
  if (!url.problem.empty()) core::refuse(url.problem);
  std::string file = file_of(url);
  if (file != memory && !file.starts_with("file:")) file = name_from_root(file);
  endpoint out{
      .connect = "dbname=\"" + file + "\"", .busy_timeout = 5s, .capabilities = self.capabilities};
  for (const auto& [key, given] : url.settings) {
    if (key == "synchronous") {
      const auto* const level = std::ranges::find(levels, given, &level_text::first);
      if (level == levels.end()) core::refuse("synchronous is one of off, normal, full and extra");
      out.setup = {level->second};
    } else if (key == "busy_timeout") {
      out.busy_timeout = core::parse_duration(key, given, 0ms, 1h);
    } else if (key == "other_sqlite" && given == "refuse") {
      out.connect += other_sqlite_refused;
    } else {
      core::refuse("unknown setting " + core::shown(key) +
                   "; known are synchronous, busy_timeout and other_sqlite=refuse");
    }
  }
  if (file != memory) note_file_system(file, out.capabilities);
  // Otherwise each session would have its own database.
  if (file == memory) out.capabilities.max_sessions = 1;
  return out;
}

}  // namespace

dialect make_sqlite_dialect() {
  return {
      .name = "sqlite",
      .schemes = {"sqlite", "sqlite3"},
      .transport = "sqlite",
      .products = {"SQLite"},
      .statements = sqlite_sql::statements,
      .ddl = sqlite_sql::ddl(),
      .steps = sqlite_sql::steps(),
      .tables = sqlite_sql::tables,
      .setup = split_script(sqlite_sql::setup),
      .begin = "BEGIN IMMEDIATE",
      .batches = batching::loop,
      .row_counts = {1, 2, 4, 8, 16, 32, 64, 100},
      // One writer: every order is strict anyway. SQLITE_MAX_LENGTH, 10^9, is of a whole row.
      .capabilities = {.strict_needs_lock = false,
                       .schemas = false,
                       .one_writer = true,
                       .partial_indexes = true,
                       .max_payload = 999'900'000},
      .resolve = resolve,
      .classify = classify_sqlite,
  };
}

}  // namespace tableq::inline v0::drivers
