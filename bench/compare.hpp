#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "measure.hpp"
#include "settings.hpp"

namespace bench {

/// One of two sides that are measured in turn.
struct side {
  std::size_t threads = 1;
  operation_maker make;
  /// Adds this number of messages for the operations; empty: they need none.
  std::function<void(std::size_t)> fill = {};
  std::size_t least = 0;     ///< The least number of messages to add.
  std::size_t messages = 0;  ///< The round ends after these; zero: after its time.
};

/// Measures both in each round, in changing order, and returns the medians of the rounds: `rate`,
/// `limit`, `ratio` (each round's own), `spread` (of the ratios), and the latencies.
json compare(const settings& how, const side& ours, const side& limit);

}  // namespace bench
