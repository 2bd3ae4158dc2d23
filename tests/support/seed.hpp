#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace tableq_test {

/// Random choices that one number repeats on every platform; the distributions of the standard
/// library differ.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_(seed) {}
  /// From 0 to `bound` - 1.
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  bool one_in(std::uint64_t times) { return below(times) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// The number in TABLEQ_TEST_SEED, or a random one for `random`; the test must print it. Without it
/// always the same number: a change fails the tests only by what it changes.
inline std::uint64_t chosen_seed() {
  const char* given = std::getenv("TABLEQ_TEST_SEED");
  if (given == nullptr) return 1581578571;
  return given == std::string_view("random") ? std::random_device{}() : std::stoull(given);
}

/// The number in TABLEQ_TEST_STEPS. Without it `usual`.
inline std::uint64_t chosen_steps(std::uint64_t usual) {
  const char* given = std::getenv("TABLEQ_TEST_STEPS");
  return given == nullptr ? usual : std::stoull(given);
}

}  // namespace tableq_test
