#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/floor/floor_state.hpp"
#include "core/floor/look_schedule.hpp"
#include "core/floor/writers_watch.hpp"

namespace tableq::inline v0::core {

/// The gaps in the ids of a queue that is read from its highest id, on a database whose deleted
/// rows linger in its indexes. A gap holds no message, and will never hold one.
///
/// A look from time to time reads the highest message at or below an id that was assigned before an
/// earlier look, once the writers of that look have ended (see writers_watch): everything between
/// the two is a gap. Gaps that touch become one. Messages whose read may be rolled back are still
/// in the snapshot.
///
/// Ids given by hand break this rule, so a read ignores all gaps from time to time.
///
/// @par Thread safety
/// Shared objects: safe.
class read_gaps {
 public:
  read_gaps() { schedule_.hurry(); }

  using clock = look_schedule::clock;
  using position = std::int64_t;

  static constexpr position lowest = std::numeric_limits<position>::min();
  static constexpr position highest = std::numeric_limits<position>::max();
  /// The number of gaps that are remembered, the largest ones.
  static constexpr std::size_t most_gaps = 8;

  /// Ids from `low` to `high`, both included.
  struct range {
    position high;
    position low;
    friend bool operator==(const range&, const range&) = default;
  };

  /// The ranges that a read searches, the highest first.
  struct start {
    std::vector<range> ranges = {};
    bool everything = true;
    clock::time_point at = {};
  };
  [[nodiscard]] start begin(clock::time_point now);
  /// @param ids of the messages that the read returned.
  void end(const start& begun, std::span<const position> ids, clock::time_point now);

  struct question {
    std::vector<range> ranges;  ///< Where a message may be, at or below an id.
    position below = lowest;
    position known = lowest;  ///< An id that was assigned earlier.
    std::string writers = {};
  };
  /// The look, if it is due. The caller must then call `answer` or `give_up`.
  [[nodiscard]] std::optional<question> ask(clock::time_point now);

  struct sight {
    std::optional<position> first = {};  ///< The highest message in the ranges of the question.
    std::optional<position> last = {};   ///< An id that was drawn before the end of the look.
    std::string writers = {};
    bool ended = false;  ///< None of the writers that it searched for is left.
  };
  void answer(const question& asked, sight seen, clock::time_point now);
  void give_up() noexcept;

  /// As those of read_floor.
  [[nodiscard]] std::optional<floor_state> news(clock::time_point now);
  void adopt(const floor_state* told, std::chrono::milliseconds age, clock::time_point now);

 private:
  [[nodiscard]] std::vector<range> between(position high) const;
  void add(range gap);

  std::mutex mutex_;         // guards all below
  std::vector<range> gaps_;  // the highest first; they do not touch
  writers_watch writers_;
  position first_look_id_ = lowest;  // was assigned before the first look
  position known_ = lowest;
  bool changed_ = false;  // a gap was wrong since the question
  look_schedule schedule_;
};

}  // namespace tableq::inline v0::core
