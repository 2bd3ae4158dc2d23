#pragma once

#include <chrono>
#include <optional>

#include "core/session/backoff.hpp"
#include "core/waking/notify_pace.hpp"

namespace tableq::inline v0::core {

/// The notifications on which a queue's readers can rely.
struct listening_state {
  bool listening = false;  ///< The database notifies of changes.
  /// Senders may stay silent for `notify_every` after a notification: readers poll for that long.
  bool throttled = false;
  /// The longest pause between two polls while the database notifies.
  std::chrono::milliseconds longest{500};
};

/// When the readers of one queue poll next, and when one of them asks for the next due time. Reads
/// no clock: callers pass the time.
///
/// @par Thread safety
/// Shared objects: unsafe; the watcher's mutex guards it.
class poll_plan {
 public:
  using moment = std::chrono::steady_clock::time_point;
  enum class action { none, poll, ask };

  /// The ways in which messages fall due.
  enum class timing {
    none,
    announced,  ///< At times that the notification of their enqueue announced.
    leases,     ///< Also at the end of leases, without a notification.
  };

  explicit poll_plan(timing due_timing) : timing_(due_timing) {}

  /// The first reader begins to wait.
  void begin(moment now, const listening_state& state);
  /// A notification arrived, or notifications begin now.
  /// @param named false: it may be for another queue.
  /// @param last the sender may be silent for a time.
  void notified(moment now, bool named = true, bool last = true);
  /// Notifications have ended: readers poll again.
  void notifications_ended(moment now);
  /// A woken reader has found a message.
  void found(moment now, const listening_state& state);

  /// Messages with due times were added: the next due time is no longer known.
  void due_changed(moment now);
  /// True: the next due time is unknown, and the calling reader must query it. The next caller then
  /// gets false.
  [[nodiscard]] bool take_question();
  /// The database's answer; none: nothing falls due.
  void due_in(moment now, std::optional<std::chrono::milliseconds> delay);
  /// The question failed.
  void not_answered(moment now);

  /// Whether the next action is for this queue alone: a notification has named it, or a message
  /// falls due. Others may wait for polls of other queues.
  [[nodiscard]] bool urgent(moment now) const;
  /// Whether the next action is a poll that notifications make needless but in rare cases.
  [[nodiscard]] bool seldom(moment now, const listening_state& state) const {
    return state.listening && !prompted_ && !still_polling(now, state) && now < ask_at_;
  }
  /// The next action. Called until there is none.
  [[nodiscard]] action at(moment now, const listening_state& state);
  /// When to call `at` again.
  [[nodiscard]] moment next() const;

 private:
  static constexpr std::chrono::milliseconds shortest{10};
  static constexpr std::chrono::milliseconds longest_without_listening{500};
  static constexpr std::chrono::milliseconds shortest_rest{1};
  static constexpr std::chrono::milliseconds longest_rest{50};
  static constexpr std::chrono::milliseconds lease_check{1000};

  [[nodiscard]] bool still_polling(moment now, const listening_state& state) const;
  void plan_poll(moment now, std::chrono::milliseconds pause);

  timing timing_;
  jitter jitter_;

  moment poll_at_ = moment::max();
  std::chrono::milliseconds pause_ = shortest;

  // Pauses between polls after notifications grow, so that frequent changes cost little.
  bool prompted_ = false;
  bool named_ = false;
  moment notified_at_ = moment::min();
  moment rests_until_ = moment::min();
  std::chrono::milliseconds rest_ = shortest_rest;

  std::optional<moment> due_at_;
  moment ask_at_ = moment::max();
  bool due_known_ = false;
  bool asked_ = false;
  int overdue_ = 0;  ///< Answers in a row that a message is due already.
};

}  // namespace tableq::inline v0::core
