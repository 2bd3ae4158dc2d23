#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tableq::inline v0::drivers::postgresql {

using position = std::int64_t;
inline constexpr position lowest = std::numeric_limits<position>::min();
inline constexpr position highest = std::numeric_limits<position>::max();

/// How the messages of a table are read.
enum class order : std::uint8_t {
  ids,         ///< By rising ids.
  priorities,  ///< The same within each priority, the higher ones first. Leases end.
  turns,       ///< By the times since which they stand in line, within each priority. Leases end.
  times,       ///< By the times when they fall due.
};

/// The floor of one priority: below this id only messages that were returned to the queue wait.
struct level {
  position priority = 0;
  position floor = lowest;

  friend bool operator==(const level&, const level&) = default;
};

/// Where the reads of a table begin: after rows that are certainly deleted. It holds in any
/// process.
struct places {
  std::vector<level> levels = {};  ///< Of a claim queue; the higher priorities first.
  position oldest = lowest;        ///< There is no message before it, in any state.
  position passed = lowest;        ///< No lease ended and no message fell due before it.
  position line = lowest;          ///< Of groups that take turns: no message stands before it.

  /// Up to which id, or else to which due time, something is known.
  [[nodiscard]] position reached() const noexcept;

  friend bool operator==(const places&, const places&) = default;
};

/// The places that the processes of a queue share, as numbers in a text.
struct shared_places {
  places where = {};
  /// In so many milliseconds a read begins at the very start, and a look that takes nothing.
  position read_in = 0;
  position glance_in = 0;
};
std::string to_text(const shared_places& told);
/// Nothing for any other text.
std::optional<shared_places> to_places(std::string_view text);

/// Ranges as the lists of numbers that statements take, `2,1,-3`: priorities from `highs` down to
/// `lows` with ids from `floors` on.
struct range_lists {
  std::string highs = {};
  std::string lows = {};
  std::string floors = {};

  void add(position high, position low, position floor = lowest);
};
/// All priorities, each from its floor on: an id, or `line` if groups take turns.
range_lists line_of(const places& where, bool by_turns);
/// The one level with which line_of has its ranges; none if there is none, or several.
std::optional<level> only_level(const places& where, bool by_turns);

}  // namespace tableq::inline v0::drivers::postgresql
