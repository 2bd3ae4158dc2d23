#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tableq/timestamp.hpp>

#include "core/schedule/time_zone.hpp"

namespace tableq::inline v0::core {

/// When a rule is due: a cron text of five fields, or an interval.
class recurrence {
 public:
  /// @param cron `0 2 * * mon-fri`, `@daily`; docs/schedules.md has the grammar.
  /// @throws error errc::invalid_argument that names the position of what is wrong.
  explicit recurrence(std::string_view text);
  /// @throws error errc::invalid_argument unless it is whole seconds, 1 s to 3,650 days.
  explicit recurrence(std::chrono::milliseconds interval);

  /// The first time after this one. Empty: there is none before the year 9999.
  ///
  /// Single hours and minutes are times of the day: a skipped one comes at the end of the gap, of
  /// two the first. Where the hour or the minute has a `*`, a range or a step, the rule is due
  /// whenever the clock shows such a time: never in a gap, and twice in a repeated hour.
  [[nodiscard]] std::optional<timestamp> after(timestamp time, const time_zone& zone) const;

  /// The last times up to `until`, at most `most`, in their order.
  /// @param first one of the times, not after `until`; none before it counts.
  [[nodiscard]] std::vector<timestamp> last(timestamp first, timestamp until, std::size_t most,
                                            const time_zone& zone) const;

 private:
  using instant = time_zone::instant;
  using wall = time_zone::wall;

  [[nodiscard]] bool falls_on(std::chrono::local_days day) const;
  [[nodiscard]] std::optional<wall> at_or_after(wall time) const;
  [[nodiscard]] std::optional<instant> next_instant(instant time, const time_zone& zone) const;

  std::chrono::milliseconds interval_{0};  // zero: the fields decide
  // One bit for each number that a field allows.
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t weekdays_ = 0;
  bool either_day_ = false;  // both are restricted: one of them is enough
  bool whenever_ = false;    // the hour or the minute has a `*`, a range or a step
};

}  // namespace tableq::inline v0::core
