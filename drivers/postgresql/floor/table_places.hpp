#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drivers/postgresql/floor/places.hpp"
#include "drivers/postgresql/floor/writers_watch.hpp"

namespace tableq::inline v0::drivers::postgresql {

using clock = std::chrono::steady_clock;
using time_point = clock::time_point;

/// When statements begin at the very start all the same, because an id may be drawn by hand: each
/// second, or after fifty times as long as the last one took. While reads get messages, only their
/// own duration counts as time if that takes more than a millisecond: a reader that rests would pay
/// it in each of its bursts. After ten minutes one begins there all the same.
///
/// @par Thread safety
/// One thread.
class start_over {
 public:
  static constexpr std::chrono::milliseconds every{1000};

  [[nodiscard]] bool due(time_point now) noexcept;
  /// Whether the last one took no longer than any other statement.
  [[nodiscard]] bool cheap_enough() const noexcept;
  /// The end of a statement that began there.
  void done(time_point began, time_point now) noexcept;
  /// The end of any other. @param nothing it found no message: then reads have time.
  void took(clock::duration time, bool nothing) noexcept {
    spent_ += time;
    idle_ = nothing;
  }

  /// The time until the next one; both in milliseconds.
  [[nodiscard]] position in(time_point now) const noexcept;
  void set_in(position wait, time_point now) noexcept;

 private:
  time_point next_ = {};
  time_point began_ = {};  // the last one
  std::chrono::milliseconds pause_{0};
  clock::duration spent_{0};  // by others since then
  bool idle_ = false;
};

/// A message that a read returned.
struct read_message {
  position id = 0;
  position priority = 0;
  position since = 0;     ///< When it became ready, if groups take turns.
  bool returned = false;  ///< It came back to the queue before.
};

/// Where the reads of one table begin, for the sessions of one `database` object, on a database
/// whose deleted rows linger in its indexes.
///
/// A queue is read by rising ids from `oldest` on, a claim queue in each priority from its floor
/// on, one whose groups take turns in each priority from `line` on, a queue of delayed messages by
/// due times from `passed` on. A stack begins at its top.
///
/// A look from time to time reads the first messages, and the writers of the table. Only these
/// writers can still add a lower id than those that were known then, or an earlier time. When they
/// have ended, and a later look has seen their rows, the places rise to its first messages, but not
/// over the ids and the time of the earlier look (see writers_watch). A message that a reader has
/// taken but not committed is still in the snapshot, and holds the place. Transactions that only
/// read the table, or write elsewhere, do not.
///
/// This assumes that ids and the clock only rise. An id or a time may be given by hand. Therefore a
/// read begins at the very start from time to time, and so does one that asks for due messages. If
/// the clock is set back, the next answer lowers `passed` and `line`; until then, statements ignore
/// those in the future.
///
/// @par Thread safety
/// Shared objects: safe.
class table_places {
 public:
  table_places();

  /// The number of priorities with floors, those that were read last; others begin at `oldest`.
  static constexpr std::size_t most_levels = 8;

  struct start {
    places where = {};
    bool everything = true;
    bool searches = false;  ///< Such a read also asks for due messages.
    time_point at = {};
  };
  /// @param asks whether the read takes nothing while a message is due.
  [[nodiscard]] start begin(time_point now, bool asks = false);
  void end(const start& begun, std::span<const read_message> messages, order by, time_point now);

  /// The beginning of a statement that takes no message. From time to time it is the very start,
  /// apart from the reads for which it is.
  [[nodiscard]] start glance(time_point now);
  void glanced(const start& begun, time_point now);

  /// The beginning of a search for due messages.
  /// @param all true: the first call after a read from the start without messages searches from
  ///   there, because a due message may have stopped that read.
  /// @param again the next call is for the same messages.
  [[nodiscard]] places search(bool all, bool again = false);

  /// A message is there that no read has returned.
  void met(position id) noexcept;

  /// A look at the table.
  struct question {
    order by = order::ids;
    places where = {};
    position known = lowest;   ///< An id that was assigned earlier.
    std::string writers = {};  ///< To be searched for.
    time_point at = {};
  };
  /// The look, if it is due. The caller must then call `answer` or `give_up`.
  [[nodiscard]] std::optional<question> ask(order by, time_point now);

  /// The result of a look: rows of a snapshot, and the writers, which are read after it.
  struct sight {
    /// The first ready message of each priority of the question.
    std::vector<std::pair<position, std::optional<position>>> levels = {};
    std::optional<position> first = {};  ///< The first message in any state.
    std::optional<position> due = {};    ///< When the first fell due.
    std::optional<position> line = {};   ///< Of turns: the time of the first ready message.
    std::optional<position> clock = {};  ///< Empty: messages do not fall due, or by a test's clock.
    std::optional<position> last = {};   ///< An id that was drawn before the end of the look.
    std::string writers = {};
    bool ended = false;  ///< None of the writers that it searched for is left.
  };
  void answer(const question& asked, sight seen, time_point now);
  void give_up() noexcept;

  /// Whether the caller should read the places of other processes: this one learned nothing for a
  /// second.
  /// @param first only if nothing was ever learned.
  [[nodiscard]] bool asks_others(bool first, time_point now);
  /// Takes over the places that other processes knew `age` ago.
  void adopt(const shared_places& told, std::chrono::milliseconds age, time_point now);
  /// The places for other processes, if they have moved far enough to be told.
  [[nodiscard]] std::optional<shared_places> news(time_point now);

 private:
  struct kept_level : level {
    position last = lowest;  // the highest id that was read
  };

  [[nodiscard]] kept_level* find(position priority) noexcept;
  kept_level& find_or_add(position priority);
  [[nodiscard]] places now_at() const;
  [[nodiscard]] bool rise(const question& asked, const sight& seen) noexcept;

  std::mutex mutex_;                // guards all below
  std::vector<kept_level> levels_;  // the higher priorities first
  places at_;                       // without the levels
  writers_watch writers_;
  position first_look_id_ = lowest;    // was assigned before the first look
  position first_look_time_ = lowest;  // of the first look
  // The same, but `lowest` beside a weight: a writer that has seen it may outlast it, and then
  // leave a message before that time.
  position first_look_line_ = lowest;
  position known_ = lowest;
  position clock_ = lowest;  // of the last answer
  bool overdue_ = false;     // a message may have been due before `passed`
  start_over reads_;
  start_over searches_;  // the reads that ask for due messages
  start_over glances_;

  std::size_t read_ = 0;  // messages since the last look
  std::size_t most_ = 0;  // by one read since then
  bool slow_ = false;     // a read since then
  int hurried_ = 0;       // looks left that come at once
  bool looking_ = false;
  time_point began_ = {};  // of the last look
  time_point not_before_ = {};
  time_point learned_ = {};  // the last look, or what others knew then
  time_point asked_ = {};    // what others know
  int told_ = 0;             // how often others were told
  time_point told_at_ = {};
  position told_of_ = lowest;
  bool started_over_ = false;  // since others were told
};

}  // namespace tableq::inline v0::drivers::postgresql
