#include "model/walk.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>

#include "support/report.hpp"

namespace tableq_test {

namespace {

struct failed_walk {
  std::uint64_t step = 0;
  std::string what;
};

/// Walks the steps within the time. Counts them, and returns the first failure without reporting it
/// to the test.
std::optional<failed_walk> first_failure(const random_walk& along, std::uint64_t seed,
                                         const walk_steps& steps, std::uint64_t& walked) {
  const time_budget time;
  testing::TestPartResultArray results;
  const testing::ScopedFakeTestPartResultReporter kept(&results);
  std::uint64_t at = 0;
  try {
    along.begin();
    for (const std::uint64_t each : steps) {
      if (results.size() > 0 || time.is_over()) break;
      at = each;
      random_source random(seed + each * 0x9e3779b97f4a7c15U);
      along.step(random);
      ++walked;
    }
  } catch (const std::exception& thrown) {
    return failed_walk{at, std::string("thrown: ") + thrown.what()};
  }
  if (results.size() == 0) return {};
  const testing::TestPartResult& first = results.GetTestPartResult(0);
  return failed_walk{at, std::string(first.file_name() == nullptr ? "" : first.file_name()) + ":" +
                             std::to_string(first.line_number()) + ": " + first.message()};
}

/// The text that selects the steps again; long lists are omitted.
std::string repeated(const walk_steps& steps) {
  if (steps.size() > 1000) return "TABLEQ_TEST_STEPS=" + std::to_string(steps.back() + 1);
  std::string out = "TABLEQ_TEST_ONLY=";
  const std::size_t prefix = out.size();
  for (const std::uint64_t each : steps) {
    if (out.size() > prefix) out += ',';
    out += std::to_string(each);
  }
  return out;
}

walk_steps chosen(std::uint64_t usual) {
  walk_steps steps;
  if (const char* only = std::getenv("TABLEQ_TEST_ONLY")) {
    std::istringstream in(only);
    for (std::string one; std::getline(in, one, ',');) steps.push_back(std::stoull(one));
    return steps;
  }
  steps.resize(chosen_steps(usual));
  std::iota(steps.begin(), steps.end(), 0U);
  return steps;
}

}  // namespace

walk_steps shrunk(walk_steps steps, const std::function<bool(const walk_steps&)>& fails) {
  for (std::size_t chunk = (steps.size() + 1) / 2; chunk > 0; chunk /= 2) {
    for (std::size_t at = 0; at < steps.size();) {
      walk_steps fewer = steps;
      const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t count = std::min(chunk, steps.size() - at);
      fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      if (fails(fewer)) {
        steps = std::move(fewer);
      } else {
        at += chunk;
      }
    }
  }
  return steps;
}

void walk(const random_walk& along) {
  const std::uint64_t seed = told_seed();
  const walk_steps all = chosen(along.usual_steps);
  std::uint64_t walked = 0;
  auto failure = first_failure(along, seed, all, walked);
  if (!failure) {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    const std::string_view name = test.name();
    report_injected(std::string("steps of ") + test.test_suite_name(),
                    name.substr(name.find('/') + 1), walked,
                    std::string(name.substr(0, name.find('/'))));
    return;
  }
  walk_steps steps(all.begin(), std::find(all.begin(), all.end(), failure->step));
  steps.push_back(failure->step);
  const std::string before = failure->what;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  steps = shrunk(std::move(steps), [&](const walk_steps& fewer) {
    if (std::chrono::steady_clock::now() > end) return false;
    const auto again = first_failure(along, seed, fewer, walked);
    if (again) failure = again;
    return again.has_value();
  });
  ADD_FAILURE() << "these steps are enough: TABLEQ_TEST_SEED=" << seed << ' ' << repeated(steps)
                << "\n"
                << failure->what << "\nbefore any was left out: " << before;
}

}  // namespace tableq_test
