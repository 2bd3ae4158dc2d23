#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>

namespace tableq::core {

/// Where reads in the order of the ids begin, on a database whose deleted rows linger in its
/// indexes: behind those that are certainly gone.
///
/// The database is asked now and then for the first message that a snapshot shows, and for the
/// transactions that were under way (`queue.floor`). Nothing below that message is left, but for
/// what those transactions may still add. So when a later snapshot shows that all of them have
/// ended, the floor rises: to that message, or to one that has turned up before it. What a reader
/// has deleted without committing is still shown, and holds the floor where it is.
///
/// That takes for granted that ids only rise. For what was given one by hand, and for an inserter
/// that was held up between drawing an id and getting a transaction number, a read begins at the
/// very start now and then.
///
/// @par Thread safety
/// Shared objects: safe.
class low_water {
 public:
  using clock = std::chrono::steady_clock;
  using position = std::int64_t;

  static constexpr position lowest = std::numeric_limits<position>::min();
  /// So often a read begins at the very start, unless fifty times what that takes is longer.
  static constexpr std::chrono::seconds start_over_every{1};

  /// Where a read begins.
  struct start {
    position floor = lowest;
    bool everything = true;
    clock::time_point at = {};
  };
  [[nodiscard]] start begin(clock::time_point now);

  /// What a read got.
  struct catch_of {
    std::size_t count = 0;
    position first = 0;  ///< The lowest id, and the highest.
    position last = 0;
  };
  void end(const start& from, const catch_of& got, clock::time_point now);

  /// What is to be asked.
  struct question {
    position floor;  ///< Of the first message from there on.
    position known;  ///< An id that was drawn before.
  };
  /// Something when it is time to ask; then the caller must answer, or give up.
  [[nodiscard]] std::optional<question> ask();

  /// What one snapshot shows.
  struct sight {
    std::optional<position> first;  ///< The first message.
    std::int64_t oldest_running;    ///< All transactions before this one have ended.
    std::int64_t next;              ///< All transactions from this one on have begun later.
  };
  void answer(const question& asked, const sight& seen);
  void give_up() noexcept;

 private:
  /// Where the floor may rise to when the transactions before `until` have ended.
  struct candidate {
    position at;
    std::int64_t until;
  };

  std::mutex mutex_;  // guards all below
  position floor_ = lowest;
  std::optional<candidate> next_;
  position known_ = lowest;
  std::size_t read_ = 0;  // since the last question
  std::size_t most_ = 0;  // by one read since then
  bool asked_ = false;
  int early_ = 8;  // questions that are asked at once
  clock::time_point start_over_at_ = {};
};

}  // namespace tableq::core
