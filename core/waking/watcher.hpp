#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <tableq/options.hpp>

#include "core/base/at_end.hpp"
#include "core/seam/listener.hpp"
#include "core/session/backoff.hpp"
#include "core/waking/poll_pace.hpp"
#include "core/waking/watched_queue.hpp"

namespace tableq::inline v0::core {

/// Wakes the waiting readers of one database: after a notification, when a message falls due, and
/// at each poll interval.
///
/// Owns one thread while readers wait, and for a short time afterwards. Owns the listener, if the
/// database has one. Only the woken readers send statements, not the thread.
///
/// @par Thread safety
/// Shared objects: safe.
class watcher {
 public:
  using moment = poll_plan::moment;

  /// @param source, options outlive it.
  watcher(driver& source, const open_options& options);
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  /// Ends the thread; waits until its connection attempt has ended.
  ~watcher();

  /// From now on no listener is opened: readers poll. Call this before a reader waits.
  void poll_only() noexcept;

  /// This process added messages that can be read.
  void added(watched_queue& target, std::size_t count);

  /// Sent with each notification, so that a database object ignores its own.
  [[nodiscard]] const std::string& token() const noexcept { return token_; }

  /// A reader that waits.
  class waiting {
   public:
    /// @param target the same object for all readers of a queue.
    waiting(watcher& owner, std::shared_ptr<watched_queue> target);
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;
    ~waiting();

    /// Sleeps until woken or `until`; may return early.
    [[nodiscard]] woken wait(std::uint64_t mark, moment until, const std::stop_token& stop);
    /// Asks when the next message falls due, if that is unknown and no other reader asks.
    template <class Ask>
    void ask_due(Ask ask);
    /// The reader found something after it was woken.
    /// @param more more may be there.
    void found(woken reason, bool more);
    /// The reader found something without being woken, and goes on. Wakes no other one.
    void found_by_itself();
    /// The reader must look again after this time, of which nothing else will tell; none: never.
    void look_again(std::optional<std::chrono::milliseconds> after);
    /// False: the system had no thread for the watcher, and nothing wakes the readers.
    [[nodiscard]] bool attended() const;

   private:
    [[nodiscard]] bool take_question();
    void not_answered();

    watcher& watcher_;
    std::shared_ptr<watched_queue> target_;
    watched_queue& queue_;
  };

 private:
  using lock = std::unique_lock<std::mutex>;

  /// The thread stays, and a queue is followed, this long after the last reader left.
  static constexpr std::chrono::milliseconds linger{2000};

  void attend(const std::shared_ptr<watched_queue>& target);
  /// Drops the queues on which no reader waits and that the listener does not follow. Only where no
  /// thread goes through them.
  void leave_idle() noexcept;
  void start();
  void nudge() noexcept;
  void nudge_before(moment next) noexcept;
  void run() noexcept;
  [[nodiscard]] bool unused(moment now) const;
  [[nodiscard]] listening_state listening_state_of(const watched_queue& q) const;
  void close_listener(lock& hold);
  void listener_lost(lock& hold);
  /// Opens the listener and follows the queues that have waiting readers, if it is time.
  void keep_listening(lock& hold);
  void open_listener(lock& hold) noexcept;
  void follow(watched_queue& q, lock& hold) noexcept;
  static void wake_readers(watched_queue& q, const listening_state& state, moment now);
  /// Wakes the readers that are due, as many as the pace allows.
  /// @return when to call it again.
  [[nodiscard]] moment wake_due_readers(moment now);
  void sleep_until(moment until, lock& hold) noexcept;
  void apply_notices(const received_notices& news, moment now);
  enum class concern { none, one_message, more_may_follow };
  [[nodiscard]] concern concern_of(const notice& notice, const watched_queue& q) const;

  driver& driver_;
  const bool throttled_;
  const bool has_test_clock_;
  const std::chrono::milliseconds poll_interval_;
  const std::string token_;

  std::mutex mutex_;
  std::condition_variable nudged_;
  // All guarded by mutex_, except the listener's work.
  bool wanted_;  ///< Whether a listener is wanted.
  /// Those on which readers wait, or that the listener follows. A list: others may be added while
  /// the thread, which goes through it, does not hold the mutex.
  std::list<std::shared_ptr<watched_queue>> attended_;
  poll_pace pace_;
  poll_pace seldom_pace_;
  std::size_t readers_ = 0;
  moment left_at_ = moment::min();
  std::unique_ptr<listener> listener_;
  moment connect_at_ = moment::min();
  backoff pauses_;
  moment sleeps_until_ = moment::min();
  bool awake_ = true;
  bool nudge_ = false;
  bool running_ = false;
  bool ended_ = false;
  std::thread thread_;
};

template <class Ask>
void watcher::waiting::ask_due(Ask ask) {
  if (!take_question()) return;
  at_end failed([this]() noexcept { not_answered(); });
  const std::optional<std::chrono::milliseconds> delay = ask();
  failed.cancel();
  look_again(delay);
}

/// The channel of a queue, as texts write it: `{table:tableq}`.
[[nodiscard]] std::string channel_of(const table_names& names);

/// The payload of a notification.
/// @param token of the sender's watcher, which ignores it; 0: of none.
/// @param last the sender may be silent for `notify_every`. Readers of 0.2 assume that of all.
[[nodiscard]] std::string payload_of(const table_names& names, std::string_view token, bool last);

}  // namespace tableq::inline v0::core
