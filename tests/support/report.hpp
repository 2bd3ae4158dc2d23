#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tableq_test {

/// Prints a line that becomes a row in the table of scripts/soak.sh: the fault, the place, the
/// number of times, and the result. Only in a test that has not failed so far.
void report_injected(std::string_view what, std::string_view where, std::uint64_t times,
                     const std::string& result);

/// The seed of the test's random choices, printed so that it can be used again.
[[nodiscard]] std::uint64_t told_seed();

/// The time in seconds for faults in a test of a long mode: TABLEQ_TEST_SECONDS. Empty: no limit.
class time_budget {
 public:
  time_budget();
  [[nodiscard]] bool is_over() const;

 private:
  std::int64_t until_;
};

}  // namespace tableq_test
