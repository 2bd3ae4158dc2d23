// The part of a worker_feed that settles and extends held messages.

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/retention.hpp"
#include "core/database/access.hpp"
#include "core/queue/operation.hpp"
#include "core/queue/queue_hook.hpp"
#include "core/session/retry.hpp"
#include "core/worker/engine.hpp"
#include "core/worker/verdict.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::vector<receipt> receipts_of(const std::vector<settlement>& batch) {
  std::vector<receipt> out;
  out.reserve(batch.size());
  for (const settlement& one : batch) out.push_back(one.message->delivery.receipt);
  return out;
}

/// The results of the handlers; empty if no handler returned one. Borrows them.
std::vector<std::optional<std::string_view>> results_of(const std::vector<settlement>& batch) {
  const auto returns = [](const settlement& one) {
    return one.result.verdict.result().has_value();
  };
  std::vector<std::optional<std::string_view>> out;
  if (std::none_of(batch.begin(), batch.end(), returns)) return out;
  out.resize(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (returns(batch[i])) out[i] = *batch[i].result.verdict.result();
  }
  return out;
}

}  // namespace

void worker_feed::settle_all() {
  struct end_guard {
    worker_feed& feed;
    ~end_guard() {
      const std::scoped_lock hold(feed.engine_.mutex());
      feed.has_settled_ = true;
    }
  } const guard{*this};
  for (;;) {
    const std::vector<settlement> batch = next_settlements();
    if (batch.empty()) return;
    settle_by_verdict(batch);
  }
}

void worker_feed::settle_by_verdict(const std::vector<settlement>& batch) {
  using how = handled::how;
  std::vector<conclusion> ended;
  for (const settlement& one : batch) {
    if (one.result.ended) ended.push_back({one.message, *one.result.ended, one.result.why});
  }
  if (!ended.empty()) conclude(ended);
  // Messages that arrived during the last call form one batch. Completed ones come last: mostly
  // there are no others, and the last part may take, too.
  std::array<std::vector<settlement>, 4> parts;
  constexpr std::array order{how::failed, how::given_up, how::given_back, how::completed};
  std::size_t last = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::copy_if(batch.begin(), batch.end(), std::back_inserter(parts[i]),
                 [&](const settlement& one) {
                   return !one.result.ended && one.result.verdict.what() == order[i];
                 });
    if (!parts[i].empty()) last = i;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (parts[i].empty()) continue;
    const bool joint = i == last && !parts[i].front().message->aside;
    if (joint && settle_and_take(parts[i], order[i])) continue;
    settle(parts[i], order[i]);
  }
}

void worker_feed::settle(const std::vector<settlement>& batch, handled::how what) {
  using how = handled::how;
  backoff pauses(worker_engine::shortest_pause, worker_engine::longest_pause);
  for (;;) {
    try {
      const queue_state& queue = access::state_of(queue_);
      std::vector<settle_result> results;
      {
        std::optional<unrepeated> once;
        // On a database with one writer each call waits for the others.
        if (!queue.database().capabilities().one_writer) once.emplace();
        results = operation(queue, nullptr, statement_of(what),
                            [&] { return settle_once(batch, what, nullptr); });
      }
      settled_as(batch, results);
      return apply_retention(queue);
    } catch (const error& failure) {
      const bool for_now = may_pass(failure) && !of_the_database(failure);
      if (failure.code() == errc::outcome_unknown || too_late(batch, for_now)) {
        return not_settled(batch, failure.what());
      }
      if (may_concern_one_message(failure)) return settle_each(batch, what, failure);
      if (for_now && engine_.is_abandoned() && batch.size() == 1 && what != how::given_back) {
        return settle({{batch.front().message, {.verdict = handled::give_back()}}},
                      how::given_back);
      }
      if (for_now) return settle_later(batch, what, failure);
      if (!may_pass(failure)) {
        not_settled(batch, failure.what());
        throw;
      }
      trouble(failure.what(), pauses, false);
    } catch (const std::exception& failure) {  // Usually a lack of memory.
      if (too_late(batch, false)) return not_settled(batch, failure.what());
      trouble(failure.what(), pauses, false);
    }
  }
}

