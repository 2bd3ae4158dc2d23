#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <stop_token>
#include <vector>

#include <tableq/message.hpp>

#include "core/worker/verdict.hpp"

namespace tableq::inline v0::core {

using moment = std::chrono::steady_clock::time_point;

struct held_message;
using held = std::shared_ptr<held_message>;

/// A message that a worker has taken and not settled.
struct held_message {
  tableq::delivery delivery;
  std::stop_source stop = {};  ///< Asks its handler to end.
  moment sure_until = {};      ///< The lease lasts at least until then.
  bool running = false;        ///< A handler has it.
  bool lost = false;           ///< Another worker is known to have it.
  bool released = false;       ///< Given back while its handler runs.
  bool listed = false;         ///< Among the held messages, at `place`.
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
  /// Removes a message that is settled, or that cannot be settled.
  void forget(const held& one);

  /// The messages whose leases must be extended.
  [[nodiscard]] std::vector<held> leased() const;
  [[nodiscard]] std::vector<held> running() const;
  /// Asks the handlers whose leases may have ended to end.
  void stop_expired(moment now);
  /// Whether the message is still held.
  [[nodiscard]] static bool holds(const held& one) noexcept { return one->listed; }

  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::size_t running_count() const noexcept { return running_; }
  [[nodiscard]] bool nothing_finished() const noexcept { return finished_.empty(); }

 private:
  std::list<held> all_;
  std::deque<held> waiting_;
  std::vector<settlement> finished_;
  std::size_t running_ = 0;
};

}  // namespace tableq::inline v0::core
