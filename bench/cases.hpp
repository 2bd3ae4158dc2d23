#pragma once

#include <functional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace bench {

/// One row of the tables.
struct bench_case {
  std::string name;
  std::string description;
  /// Whether it runs on a database.
  bool (*fits)(const database_kind& database);
  /// Empty: with all modes of commits.
  std::vector<std::string> synchronous = {};
  std::function<void(const bed& where, recorder& out)> run;
};

// Runs cases on a database.
inline bool everywhere(const database_kind& /*database*/) {
  return true;
}
inline bool natively(const database_kind& database) {
  return database.native;
}
inline bool with_many_writers(const database_kind& database) {
  return database.native && !database.one_writer;
}
inline bool with_one_writer(const database_kind& database) {
  return database.one_writer;
}

/// Defined by each file of cases.
std::vector<bench_case> throughput_cases();
std::vector<bench_case> mapped_cases();
std::vector<bench_case> table_cases();
std::vector<bench_case> outbox_cases();
std::vector<bench_case> asynchronous_cases();
std::vector<bench_case> process_cases();
std::vector<bench_case> latency_cases();
std::vector<bench_case> backlog_cases();
std::vector<bench_case> growth_cases();
std::vector<bench_case> memory_cases();
std::vector<bench_case> worker_cases();
std::vector<bench_case> shortcut_cases();
std::vector<bench_case> turn_cases();
std::vector<bench_case> feature_cases();

/// All cases, in the order in which they run.
std::vector<bench_case> all_cases();

/// Whether a name matches a pattern with `*`.
bool matches(const std::string& pattern, const std::string& name);

}  // namespace bench
