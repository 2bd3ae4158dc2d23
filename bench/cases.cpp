#include "cases.hpp"

#include <iterator>
#include <utility>

namespace bench {

std::vector<bench_case> all_cases() {
  std::vector<bench_case> all;
  for (auto* part : {throughput_cases, mapped_cases, table_cases, outbox_cases, asynchronous_cases,
                     process_cases, latency_cases, backlog_cases, growth_cases, memory_cases,
                     worker_cases, shortcut_cases, turn_cases, feature_cases}) {
    std::vector<bench_case> some = part();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

bool matches(const std::string& pattern, const std::string& name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == name;
  if (name.compare(0, star, pattern, 0, star) != 0) return false;
  const std::string rest = pattern.substr(star + 1);
  for (std::size_t from = star; from <= name.size(); ++from) {
    if (matches(rest, name.substr(from))) return true;
  }
  return false;
}

}  // namespace bench
