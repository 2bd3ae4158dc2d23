#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/floor/writers_watch.hpp"

namespace tableq::inline v0::core {

/// The state of a read_floor, or of read_gaps, for other processes. It holds in any process.
struct floor_state {
  using position = std::int64_t;

  /// Floors by level, or gaps as their highest and lowest id.
  std::vector<std::pair<position, position>> places = {};
  position oldest = 0;
  position passed = 0;
  position known = 0;
  position first_look_id = 0;
  position first_look_time = 0;
  writers_watch writers = {};
  std::chrono::milliseconds checked{0};  ///< This long ago a read began at the very start.
  std::chrono::milliseconds pause{0};    ///< The next one begins there this long after it.
  /// The same for statements that take nothing, with reads counted too.
  std::chrono::milliseconds glanced{0};
  std::chrono::milliseconds glance_pause{0};
};

/// As JSON.
std::string to_text(const floor_state& state);
/// Nothing for any other text.
std::optional<floor_state> to_floor_state(std::string_view text);

}  // namespace tableq::inline v0::core
