#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include <tableq/error.hpp>

#include "core/seam/statement.hpp"

namespace tableq::inline v0::core {

/// Yields the processor to threads that are soon done. A yield that lasts a millisecond or longer
/// has given it to another program: where one of nine does, the process does not yield for 250 ms.
/// @return whether it yielded.
[[nodiscard]] bool yield_briefly() noexcept;

/// Whether a waiting call checks its turn for a while before its thread sleeps. See ADR 0016.
///
/// Sleep and wake-up of a thread cost more than a short unit of work. A waiting call therefore
/// first checks its turn a few times, and yields the processor in between. With many threads, or
/// short units, its turn comes before it has to sleep.
///
/// @par Thread safety
/// Shared objects: unsafe; the combiner's mutex guards it.
class spinning {
 public:
  using duration = std::chrono::steady_clock::duration;

  /// From now on a waiting call sleeps at once.
  void stop() noexcept { on_ = false; }

  /// A unit of work has ended.
  void ran(std::size_t calls, duration took) noexcept {
    worth_ = took < short_unit || (calls >= many_calls && took < long_unit);
  }

  /// How often a call that begins to wait checks its turn.
  [[nodiscard]] int checks() const noexcept { return on_ && worth_ ? most_checks : 0; }

  /// Checks this often; needs no mutex.
  /// @return whether the turn has come.
  template <class Turn>
  [[nodiscard]] static bool check(int times, Turn has_come) {
    for (; times > 0; --times) {
      if (has_come()) return true;
      if (!yield_briefly()) return false;
    }
    return false;
  }

 private:
  static constexpr int most_checks = 40;
  static constexpr std::chrono::microseconds short_unit{100};
  static constexpr std::size_t many_calls = 6;
  /// With longer units the checks would waste processor time.
  static constexpr std::chrono::milliseconds long_unit{1};

  bool on_ = true;
  bool worth_ = true;  // no unit has run yet: as after a short one
};

/// A call that may run together with others. Lives in the frame of its caller.
class combined_call {
 public:
  combined_call() = default;
  combined_call(const combined_call&) = delete;
  combined_call& operator=(const combined_call&) = delete;

  /// Whether it may run in one unit of work with these calls, of which there is at least one.
  [[nodiscard]] virtual bool joins(std::span<combined_call* const> others) const = 0;

 protected:
  ~combined_call() = default;

 private:
  friend class combiner;
  enum class turn : std::uint8_t { waits, sleeps, leads, done };

  /// Checks up to `turn_checks` times for its turn, while other calls run, and then sleeps.
  /// @return false if the time ended first.
  bool wait(int turn_checks, std::chrono::steady_clock::time_point until);
  /// Sleeps without a limit. Only for a call that another thread already runs.
  void wait();
  [[nodiscard]] bool has_turn() const { return turn_.load() != turn::waits; }
  void turn_to(turn next);

  std::atomic<turn> turn_ = turn::waits;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;  // guarded by mutex_
  std::exception_ptr failed_;
};

/// Calls of many threads share units of work. The first call runs at once, in its own thread. Calls
/// that arrive meanwhile wait; then one of their threads runs them together. A thread that is alone
/// never waits.
///
/// Leaders and followers, as in flat combining (Hendler, Incze, Shavit, Tzafrir: "Flat combining
/// and the synchronization-parallelism tradeoff", 2010) and in the group commit of databases.
///
/// @par Thread safety
/// Shared objects: safe.
class combiner {
 public:
  /// @param patience a call that has waited this long runs alone: the running unit may wait for a
  ///   lock that only this thread, or a thread that waits for it, can release.
  explicit combiner(std::chrono::milliseconds patience = std::chrono::milliseconds{100})
      : patience_(patience) {}

  /// From now on a waiting call sleeps at once. Before the first call.
  void stop_spinning() noexcept { spinning_.stop(); }

  /// The turn of one call: the units of work that its thread runs, with the call in one of them.
  ///
  ///     combiner::turn mine(line, call);
  ///     for (auto calls = mine.next(); !calls.empty(); calls = mine.next()) {
  ///       try {
  ///         ...  // runs all of these calls or none
  ///       } catch (...) {
  ///         mine.failed(std::current_exception());
  ///       }
  ///     }
  ///
  /// Calls run in the order of their arrival; if a call cannot join a unit, later calls that can
  /// join it may go first. If a unit of several calls fails because of one of them, each runs by
  /// itself.
  class turn {
   public:
    turn(combiner& line, combined_call& own) noexcept : line_(line), own_(own), first_(&own) {}

    /// Waits until there is something to run.
    /// @return the calls to run. Empty: the thread has nothing more to run.
    /// @throws the failure of its own call, then.
    [[nodiscard]] std::span<combined_call* const> next();
    /// None of the calls has run.
    void failed(const std::exception_ptr& why) noexcept;

   private:
    enum class step : std::uint8_t { arrives, alone, leads, splits, ends };

    /// Waits in the line. @return false if another thread has run the call.
    [[nodiscard]] bool come_up();
    /// Picks the calls of the next unit. Releases the lock.
    void pick(std::unique_lock<std::mutex>& lock);
    /// The unit has ended. @return false if the thread leads no longer.
    [[nodiscard]] bool go_on();

    combiner& line_;
    combined_call& own_;
    step step_ = step::arrives;
    combined_call* first_;
    std::vector<combined_call*> gathered_ = {};
    std::span<combined_call* const> unit_ = {};     // first_, or gathered_
    std::span<combined_call* const> running_ = {};  // the unit, or one of its calls after a failure
    std::size_t split_ = 0;                         // the next of them
    int rounds_ = 0;
    std::chrono::steady_clock::time_point began_ = {};
  };

  /// How many calls wait for their turn now.
  [[nodiscard]] std::size_t waiting();

 private:
  /// Ends the wait of a call.
  /// @return false if a leader has taken it already.
  [[nodiscard]] bool leave_line(combined_call& call);
  void gather(combined_call& first, std::vector<combined_call*>& calls,
              std::unique_lock<std::mutex>& lock);

  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::deque<combined_call*> waiting_;  // guarded by mutex_
  bool busy_ = false;                   // a call leads; guarded by mutex_
  std::size_t last_size_ = 1;           // of the last unit of work; guarded by mutex_
  spinning spinning_;                   // guarded by mutex_
};

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
