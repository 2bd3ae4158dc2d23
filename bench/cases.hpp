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
  /// Whether it is measured on a database.
  bool (*fits)(const database_kind& on);
  /// Empty: with all modes of commits.
  std::vector<std::string> synchronous = {};
  std::function<void(const bed& where, recorder& out)> run;
};

// Where cases are measured.
inline bool everywhere(const database_kind& /*on*/) {
  return true;
}
inline bool natively(const database_kind& on) {
  return on.native;
}
inline bool with_one_writer(const database_kind& on) {
  return on.one_writer;
}

/// What each file of cases has.
std::vector<bench_case> throughput_cases();
std::vector<bench_case> asynchronous_cases();
std::vector<bench_case> process_cases();
std::vector<bench_case> latency_cases();
std::vector<bench_case> backlog_cases();
std::vector<bench_case> growth_cases();
std::vector<bench_case> memory_cases();

/// All of them, in the order in which they run.
std::vector<bench_case> all_cases();

/// Whether a name is what a pattern with `*` describes.
bool matches(const std::string& pattern, const std::string& name);

}  // namespace bench
