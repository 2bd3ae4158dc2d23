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
  /// Adds so many messages for the operations; empty: they need none.
  std::function<void(std::size_t)> fill = {};
  std::size_t least = 0;     ///< So many messages at least are filled in.
  std::size_t messages = 0;  ///< After so many a round is over; zero: after its time.
};

/// Measures both in each round, in changing order, and returns the medians of the rounds: `rate`,
/// `limit`, `ratio` (each round's own), `spread` (of the ratios), and the latencies.
json compare(const settings& how, const side& ours, const side& limit);

}  // namespace bench
