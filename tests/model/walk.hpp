#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "support/seed.hpp"

namespace tableq_test {

/// The numbers of a walk's steps. Each step draws its choices only from the seed and its own
/// number, so that a walk without some steps is still valid.
using walk_steps = std::vector<std::uint64_t>;

/// Removes steps while `fails` stays true, in halves, quarters and so on down to single steps.
[[nodiscard]] walk_steps shrunk(walk_steps steps,
                                const std::function<bool(const walk_steps&)>& fails);

/// A random walk, run by tests.
struct random_walk {
  /// Creates everything: called before the first step, and again for each attempt with fewer steps.
  std::function<void()> begin;
  std::function<void(random_source&)> step;
  /// The number of steps without TABLEQ_TEST_STEPS.
  std::uint64_t usual_steps = 1000;
};

/// Walks. Prints the seed, which TABLEQ_TEST_SEED repeats. When a step fails the test or throws,
/// the walk is shrunk, for a minute at most. The test then fails with the error and the necessary
/// steps, which TABLEQ_TEST_ONLY repeats.
void walk(const random_walk& along);

}  // namespace tableq_test
