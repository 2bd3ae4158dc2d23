#pragma once

#include <chrono>
#include <thread>

#include "support/fixture.hpp"

namespace tableq_test {

/// Looks until that is so. @return false: the time is over.
template <class Look>
[[nodiscard]] bool becomes(Look&& look, std::chrono::milliseconds within = for_ever) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (!look()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace tableq_test
