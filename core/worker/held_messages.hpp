#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <tableq/message.hpp>

#include "core/session/backoff.hpp"
#include "core/worker/refusals.hpp"
#include "core/worker/verdict.hpp"

namespace tableq::inline v0::core {

using moment = std::chrono::steady_clock::time_point;

struct held_message;
using held = std::shared_ptr<held_message>;

/// A message that a worker has taken and not settled.
struct held_message {
  tableq::delivery delivery;
  std::stop_source stop = {};       ///< Asks its handler to end.
  moment sure_until = {};           ///< The lease lasts at least until then.
  bool running = false;             ///< A handler has it.
  bool lost = false;                ///< Another worker is known to have it.
  bool released = false;            ///< Given back while its handler runs.
  bool listed = false;              ///< Among the held messages, at `place`.
  bool aside = false;               ///< Put aside, or tried again just now.
  bool expelled = false;            ///< Given back because too many were put aside.
  bool kept = false;                ///< Its handler keeps it.
  std::optional<handled> end = {};  ///< Of a kept one.
  refusal_count refused = {};       ///< Of its settlement, or of its handler's transaction.
  moment next_try = {};             ///< Of a message that is put aside.
  std::optional<backoff> pauses = {};
  std::list<held>::iterator place = {};
};

/// A handler's result for a message.
struct settlement {
  held message;
  handler_result result;
};

/// The messages of one worker between take and settlement. All in one place, so that their leases
/// can be extended with one call.
///
/// @par Thread safety
/// Shared objects: unsafe; the worker_engine's mutex guards it.
class held_messages {
 public:
  /// Messages that were just taken; they wait for a handler.
  void add(std::vector<delivery> taken, moment sure_until);
  /// The next message for a handler; null if none waits.
  [[nodiscard]] held next();
  /// Takes back the messages that no handler has yet.
  [[nodiscard]] std::vector<held> take_waiting();
  /// A handler has finished; its result waits for settlement.
  void finished(const held& one, handler_result result);
  /// All messages that wait for settlement.
  [[nodiscard]] std::vector<settlement> take_finished();
  void settle_later(settlement one) { finished_.push_back(std::move(one)); }
  /// The message's settlement (or its handler: handler_result::again) was refused, and is tried
  /// again at `next_try`.
  void put_aside(settlement one);
  /// The same for a handler's message.
  void put_aside_by_handler(const held& one, handler_result result);
  /// When the next one of those put aside is due. Empty: there is none.
  [[nodiscard]] std::optional<moment> next_try() const;
  /// The one put aside that is due first.
  [[nodiscard]] std::optional<settlement> take_due(moment now);
  /// All that are put aside.
  [[nodiscard]] std::vector<settlement> take_aside() { return std::exchange(aside_, {}); }
  /// The one whose first refusal is the oldest: it is put aside no more. Empty: all are tried now.
  [[nodiscard]] std::optional<settlement> expel_oldest();
  /// A handler has returned and keeps its message.
  void keep(const held& one);
  /// A kept message has its end, which waits for settlement.
  void end_kept(const held& one);
  /// Somebody else has settled a kept message, or has it.
  void lose_kept(const held& one);
  [[nodiscard]] std::vector<held> kept() const;
  [[nodiscard]] std::size_t kept_count() const noexcept { return count_kept_; }
  /// A message that was put aside waits for a handler, before the others.
  void handle_again(const held& one);
  /// Removes a message that is settled, or that cannot be settled.
  void forget(const held& one);

  /// The messages whose leases must be extended.
  [[nodiscard]] std::vector<held> leased() const;
  [[nodiscard]] std::vector<held> running() const;
  /// The messages whose leases may have ended: their handlers are to end.
  [[nodiscard]] std::vector<held> expired(moment now) const;
  /// Whether the message is still held.
  [[nodiscard]] static bool holds(const held& one) noexcept { return one->listed; }

  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t aside_count() const noexcept { return count_aside_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::size_t running_count() const noexcept { return running_; }
  [[nodiscard]] bool nothing_finished() const noexcept { return finished_.empty(); }

 private:
  [[nodiscard]] std::optional<settlement> take_aside(std::vector<settlement>::iterator which);

  std::list<held> all_;
  std::deque<held> waiting_;
  std::vector<settlement> finished_;
  std::vector<settlement> aside_;
  std::size_t count_kept_ = 0;
  std::size_t count_aside_ = 0;  // also those that are tried just now
  std::size_t running_ = 0;
};

}  // namespace tableq::inline v0::core
