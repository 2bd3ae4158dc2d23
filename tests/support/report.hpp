#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tableq_test {

/// Prints a line that scripts/soak.sh makes a row of its table of: what was done to tableq, where,
/// how often, and what came of it. Only in a test that has not failed so far.
void report_injected(std::string_view what, std::string_view where, std::uint64_t times,
                     const std::string& result);

/// The seed of the test's random choices: printed, so that it can be given again.
[[nodiscard]] std::uint64_t told_seed();

/// Seconds that a test of a long mode may go on injecting: TABLEQ_TEST_SECONDS; empty: until it has
/// done all that it wants.
class time_budget {
 public:
  time_budget();
  [[nodiscard]] bool is_over() const;

 private:
  std::int64_t until_;
};

}  // namespace tableq_test
