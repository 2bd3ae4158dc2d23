#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace tableq::inline v0::core {

/// The place where reads begin, on a database whose deleted rows linger in its indexes. It is after
/// the rows that are certainly deleted.
///
/// A queue has a level for each priority; the messages of a level are read in the order of their
/// ids. Each level has a floor: below it, only messages that were returned to the queue can wait.
/// Two more values serve these messages: below `oldest` there is no message in any state, and no
/// lease ended and no message fell due before `passed`.
///
/// A query from time to time reads the first messages of a snapshot, and the running transactions
/// (`queue.floor`, `claim.floor`). Only these transactions can still add lower messages. When a
/// later snapshot shows that all of them have ended, a floor rises: to the first message of the
/// earlier snapshot, or to a lower id that has appeared since. A message that a reader has taken
/// but not committed is still in the snapshot, and holds the floor.
///
/// This assumes that ids and the clock only rise. An id may be given by hand, and an insert may be
/// delayed between its id and its transaction number. Therefore a read begins at the very start
/// from time to time. If the clock is set back, the next answer lowers `passed`; until then,
/// statements ignore a `passed` in the future.
///
/// @par Thread safety
/// Shared objects: safe.
class read_floor {
 public:
  read_floor();

  using clock = std::chrono::steady_clock;
  using position = std::int64_t;

  static constexpr position lowest = std::numeric_limits<position>::min();
  /// The shortest time between two reads that begin at the very start. If fifty times the duration
  /// of the first one is longer, that is the time.
  static constexpr std::chrono::seconds start_over_every{1};
  /// The number of levels with floors, those with most reads; the others are read from the start.
  static constexpr std::size_t most_levels = 8;

  struct level_floor {
    position level;
    position floor;
    friend bool operator==(const level_floor&, const level_floor&) = default;
  };

  /// The floors of this moment, for the start of a read.
  struct start {
    std::vector<level_floor> levels = {};  ///< The higher ones first; the others have no floor.
    position oldest = lowest;
    position passed = lowest;
    bool everything = true;
    clock::time_point at = {};
  };
  [[nodiscard]] start begin(clock::time_point now);

  /// The result of a read from one level.
  struct level_result {
    position level = 0;
    std::size_t count = 0;
    std::optional<position> first = {};  ///< The lowest id that was never returned to the queue.
    position last = lowest;              ///< The highest id.
  };
  void end(const start& begun, std::span<const level_result> results, clock::time_point now);

  /// The beginning of a search for due messages.
  /// @param all true: the first call after a full read without messages searches from the start,
  ///   because a due message may have stopped that read.
  [[nodiscard]] position passed(bool all);

  /// The query for floors.
  struct question {
    std::vector<level_floor> levels;  ///< The search for the first message of each begins here.
    position oldest;                  ///< The search in any state begins here.
    position passed;                  ///< The search for the first due time begins here.
    position known;                   ///< An id that was assigned earlier.
  };
  /// The query, if it is due. The caller must then call `answer` or `give_up`.
  [[nodiscard]] std::optional<question> ask(clock::time_point now);

  /// The answer from one snapshot.
  struct snapshot {
    std::vector<std::optional<position>> first;  ///< The first message of each level.
    std::optional<position> oldest = {};         ///< In any state.
    std::optional<position> due = {};            ///< When the first fell due.
    std::optional<position> clock = {};          ///< The time, unless a test sets it.
    std::int64_t oldest_running;                 ///< All transactions before this one have ended.
    std::int64_t next;  ///< All transactions from this one on have begun later.
  };
  void answer(const question& asked, const snapshot& shown);
  void give_up() noexcept;

 private:
  /// A floor, and the value to which it may rise when the transactions before `until_` have ended.
  struct rising {
    position at = lowest;
    std::optional<position> next = {};

    void advance(position first) noexcept;
    void lower(position value) noexcept;
  };
  struct level {
    position name;
    rising floor = {};
    std::size_t read = 0;  // lately
  };

  [[nodiscard]] std::vector<level_floor> floors() const;
  [[nodiscard]] level* find(position name) noexcept;
  [[nodiscard]] level* find_or_add(position name);

  std::mutex mutex_;           // guards all below
  std::vector<level> levels_;  // the higher ones first; has room for all from the beginning
  rising oldest_;
  rising passed_;
  std::optional<std::int64_t> until_;
  position known_ = lowest;
  position clock_ = lowest;  // of the last answer
  std::size_t read_ = 0;     // since the last question
  std::size_t most_ = 0;     // by one read since then
  bool asked_ = false;
  bool overdue_ = false;  // a message may have been due before `passed_`
  int early_ = 0;         // questions left that are asked at once
  clock::time_point start_over_at_ = {};
  clock::time_point asked_at_ = {};  // the last question
};

}  // namespace tableq::inline v0::core
