#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "first/report.hpp"
#include "support/text.hpp"

namespace tableq_test::first {
namespace {

constexpr std::size_t most_lines = 6;  // of one failure
constexpr std::size_t most_failures = 60;
constexpr std::size_t longest = 300;

struct failed_test {
  std::string name;
  std::vector<std::string> lines;
};

/// What googletest prints with --gtest_brief=1: failures, and then `[  FAILED  ] name`.
std::vector<failed_test> failures_in(std::istream& log, std::vector<std::string>& last) {
  std::vector<failed_test> out;
  std::vector<std::string> lines;
  const std::string mark = "[  FAILED  ] ";
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with(mark) && contains(line, " ms)")) {
      out.push_back({line.substr(mark.size(), line.find(" (") - mark.size()), lines});
      lines.clear();
    } else if (line.starts_with("[==========]") || line.starts_with("[  PASSED  ]") ||
               line.starts_with("[  SKIPPED ]")) {
      last.push_back(line);
      lines.clear();
    } else if (!line.empty() && lines.size() < most_lines) {
      lines.push_back(line.substr(0, longest));
    }
  }
  return out;
}

}  // namespace

void report_suite(report& to, const std::string& name, const std::string& log, int status) {
  to.step("suite " + name);
  std::ifstream in(log);
  std::vector<std::string> last;
  const auto failed = failures_in(in, last);
  for (const std::string& line : last) to.note(line);
  to.note("exit status " + std::to_string(status));
  if (last.empty()) {
    to.finding(name + " did not come to its end", status == 124
                                                      ? "give it more time: --minutes"
                                                      : "look at its output: build/dev/tests");
  }
  std::size_t told = 0;
  for (const failed_test& each : failed) {
    if (++told > most_failures) break;
    to.finding("failed: " + each.name, "send the file; run this test alone with --gtest_filter");
    for (const std::string& line : each.lines) to.note("  | " + line);
  }
  if (told > most_failures) to.note("and others, " + std::to_string(failed.size()) + " in all");
}

}  // namespace tableq_test::first
