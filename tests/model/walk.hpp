#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/seed.hpp"

namespace tableq_test {

/// The numbers of a walk's steps. Each step draws its choices from the seed and its own number
/// alone, so that a walk is still one when some are left out.
using walk_steps = std::vector<std::uint64_t>;

/// Leaves out what may be left out while `fails` stays true, in halves, quarters and so on down to
/// single steps.
[[nodiscard]] walk_steps shrunk(walk_steps steps,
                                const std::function<bool(const walk_steps&)>& fails);

/// A random walk, run by tests.
struct random_walk {
  /// Makes everything new: called before the first step, and again for each try with fewer of them.
  std::function<void()> begin;
  std::function<void(random_source&)> step;
  /// How many there are unless TABLEQ_TEST_STEPS says.
  std::uint64_t usual_steps = 1000;
};

/// Walks. Prints the seed, which TABLEQ_TEST_SEED repeats. When a step fails the test or throws,
/// the walk is shrunk, for a minute at most, and the test fails with what failed and with the steps
/// that are enough for it, which TABLEQ_TEST_ONLY repeats.
void walk(const random_walk& along);

}  // namespace tableq_test
