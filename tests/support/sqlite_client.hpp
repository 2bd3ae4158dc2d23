#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "support/backend.hpp"

namespace tableq_test {

/// A plain client of an SQLite file, like the `sqlite3` shell.
class sqlite_client {
 public:
  explicit sqlite_client(const std::string& path, int busy_milliseconds = 10'000);

  /// Any number of statements; the rows of all of them.
  rows run(const std::string& text);
  /// The rows of one statement with `:name` parameters.
  rows run(const std::string& text, const parameters& with);
  /// Runs one statement and counts the steps of SQLite's virtual machine.
  std::int64_t steps_of(const std::string& text, const parameters& with);

 private:
  struct closer {
    void operator()(sqlite3* open) const noexcept { sqlite3_close_v2(open); }
  };
  std::unique_ptr<sqlite3, closer> handle_;
};

}  // namespace tableq_test
