#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tableq/shortcuts.hpp>

#include "databases/databases.hpp"
#include "raw.hpp"

namespace bench {

/// The result of parsing the command line.
struct settings {
  std::string backend;                        ///< The name of its kind.
  std::string address;                        ///< Of the server, where there is one.
  std::string directory;                      ///< The directory of a database's files.
  std::vector<std::string> synchronous = {};  ///< Empty: the usual ones of the backend.
  bool modes_given = false;                   ///< True: cases do not select modes.
  std::vector<std::string> cases = {};        ///< Patterns with `*`; empty: all.
  std::string json_file = {};                 ///< Empty: no JSON.
  double seconds = 1;                         ///< For each measurement.
  std::size_t rounds = 5;
  std::size_t threads = 32;                 ///< For cases with many threads.
  std::size_t messages = 1'000'000;         ///< For cases with many messages.
  std::size_t busy = 0;                     ///< Processes that compute meanwhile.
  std::size_t sessions = 0;                 ///< open_options::max_sessions; zero: the default.
  tableq::shortcuts shortcuts = {};         ///< open_options::shortcuts.
  std::string notifications = "automatic";  ///< open_options::notifications.
  bool list = false;
};

/// One place in one database, with one mode of commits.
struct bed {
  const settings& how;
  const database_kind& kind;
  raw_database& raw;
  std::string synchronous;
};

/// Receives each result at once.
class recorder {
 public:
  recorder() = default;
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;
  virtual ~recorder() = default;

  /// One object: the `case`; `rate` and `limit` in messages a second, medians of the rounds;
  /// `ratio`, the median of the rounds' ratios; `spread`, greatest less least ratio as a share of
  /// that; `p50_us` and `p99_us` of one call, `limit_p50_us` of the limit's. Some cases have
  /// `fairness` (slowest / fastest process), `longest_us` (the longest call), `above_us` (p50 less
  /// the limit's) or `limit_of` (the limit, if not the plain statements). Cases of a worker have
  /// the `limit` "none", and their latencies are those from the enqueue to the handler. Backend and
  /// mode are added.
  virtual void record(const bed& where, json result) = 0;
};

}  // namespace bench
