#include "support/report.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "support/seed.hpp"

namespace tableq_test {
namespace {

std::int64_t now() {
  using seconds = std::chrono::seconds;
  return std::chrono::duration_cast<seconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void report_injected(std::string_view what, std::string_view where, std::uint64_t times,
                     const std::string& result) {
  if (testing::Test::HasFailure()) return;
  std::printf("INJECTED|%.*s|%.*s|%s|%s\n", static_cast<int>(what.size()), what.data(),
              static_cast<int>(where.size()), where.data(), std::to_string(times).c_str(),
              result.c_str());
  std::fflush(stdout);
}

std::uint64_t told_seed() {
  const std::uint64_t seed = chosen_seed();
  const std::string text = std::to_string(seed);
  testing::Test::RecordProperty("seed", text);
  std::printf("TABLEQ_TEST_SEED=%s\n", text.c_str());
  return seed;
}

time_budget::time_budget() {
  const char* given = std::getenv("TABLEQ_TEST_SECONDS");
  until_ = given == nullptr ? std::numeric_limits<std::int64_t>::max() : now() + std::stoll(given);
}

bool time_budget::is_over() const {
  return now() >= until_;
}

}  // namespace tableq_test
