#include "core/queue/token.hpp"

#include <chrono>
#include <random>

namespace tableq::inline v0::core {

std::int64_t fence_token() {
  // A random device would cost more than the take. The clock makes the numbers of a process differ
  // from those of its fork.
  thread_local std::mt19937_64 random{std::random_device{}()};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t mixed = random() ^ (static_cast<std::uint64_t>(now) * 0x9E3779B97F4A7C15U);
  return static_cast<std::int64_t>(mixed >> 32U);
}

}  // namespace tableq::inline v0::core
