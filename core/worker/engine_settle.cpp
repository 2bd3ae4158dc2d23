// The part of a worker_engine that settles and extends held messages.

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/claim/operations.hpp"
#include "core/database/access.hpp"
#include "core/seam/row_failure.hpp"
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

}  // namespace

void worker_engine::settle_all() {
  for (;;) {
    std::vector<settlement> batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !held_.nothing_finished() || producers_ == 0; });
      batch = held_.take_finished();
    }
    if (batch.empty()) return;
    for (const settlement& one : batch) {
      if (one.result.ended) conclude(one.message, *one.result.ended, one.result.why);
    }
    // Messages that arrived during the last call form one batch.
    for (const handled::how what : {handled::how::completed, handled::how::failed,
                                    handled::how::given_up, handled::how::given_back}) {
      std::vector<settlement> same;
      std::copy_if(batch.begin(), batch.end(), std::back_inserter(same),
                   [&](const settlement& one) {
                     return !one.result.ended && one.result.verdict.what() == what;
                   });
      if (!same.empty()) settle(same, what);
    }
  }
}

void worker_engine::settle(const std::vector<settlement>& batch, handled::how what) {
  backoff pauses(shortest_pause, longest_pause);
  for (;;) {
    try {
      const std::vector<settle_result> results = settle_once(batch, what);
      for (std::size_t i = 0; i < batch.size(); ++i) settled_as(batch[i], results[i]);
      return;
    } catch (const error& failure) {
      if (failure.code() == errc::outcome_unknown || too_late(batch)) {
        return not_settled(batch, failure.what());
      }
      if (may_concern_one_message(failure)) return settle_each(batch, what, failure);
      if (!passing(failure)) {
        not_settled(batch, failure.what());
        throw;
      }
      trouble(failure.what(), pauses, false);
    } catch (const std::exception& failure) {  // Usually a lack of memory.
      if (too_late(batch)) return not_settled(batch, failure.what());
      trouble(failure.what(), pauses, false);
    }
  }
}

void worker_engine::settle_each(const std::vector<settlement>& batch, handled::how what,
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

bool worker_engine::too_late(const std::vector<settlement>& batch) {
  if (abandon_.stop_requested()) return true;
  if (!stop_.stop_requested()) return false;
  // When all leases have ended, other workers may have the messages.
  const auto now = steady_clock::now();
  const std::scoped_lock hold(mutex_);
  return std::none_of(batch.begin(), batch.end(),
                      [&](const settlement& one) { return one.message->sure_until > now; });
}

std::vector<settle_result> worker_engine::settle_once(const std::vector<settlement>& batch,
                                                      handled::how what) {
  if (what == handled::how::completed) return queue_.complete_batch(receipts_of(batch));
  if (what == handled::how::given_back) return queue_.release_batch(receipts_of(batch));
  std::vector<failure> failures;
  failures.reserve(batch.size());
  for (const settlement& one : batch) {
    failures.push_back({.receipt = one.message->delivery.receipt,
                        .error = one.result.verdict.why(),
                        .options = {.delay = one.result.verdict.delay(),
                                    .give_up = what == handled::how::given_up}});
  }
  return queue_.fail_batch(failures);
}

void worker_engine::settled_as(const settlement& one, settle_result result) {
  using kind = worker_event::kind;
  const handled& verdict = one.result.verdict;
  if (result == settle_result::applied) {
    switch (verdict.what()) {
      case handled::how::completed:
        return conclude(one.message, kind::completed, verdict.why());
      case handled::how::given_back:
        return conclude(one.message, kind::given_back, verdict.why());
      case handled::how::failed:
        return conclude(one.message, kind::failed, verdict.why());
      case handled::how::given_up:
        return conclude(one.message, kind::given_up, verdict.why());
      case handled::how::settled:
        return conclude(one.message, kind::settled_by_handler, verdict.why());
    }
  }
  {
    // It was given back and reported while its handler ran.
    const std::scoped_lock hold(mutex_);
    if (one.message->released && verdict.what() == handled::how::given_back &&
        !one.message->running) {
      forget(one.message);
      return;
    }
  }
  conclude(one.message, kind::lease_lost, verdict.why());
}

void worker_engine::not_settled(const std::vector<settlement>& batch, std::string_view why) {
  for (const settlement& one : batch) conclude(one.message, worker_event::kind::unknown, why);
}

void worker_engine::conclude(const held& one, worker_event::kind ended, std::string_view why) {
  {
    const std::scoped_lock hold(mutex_);
    ++figure(ended);
    if (!one->running) forget(one);
  }
  report(ended, *one, why);
}

std::size_t& worker_engine::figure(worker_event::kind ended) noexcept {
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

void worker_engine::forget(const held& one) {
  held_.forget(one);
  if (held_.count() == 0) run_dry_.request_stop();
  changed_.notify_all();
}

void worker_engine::keep_all() {
  const milliseconds period = std::max(lease_ / 3, milliseconds{1});
  backoff pauses(std::min(period, shortest_pause), std::min(period, longest_pause));
  milliseconds rest = period;
  for (;;) {
    try {
      std::vector<held> leased;
      {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, rest, [this] { return ended_; })) return;
        leased = held_.leased();
      }
      rest = period;
      if (!leased.empty()) keep(leased);
      pauses.reset();
    } catch (const std::exception&) {  // An error of the database, or a lack of memory: try again
                                       // soon.
      rest = pauses.pause();
      const std::scoped_lock hold(mutex_);
      held_.stop_expired(steady_clock::now());
    }
  }
}

void worker_engine::keep(const std::vector<held>& leased) {
  try {
    extend(leased);
    return;
  } catch (const error& failure) {
    if (!may_concern_one_row(failure)) throw;
  }
  for (const held& one : leased) {
    try {
      extend({one});
    } catch (const error&) {  // This lease ends; the others are still extended.
      const std::scoped_lock hold(mutex_);
      held_.stop_expired(steady_clock::now());
    }
  }
}

void worker_engine::extend(const std::vector<held>& leased) {
  std::vector<receipt> receipts;
  receipts.reserve(leased.size());
  for (const held& one : leased) receipts.push_back(one->delivery.receipt);
  const auto until = steady_clock::now() + lease_;
  const std::vector<pulse> results = heartbeat(access::state_of(queue_), receipts, lease_);
  const std::scoped_lock hold(mutex_);
  for (std::size_t i = 0; i < leased.size(); ++i) {
    held_message& one = *leased[i];
    if (results[i] == pulse::extended) {
      one.sure_until = until;
    } else if (results[i] == pulse::lost && held_.holds(leased[i]) && !one.released) {
      // Unless it was settled in the meantime, another worker has it.
      one.lost = true;
      one.stop.request_stop();
    }
  }
}

}  // namespace tableq::inline v0::core
