#pragma once

#include <chrono>
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

/// The place where reads begin, on a database whose deleted rows linger in its indexes. It is after
/// the rows that are certainly deleted.
///
/// A queue has a level for each priority; the messages of a level are read in the order of their
/// ids. Each level has a floor: below it, only messages that were returned to the queue can wait.
/// Two more values serve these messages: below `oldest` there is no message in any state, and no
/// lease ended and no message fell due before `passed`.
///
/// A look from time to time reads the first messages, and the writers of the table (`queue.floor`,
/// `claim.floor`, `pending.floor`). Only these writers can still add a lower id than those that
/// were known then, or an earlier due time. When they have ended, and a later look has seen their
/// rows, floors rise to its first messages, but not over the ids and the time of the earlier look
/// (see writers_watch). A message that a reader has taken but not committed is still in the
/// snapshot, and holds the floor. Transactions that only read the table, or write elsewhere, do
/// not.
///
/// This assumes that ids and the clock only rise. An id may be given by hand. Therefore a read
/// begins at the very start from time to time. If the clock is set back, the next answer lowers
/// `passed`; until then, statements ignore a `passed` in the future.
///
/// @par Thread safety
/// Shared objects: safe.
class read_floor {
 public:
  read_floor();

  using clock = look_schedule::clock;
  using position = std::int64_t;

  static constexpr position lowest = std::numeric_limits<position>::min();
  static constexpr auto start_over_every = look_schedule::start_over_every;
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
    bool one_level = false;  ///< All reads are from one level, and it has a floor.
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

  /// A read of one level only found nothing: the next reads search all levels.
  void search_all() noexcept;

  /// The beginning of a search for due messages, without levels.
  /// @param all true: the first call after a full read without messages searches from the start,
  ///   because a due message may have stopped that read.
  [[nodiscard]] start due(bool all);

  /// The beginning of a statement that takes no message. From time to time it is the very start,
  /// apart from the reads for which it is.
  [[nodiscard]] start glance(clock::time_point now);
  void glanced(const start& begun, clock::time_point now);

  /// A look at the table.
  struct question {
    std::vector<level_floor> levels;  ///< The search for the first message of each begins here.
    position oldest;                  ///< The search in any state begins here.
    position passed;                  ///< The search for the first due time begins here.
    position known;                   ///< An id that was assigned earlier.
    std::string writers;              ///< To be searched for.
  };
  /// The look, if it is due. The caller must then call `answer` or `give_up`.
  [[nodiscard]] std::optional<question> ask(clock::time_point now);

  /// The result of a look: rows of a snapshot, and the writers, which are read after it.
  struct sight {
    std::vector<std::optional<position>> first;  ///< The first message of each level.
    std::optional<position> oldest = {};         ///< In any state.
    std::optional<position> due = {};            ///< When the first fell due.
    std::optional<position> clock = {};          ///< The time, unless a test sets it.
    std::optional<position> last = {};  ///< An id that was drawn before the end of the look.
    std::string writers;
    bool ended;  ///< None of the writers that it searched for is left.
  };
  void answer(const question& asked, sight seen, clock::time_point now);
  void give_up() noexcept;

  /// The state for other processes, if they should learn it.
  [[nodiscard]] std::optional<floor_state> news(clock::time_point now);
  /// Begins with the state of another process. The next reads look at once. If this process has
  /// floors, newer ones replace them.
  /// @param told null: there is none.
  /// @param age of this state.
  void adopt(const floor_state* told, std::chrono::milliseconds age, clock::time_point now);
  /// Whether the caller should adopt again: this process has not looked for a while, so others may
  /// have better floors. Once each second at most.
  [[nodiscard]] bool asks_others(clock::time_point now);

 private:
  struct level {
    position name;
    position floor = lowest;
    std::size_t read = 0;  // lately
  };

  [[nodiscard]] std::vector<level_floor> floors() const;
  [[nodiscard]] level* find(position name) noexcept;
  [[nodiscard]] level* find_or_add(position name);
  [[nodiscard]] bool found_below(std::span<const level_result> results);
  void follow_clock(std::optional<position> now) noexcept;
  [[nodiscard]] bool rise(const question& asked, const sight& seen) noexcept;

  std::mutex mutex_;           // guards all below
  std::vector<level> levels_;  // the higher ones first; has room for all from the beginning
  position oldest_ = lowest;
  position passed_ = lowest;
  writers_watch writers_;
  position first_look_id_ = lowest;    // was assigned before the first look
  position first_look_time_ = lowest;  // of the first look
  position known_ = lowest;
  position clock_ = lowest;         // of the last answer
  bool overdue_ = false;            // a message may have been due before `passed_`
  int searches_ = 0;                // reads left that search all levels
  clock::time_point learned_ = {};  // the last look, or state of another process
  clock::time_point asked_ = {};
  look_schedule schedule_;
  look_schedule glances_;
  bool untold_ = false;  // a glance began at the very start
};

}  // namespace tableq::inline v0::core