void worker_feed::settle_each(const std::vector<settlement>& batch, handled::how what,
                              const error& refused) {
  if (batch.size() > 1) {
    for (const settlement& each : batch) settle({each}, what);
  } else if (what == handled::how::completed) {
    settle({{batch.front().message, {.verdict = refused_completion(refused)}}},
           handled::how::failed);
  } else {
    not_settled(batch, refused.what());
  }
}

statement worker_feed::statement_of(handled::how what) noexcept {
  if (what == handled::how::completed) return statement::claim_complete;
  return what == handled::how::given_back ? statement::claim_release : statement::claim_fail;
}

bool worker_feed::too_late(const std::vector<settlement>& batch, bool for_now) {
  if (engine_.is_abandoned() && !for_now) return true;
  if (!engine_.stopping().stop_requested()) return false;
  // When all leases have ended, other workers may have the messages.
  const auto now = steady_clock::now();
  const std::scoped_lock hold(engine_.mutex());
  return std::none_of(batch.begin(), batch.end(),
                      [&](const settlement& one) { return one.message->sure_until > now; });
}

std::vector<settle_result> worker_feed::settle_once(const std::vector<settlement>& batch,
                                                    handled::how what, transaction_state* tx) {
  const queue_state& queue = access::state_of(queue_).current(tx == nullptr);
  if (what == handled::how::completed) {
    return complete(queue, tx, receipts_of(batch), results_of(batch));
  }
  if (what == handled::how::given_back) return release(queue, tx, receipts_of(batch));
  std::vector<failed_attempt> failures;
  failures.reserve(batch.size());
  for (const settlement& one : batch) {
    failures.push_back(
        {.receipt = one.message->delivery.receipt,
         .error = one.result.verdict.why(),
         .options = {.delay = rest_of(one.result.verdict, queue_, one.message->delivery),
                     .give_up = what == handled::how::given_up}});
  }
  return fail(queue, tx, failures);
}

void worker_feed::settled_as(const std::vector<settlement>& batch,
                             const std::vector<settle_result>& results) {
  using kind = worker_event::kind;
  std::vector<conclusion> all;
  all.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const handled& verdict = batch[i].result.verdict;
    kind ended = kind::lease_lost;
    if (results[i] == settle_result::applied) {
      switch (verdict.what()) {
        case handled::how::completed:
          ended = kind::completed;
          break;
        case handled::how::given_back:
          ended = kind::given_back;
          break;
        case handled::how::failed:
          ended = kind::failed;
          break;
        case handled::how::given_up:
          ended = kind::given_up;
          break;
        case handled::how::settled:
        case handled::how::kept:
          ended = kind::settled_by_handler;
          break;
      }
    } else if (verdict.what() == handled::how::given_back) {
      // It was given back and reported while its handler ran.
      const std::scoped_lock hold(engine_.mutex());
      if (batch[i].message->released && !batch[i].message->running) {
        forget(batch[i].message);
        continue;
      }
    }
    all.push_back({batch[i].message, ended, verdict.why()});
  }
  if (std::ranges::count(results, settle_result::applied) > 0) {
    const std::scoped_lock hold(engine_.mutex());
    succeeded(batch.front().result.verdict.what(), batch.front().message->refused.tries);
  }
  conclude(all);
}

void worker_feed::not_settled(const std::vector<settlement>& batch, std::string_view why) {
  std::vector<conclusion> all;
  all.reserve(batch.size());
  for (const settlement& one : batch)
    all.push_back({one.message, worker_event::kind::unknown, why});
  conclude(all);
}

void worker_feed::conclude(const std::vector<conclusion>& all) {
  {
    const std::scoped_lock hold(engine_.mutex());
    for (const conclusion& one : all) {
      ++figure(one.ended);
      if (!one.message->running) forget(one.message);
    }
    wake_taker();
    if (std::exchange(away_, false) || keeps_) engine_.wake_handlers();
    if (keeps_) wake_settler();
  }
  for (const conclusion& one : all) report(one.ended, *one.message, one.why);
}

std::size_t& worker_feed::figure(worker_event::kind ended) noexcept {
  using kind = worker_event::kind;
  switch (ended) {
    case kind::completed:
      return counts_.completed;
    case kind::failed:
    case kind::given_up:
      return counts_.failed;
    case kind::given_back:
      return counts_.given_back;
    case kind::settled_by_handler:
      return counts_.settled_by_handler;
    case kind::lease_lost:
      return counts_.lease_lost;
    case kind::unknown:
    case kind::trouble:
      break;
  }
  return counts_.unknown;
}

