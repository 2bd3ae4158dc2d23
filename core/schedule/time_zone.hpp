#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tableq::inline v0::core {

/// The clocks of a place, from the system's compiled time zone files (TZif, RFC 8536).
///
/// A value: it reads its file once, and a later object sees a file that was updated meanwhile.
class time_zone {
 public:
  using instant = std::chrono::sys_seconds;
  using wall = std::chrono::local_seconds;

  /// UTC.
  time_zone() = default;
  /// @param name of the IANA database: `Europe/Berlin`. `UTC` needs no file.
  /// @throws error errc::invalid_argument for an unknown zone; errc::unsupported when the system
  ///   has no time zone files.
  explicit time_zone(std::string_view name);

  /// A time during which the clocks are as far ahead of UTC.
  struct span {
    std::chrono::seconds offset{0};
    instant end = instant::max();  ///< Not in it. max(): it has no end.
  };
  [[nodiscard]] span at(instant time) const;

  /// The first instant at which the clocks show this or a later time: the first of two, and after
  /// a skipped time the end of the gap.
  [[nodiscard]] instant first(wall time) const;

 private:
  /// The day and time of a yearly change, as POSIX writes them.
  struct change {
    char form = 0;  ///< `M`, `J`, or zero: the day of the year from 0.
    int month = 0;
    int week = 0;
    int day = 0;
    std::chrono::seconds time = std::chrono::hours{2};
    [[nodiscard]] wall in(std::chrono::year in) const;
  };
  struct period {
    instant begin;
    std::chrono::seconds offset;
  };

  void read(std::string_view file);
  void read_footer(const std::string& footer);
  [[nodiscard]] span later_at(instant time) const;

  std::chrono::seconds earliest_{0};  // the offset before the first period
  std::vector<period> periods_;
  // After the last period.
  std::chrono::seconds standard_{0};
  std::chrono::seconds summer_{0};
  std::optional<std::pair<change, change>> yearly_;  // to summer time and back
};

}  // namespace tableq::inline v0::core
