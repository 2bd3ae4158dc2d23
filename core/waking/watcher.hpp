#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <tableq/options.hpp>

#include "core/seam/listener.hpp"
#include "core/session/backoff.hpp"
#include "core/waking/watched_queue.hpp"

namespace tableq::inline v0::core {

/// Wakes the waiting readers of one database: after a notification, when a message falls due, and
/// at each poll interval.
///
/// Owns one thread while readers wait, and for a little afterwards; and the listener, if the
/// database has one. The thread itself sends no statement: the readers that it wakes do.
///
/// @par Thread safety
/// Shared objects: safe.
class watcher {
 public:
  using moment = poll_plan::moment;

  /// @param from, options outlive it.
  watcher(driver& from, const open_options& options);
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  /// Ends the thread; waits for a connection attempt of it.
  ~watcher();

  /// The same object for the same queue.
  [[nodiscard]] watched_queue& queue(const table_names& names, std::int64_t identity,
                                     poll_plan::timing by);

  /// This process added messages to the queue, which can be read.
  void added(watched_queue& to, std::size_t count);

  /// Hides a database object's own notifications from it: sent with them, and left out when
  /// received.
  [[nodiscard]] const std::string& token() const noexcept { return token_; }

  /// A reader that waits.
  class waiting {
   public:
    waiting(watcher& of, watched_queue& in);
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;
    ~waiting();

    /// Sleeps until woken or `until`; may return early.
    [[nodiscard]] woken wait(std::uint64_t mark, moment until, const std::stop_token& stop);
    /// Asks when the next message falls due, if this reader is the one to.
    template <class Ask>
    void ask_due(Ask ask);
    /// The reader found something after it was woken: more may be there.
    void found(woken by);

   private:
    [[nodiscard]] bool take_question();
    void answer(std::optional<std::chrono::milliseconds> delay);
    void not_answered();

    watcher& of_;
    watched_queue& in_;
  };

 private:
  using lock = std::unique_lock<std::mutex>;

  /// How long the thread stays, and a queue is followed, after the last reader left.
  static constexpr std::chrono::milliseconds linger{2000};

  void start();
  void nudge() noexcept;
  void nudge_before(moment next) noexcept;
  void run() noexcept;
  [[nodiscard]] bool deserted(moment now) const;
  [[nodiscard]] hearing hearing_of(const watched_queue& q) const;
  void close_listener(lock& hold);
  void lost(lock& hold);
  /// Opens the listener and follows the waited-on queues, if it is time.
  void keep_listening(lock& hold);
  void open_listener(lock& hold);
  void follow(watched_queue& q, lock& hold);
  /// Wakes the readers that are due.
  /// @return when to come back.
  [[nodiscard]] moment tend(moment now);
  void pass_time(moment until, lock& hold);
  void take_in(const heard& news, moment now);
  [[nodiscard]] bool concerns(const notice& told, const watched_queue& q) const;

  driver& from_;
  const bool throttled_;
  const bool by_a_tests_clock_;
  const std::chrono::milliseconds poll_interval_;
  const std::string token_;

  std::mutex mutex_;
  std::condition_variable nudged_;
  // All guarded by mutex_, except the listener's work.
  bool wanted_;  ///< A listener is.
  std::map<std::pair<std::uint64_t, std::int64_t>, watched_queue> queues_;
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
  struct unless_answered {
    waiting* of;
    ~unless_answered() {
      if (of != nullptr) of->not_answered();
    }
  } open{this};
  const std::optional<std::chrono::milliseconds> delay = ask();
  open.of = nullptr;
  answer(delay);
}

/// The channel of a queue, as texts write it: `{table:tableq}`.
[[nodiscard]] std::string channel_of(const table_names& names);

}  // namespace tableq::inline v0::core
