#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include <tableq/error.hpp>

namespace tableq::core {

/// Whether the failure of several calls in one unit of work may be that of one of them.
bool may_be_of_one(const error& failure) noexcept;

/// A call that may be run together with others. Lives in the frame of its caller.
class combined_call {
 public:
  combined_call() = default;
  combined_call(const combined_call&) = delete;
  combined_call& operator=(const combined_call&) = delete;

  /// Whether it may run in one unit of work with these, of which there is at least one.
  [[nodiscard]] virtual bool joins(std::span<combined_call* const> others) const = 0;

 protected:
  ~combined_call() = default;

 private:
  friend class combiner;
  enum class turn : std::uint8_t { waits, sleeps, leads, done };

  /// Looks so many times whether it is its turn, while others run, and then sleeps.
  /// @return false when the time was over first.
  bool wait(int looks, std::chrono::steady_clock::time_point until);
  /// Once it is certain to be told.
  void wait();
  [[nodiscard]] bool told() const { return turn_.load() != turn::waits; }
  void turn_to(turn next);

  std::atomic<turn> turn_ = turn::waits;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;  // guarded by mutex_
  std::exception_ptr failed_;
};

/// Lets calls of many threads share units of work: the first is run at once by its own thread;
/// those that come meanwhile wait, and are then run together by one of theirs. A thread that is
/// alone never waits.
///
/// Leaders and followers, as in flat combining (Hendler, Incze, Shavit, Tzafrir: "Flat combining
/// and the synchronization-parallelism tradeoff", 2010) and in the group commit of databases.
///
/// @par Thread safety
/// Shared objects: safe.
class combiner {
 public:
  /// Runs all of these or none, and throws when it was none.
  using work = std::function<void(std::span<combined_call* const>)>;

  /// @param patience a call that has waited so long for its turn goes alone: what is under way can
  ///   be held up by a lock that only this thread, or one that waits for it, can give back.
  explicit combiner(std::chrono::milliseconds patience = std::chrono::milliseconds{100})
      : patience_(patience) {}

  /// Returns when `mine` was run, alone or with others. Calls are run in the order in which they
  /// came, but one that does not go with those before it lets later ones pass that do. When a unit
  /// of work of several fails because of what one of them holds, each is run by itself.
  /// @param run the same for all calls of one combiner.
  /// @throws what running it threw.
  void run(combined_call& mine, const work& run);

  /// How many calls wait for their turn now.
  [[nodiscard]] std::size_t waiting();

 private:
  void lead(combined_call& mine, const work& run, std::unique_lock<std::mutex>& lock);
  void gather(combined_call& first, std::vector<combined_call*>& calls,
              std::unique_lock<std::mutex>& lock);
  /// How often a call that waits looks before it sleeps. Under the lock.
  [[nodiscard]] int looks() const;

  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::deque<combined_call*> waiting_;               // guarded by mutex_
  bool busy_ = false;                                // somebody leads; guarded by mutex_
  std::size_t last_size_ = 1;                        // of the last unit of work; guarded by mutex_
  std::chrono::steady_clock::duration last_took_{};  // the same; guarded by mutex_
};

}  // namespace tableq::core
