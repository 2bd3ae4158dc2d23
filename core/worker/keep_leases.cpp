#include "core/worker/keep_leases.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>

#include "core/base/errors.hpp"
#include "core/claim/operations.hpp"
#include "core/session/retry.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Whether an extension of the message's lease shows that the database works: it needs the same
/// locks and time, but no room.
bool lease_can_tell(const error& failure) noexcept {
  const errc code = failure.code();
  return code == errc::cancelled || code == errc::busy || code == errc::conflict;
}

std::vector<pulse> extend(worker_state& worker, worker_queue& queue,
                          const std::vector<held>& leased) {
  std::vector<receipt> receipts;
  receipts.reserve(leased.size());
  for (const held& one : leased) receipts.push_back(one->delivery.receipt);
  const moment until = steady_clock::now() + queue.lease;
  const heartbeats found = heartbeat(queue.state(), receipts, queue.lease);
  std::vector<settlement> ended;
  std::vector<held> stopped;
  // Nobody else has these: the handler ends, and its verdict counts.
  for (const std::size_t i : found.stopped) stopped.push_back(leased[i]);
  {
    const std::scoped_lock hold(worker.mutex());
    for (std::size_t i = 0; i < leased.size(); ++i) {
      held_message& one = *leased[i];
      if (found.leases[i] == pulse::extended) one.sure_until = until;
      // Unless it was settled in the meantime, another worker has it.
      if (found.leases[i] != pulse::lost || !one.listed || one.released) continue;
      one.lost = true;
      stopped.push_back(leased[i]);
      if (!one.kept) continue;
      queue.messages.lose_kept(one);
      // While the lease lasted, only its own receipt could settle it.
      const bool settled = one.sure_until > steady_clock::now();
      ended.push_back({leased[i],
                       {.verdict = handled::settled(),
                        .ended = settled ? worker_event::kind::settled_by_handler
                                         : worker_event::kind::lease_lost}});
    }
  }
  for (const held& one : stopped) one->stop.request_stop();
  if (!ended.empty()) worker.conclude(queue, ended);
  return found.leases;
}

/// Triggers the stop tokens of messages whose leases may have ended.
void stop_expired(worker_state& worker, worker_queue& queue) noexcept {
  std::vector<held> expired;
  try {
    const std::scoped_lock hold(worker.mutex());
    expired = queue.messages.which([now = steady_clock::now()](const held_message& one) {
      return one.leased() && one.sure_until < now;
    });
  } catch (const std::bad_alloc&) {  // The next time does it.
  }
  for (const held& one : expired) one->stop.request_stop();
}

/// Extends them one by one if one row may have caused a failure.
/// @return whether all were accepted.
bool extend_all(worker_state& worker, worker_queue& queue, const std::vector<held>& leased) {
  try {
    extend(worker, queue, leased);
    return true;
  } catch (const error& failure) {
    const bool for_now = may_pass(failure) && !of_the_database(queue, failure);
    if (!for_now && !may_concern_one_row(failure)) throw;
  }
  bool all = true;
  for (const held& one : leased) {
    {
      const std::scoped_lock hold(worker.mutex());
      if (worker.has_ended()) return true;
    }
    try {
      extend(worker, queue, {one});
    } catch (const error& failure) {  // This lease may end; the others are still extended.
      if (of_the_database(queue, failure)) throw;
      all = all && !may_pass(failure);
      stop_expired(worker, queue);
    }
  }
  return all;
}

}  // namespace

void keep_leases(worker_state& worker, worker_queue& queue) {
  const stop_scope heard(worker.over(), worker.given_up());
  const milliseconds period = std::max(queue.lease / 3, milliseconds{1});
  backoff pauses(std::min(period, shortest_pause), std::min(period, longest_pause));
  /// Some leases were refused for now, and the database answers.
  constexpr milliseconds soon{500};
  milliseconds rest = period;
  for (;;) {
    try {
      std::vector<held> leased;
      {
        std::unique_lock lock(worker.mutex());
        if (worker.rest(lock, rest)) return;
        // Workers that are free may have these.
        if (worker.is_behind_others(queue)) worker.give_back_waiting(queue);
        leased = queue.messages.which(&held_message::leased);
      }
      rest = period;
      if (leased.empty() || extend_all(worker, queue, leased)) {
        pauses.reset();
      } else {
        rest = std::min(pauses.pause(), soon);
      }
    } catch (const std::exception&) {  // An error of the database, or a lack of memory: try again
                                       // soon.
      rest = pauses.pause();
      stop_expired(worker, queue);
    }
  }
}

bool of_the_database(const worker_queue& queue, const error& failure) {
  const errc code = failure.code();
  if (code == errc::connection_lost || code == errc::connection_failed) return true;
  if (code == errc::busy && queue.state().database().capabilities().one_writer) return true;
  return failure.sqlstate().empty() && failure.native() == 0;  // Not an answer of the database.
}

bool is_own(worker_state& worker, worker_queue& queue, const held& one, handled::how what,
            const error& refused) {
  const bool of_database = of_the_database(queue, refused);
  bool probe = lease_can_tell(refused) && !of_database;
  if (probe) {
    const std::scoped_lock hold(worker.mutex());
    probe = queue.aside.needs_probe(one->refused, what);
  }
  bool probed = false;
  if (probe) {
    try {
      probed = extend(worker, queue, {one}).front() == pulse::extended;
    } catch (const std::exception&) {  // Nothing works: this tells nothing of the message.
    }
  }
  const std::scoped_lock hold(worker.mutex());
  return queue.aside.is_own(one->refused, what, probed, of_database);
}

}  // namespace tableq::inline v0::core