void worker_feed::forget(const held& one) {
  held_.forget(one);
  if (held_.count() == 0) engine_.ran_dry();
}

void worker_feed::keep_all() {
  const milliseconds period = std::max(lease_ / 3, milliseconds{1});
  backoff pauses(std::min(period, worker_engine::shortest_pause),
                 std::min(period, worker_engine::longest_pause));
  /// Some leases were refused for now, and the database answers.
  constexpr milliseconds soon{500};
  milliseconds rest = period;
  for (;;) {
    try {
      std::vector<held> leased;
      {
        std::unique_lock lock(engine_.mutex());
        if (engine_.rest(lock, rest)) return;
        // Workers that are free may have these.
        if (engine_.is_behind_others(precedence_)) give_back_waiting();
        leased = held_.leased();
      }
      rest = period;
      if (leased.empty() || keep(leased)) {
        pauses.reset();
      } else {
        rest = std::min(pauses.pause(), soon);
      }
    } catch (const std::exception&) {  // An error of the database, or a lack of memory: try again
                                       // soon.
      rest = pauses.pause();
      stop_expired();
    }
  }
}

void worker_feed::stop_expired() {
  std::vector<held> expired;
  {
    const std::scoped_lock hold(engine_.mutex());
    expired = held_.expired(steady_clock::now());
  }
  for (const held& one : expired) one->stop.request_stop();
}

bool worker_feed::keep(const std::vector<held>& leased) {
  try {
    extend(leased);
    return true;
  } catch (const error& failure) {
    const bool for_now = may_pass(failure) && !of_the_database(failure);
    if (!for_now && !may_concern_one_row(failure)) throw;
  }
  bool all = true;
  for (const held& one : leased) {
    {
      const std::scoped_lock hold(engine_.mutex());
      if (engine_.has_ended()) return true;
    }
    try {
      extend({one});
    } catch (const error& failure) {  // This lease may end; the others are still extended.
      if (of_the_database(failure)) throw;
      all = all && !may_pass(failure);
      stop_expired();
    }
  }
  return all;
}

std::vector<pulse> worker_feed::extend(const std::vector<held>& leased) {
  std::vector<receipt> receipts;
  receipts.reserve(leased.size());
  for (const held& one : leased) receipts.push_back(one->delivery.receipt);
  const auto until = steady_clock::now() + lease_;
  std::vector<pulse> results;
  {
    std::optional<unrepeated> once;
    if (!access::state_of(queue_).database().capabilities().one_writer) once.emplace();
    results = heartbeat(access::state_of(queue_), receipts, lease_);
  }
  std::vector<conclusion> kept;
  std::vector<held> lost;
  if (queue_hook* const hook = hook_of(access::state_of(queue_))) {
    // Nobody else has these: the handler ends, and its verdict counts.
    for (const std::size_t i : hook->stopped(access::state_of(queue_), receipts)) {
      lost.push_back(leased[i]);
    }
  }
  std::unique_lock lock(engine_.mutex());
  for (std::size_t i = 0; i < leased.size(); ++i) {
    held_message& one = *leased[i];
    if (results[i] == pulse::extended) {
      one.sure_until = until;
    } else if (results[i] == pulse::lost && one.kept) {
      one.lost = true;
      lost.push_back(leased[i]);
      held_.lose_kept(leased[i]);
      // While the lease lasted, only its own receipt could settle it.
      const bool settled = one.sure_until > steady_clock::now();
      kept.push_back(
          {leased[i],
           settled ? worker_event::kind::settled_by_handler : worker_event::kind::lease_lost,
           {}});
    } else if (results[i] == pulse::lost && held_messages::holds(leased[i]) && !one.released) {
      // Unless it was settled in the meantime, another worker has it.
      one.lost = true;
      lost.push_back(leased[i]);
    }
  }
  lock.unlock();
  for (const held& one : lost) one->stop.request_stop();
  if (!kept.empty()) conclude(kept);
  return results;
}

}  // namespace tableq::inline v0::core
