#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <tableq/worker.hpp>

#include "core/database/access.hpp"
#include "core/queue/queue_state.hpp"
#include "core/worker/held_messages.hpp"
#include "core/worker/kept_state.hpp"
#include "core/worker/messages_aside.hpp"

namespace tableq::inline v0::core {

/// One queue of a worker, between its threads: one takes its messages, one settles them, and one
/// extends their leases.
///
/// @par Thread safety
/// Constants: safe. The mutex of worker_state guards the rest.
struct worker_queue {
  /// @param which the place among the worker's sources, from 0.
  worker_queue(worker_source source, const worker_options& options, std::size_t which)
      : number(which),
        precedence(source.precedence),
        claims(std::move(std::get<claim_queue>(source.queue))),
        work(std::move(source.work)),
        lease(options.lease.value_or(claims.lease())),
        most_kept(options.max_kept.value_or(options.threads)),
        most(options.threads + options.prefetch.value_or(options.threads)),
        aside(2 * most, state().database().options().retry_for) {}

  [[nodiscard]] const queue_state& state() const noexcept { return access::state_of(claims); }

  const std::size_t number;
  const int precedence;
  const claim_queue claims;
  const handler work;
  const std::chrono::milliseconds lease;
  const std::size_t most_kept;  ///< worker_options::max_kept.
  const std::size_t most;       ///< How many messages handlers may have, or wait for one.
  const std::shared_ptr<kept_gate> gate = std::make_shared<kept_gate>();

  held_messages messages;
  messages_aside aside;
  /// How many messages have ended in each way.
  std::array<std::size_t, static_cast<std::size_t>(worker_event::kind::trouble)> ends = {};
  bool keeps = false;  ///< A handler has kept a message.
  /// A handler's transaction failed because of the database. Until the next settlement handlers get
  /// no message of this queue, so that those of other databases do not wait.
  bool away = false;

  // Takes. While more messages wait than there is room for, the settling thread takes the next ones
  // in the unit of work of a settlement (a joint take), and the taking thread rests. Otherwise both
  // work side by side, so that a new message waits for no settlement.
  static constexpr std::size_t largest_take = 1000;
  static constexpr std::chrono::milliseconds longest_without_take{250};
  std::condition_variable_any to_take;
  enum class waits : std::uint8_t { no, for_room, for_settlement } taker_waits = waits::no;
  bool takes = false;                  ///< The thread is in a call.
  bool joint = false;                  ///< The settling thread is in a joint take.
  bool more = false;                   ///< The last take found all that it asked for: more wait.
  bool taken_all = false;              ///< The thread takes no more.
  moment took_at = {};                 ///< When the thread began its last call.
  std::size_t at_once = largest_take;  ///< Messages in a take; fewer when memory was short.
  std::optional<std::uint64_t> drained_at;  ///< take_course::drained_at of the last take.
  std::optional<std::uint64_t> empty_at;    ///< The number of finds when the queue was empty.
  std::stop_source run_dry;  ///< The worker holds no message: ends a take's wait, with until_empty.

  // Settlements.
  std::condition_variable to_settle;
  bool settler_waits = false;
  bool settles = false;                 ///< The thread is in a call.
  bool settled_all = false;             ///< The thread settles no more.
  std::optional<moment> lingers_until;  ///< Finished messages wait for others.
};

}  // namespace tableq::inline v0::core
