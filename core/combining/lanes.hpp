#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/combining/combiner.hpp"

namespace tableq::inline v0::core {

/// Calls of one lane may share a unit of work.
enum class lane : std::uint8_t {
  add,
  add_keyed,  ///< May wait for an open transaction that holds the same key.
  read,
  promote,
  complete,
  fail,
  release,
  extend,
  none,  ///< Never combined.
};
constexpr std::size_t lane_count = static_cast<std::size_t>(lane::none);

/// The combiners of one queue, one for each lane.
///
/// @par Thread safety
/// Shared objects: safe.
class combiners {
 public:
  /// @param spinning see combiner.
  explicit combiners(bool spinning) {
    if (spinning) return;
    for (combiner& each : all_) each.stop_spinning();
  }

  [[nodiscard]] combiner& for_lane(lane which) noexcept {
    return all_[static_cast<std::size_t>(which)];
  }

 private:
  std::array<combiner, lane_count> all_;
};

}  // namespace tableq::inline v0::core
