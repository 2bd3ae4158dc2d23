#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <tableq/message.hpp>

#include "core/base/at_end.hpp"
#include "core/session/backoff.hpp"
#include "core/worker/handle.hpp"

namespace tableq::inline v0::core {

using moment = std::chrono::steady_clock::time_point;

/// The refusals of one message's settlement, or of its handler's transaction, by errors that may
/// pass.
struct refusal_count {
  std::optional<moment> first = {};  ///< The first one. Empty: there was none.
  std::size_t tries = 0;             ///< Refused ones, each after a success since the one before.
  std::uint64_t seen = 0;            ///< Successes at the last one.
  std::uint64_t successes = 0;       ///< Successes at the first one.
  std::uint64_t cost = 0;            ///< Their refusals.
  moment next_try = {};
  std::optional<backoff> pauses = {};
};

struct held_message;
using held = std::shared_ptr<held_message>;

/// A message that a worker has taken and not settled.
struct held_message {
  tableq::delivery delivery;
  moment sure_until = {};           ///< The lease lasts at least until then.
  std::stop_source stop = {};       ///< Asks its handler to end.
  bool listed = false;              ///< Among the held messages, at `place`.
  bool running = false;             ///< A handler has it.
  bool lost = false;                ///< Another worker is known to have it.
  bool released = false;            ///< Given back while its handler runs.
  bool aside = false;               ///< Put aside, or tried again just now.
  bool expelled = false;            ///< Given back because too many were put aside.
  bool kept = false;                ///< Its handler keeps it.
  std::optional<handled> end = {};  ///< Of a kept one.
  refusal_count refused = {};
  std::list<held>::iterator place = {};

  [[nodiscard]] bool leased() const noexcept { return !lost && !released; }
};

/// A handler's result for a message.
struct settlement {
  held message;
  handler_result result;
};

/// Afterwards adding up to `count` needs no memory: a settlement without a place would be lost.
inline void make_room(std::vector<settlement>& all, std::size_t count) {
  if (all.capacity() < count) all.reserve(std::max(count, 2 * all.capacity()));
}

/// The messages of one queue between take and settlement. All in one place, so that their leases
/// can be extended with one call.
///
/// @par Thread safety
/// Shared objects: unsafe; the mutex of worker_state guards it.
class held_messages {
 public:
  /// Messages that were just taken; they wait for a handler.
  void add(std::vector<delivery> taken, moment sure_until) {
    // Two places for each: `stop_within` gives a message back whose handler returns later.
    make_room(finished_, 2 * (all_.size() + taken.size()));
    for (delivery& one : taken) {
      auto added = std::make_shared<held_message>();
      added->delivery = std::move(one);
      added->sure_until = sure_until;
      added->place = all_.insert(all_.end(), added);
      at_end unlisted([&]() noexcept { all_.erase(added->place); });
      waiting_.push_back(added);
      unlisted.cancel();
      added->listed = true;
    }
  }
  /// The next message for a handler. One waits.
  [[nodiscard]] held next() {
    held one = std::move(waiting_.front());
    waiting_.pop_front();
    one->running = true;
    ++running_;
    return one;
  }
  /// A message that was put aside waits for a handler, before the others.
  void handle_again(held one) { waiting_.push_front(std::move(one)); }
  void handler_returned(held_message& one) noexcept {
    one.running = false;
    --running_;
  }
  /// The result waits for settlement.
  void settle_later(settlement one) { finished_.push_back(std::move(one)); }
  void give_back(held one) { settle_later({std::move(one), {.verdict = handled::give_back()}}); }
  /// Those that no handler has yet.
  void give_back_waiting() {
    for (held& one : waiting_) give_back(std::move(one));
    waiting_.clear();
  }
  /// All messages that wait for settlement.
  [[nodiscard]] std::vector<settlement> take_finished() {
    std::vector<settlement> out;
    out.reserve(finished_.size());
    std::ranges::move(finished_, std::back_inserter(out));
    finished_.clear();
    return out;
  }
  /// A handler has returned and keeps its message.
  void keep(held_message& one) noexcept {
    one.kept = true;
    ++kept_;
  }
  /// A kept message has its end, which waits for settlement.
  void end_kept(const held& one) {
    lose_kept(*one);
    settle_later({one, result_of(std::move(*one->end))});
  }
  /// Somebody else has settled a kept message, or has it.
  void lose_kept(held_message& one) noexcept {
    if (std::exchange(one.kept, false)) --kept_;
  }
  /// Removes a message that is settled, or that cannot be settled.
  void forget(held_message& one) noexcept {
    if (std::exchange(one.listed, false)) all_.erase(one.place);
    lose_kept(one);
  }

  /// The messages of which that is so.
  template <class Is>
  [[nodiscard]] std::vector<held> which(Is is) const {
    std::vector<held> out;
    std::ranges::copy_if(all_, std::back_inserter(out), is,
                         [](const held& one) -> const held_message& { return *one; });
    return out;
  }
  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::size_t running() const noexcept { return running_; }
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }
  [[nodiscard]] bool nothing_finished() const noexcept { return finished_.empty(); }

 private:
  std::list<held> all_;
  std::deque<held> waiting_;
  std::vector<settlement> finished_;
  std::size_t running_ = 0;
  std::size_t kept_ = 0;
};

}  // namespace tableq::inline v0::core
