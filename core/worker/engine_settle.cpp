// The part of a crew that speaks to the database about messages that are held.

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/seam/row_failure.hpp"
#include "core/worker/engine.hpp"

namespace tableq::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// When so many settlements are refused one after the other, it is not for what a message holds.
constexpr int most_refusals = 100;

std::vector<receipt> receipts_of(const std::vector<settlement>& batch) {
  std::vector<receipt> out;
  out.reserve(batch.size());
  for (const settlement& one : batch) out.push_back(one.of->delivery.receipt);
  return out;
}

}  // namespace

void crew::settle_all() {
  for (;;) {
    std::vector<settlement> batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !held_.nothing_finished() || producers_ == 0; });
      batch = held_.take_finished();
    }
    if (batch.empty()) return;
    // What came together while the database worked on the last ones is one batch now.
    for (const handled::how what : {handled::how::done, handled::how::failed,
                                    handled::how::given_up, handled::how::given_back}) {
      std::vector<settlement> same;
      std::copy_if(batch.begin(), batch.end(), std::back_inserter(same),
                   [&](const settlement& one) { return one.as.what() == what; });
      if (!same.empty()) settle(same, what);
    }
  }
}

void crew::settle(const std::vector<settlement>& batch, handled::how what) {
  backoff pauses(shortest_pause, longest_pause);
  for (;;) {
    try {
      const std::vector<settled> results = settle_once(batch, what);
      for (std::size_t i = 0; i < batch.size(); ++i) settled_as(batch[i], results[i]);
      refused_in_a_row_ = 0;
      return;
    } catch (const error& failure) {
      if (failure.code() == errc::outcome_unknown) return not_settled(batch);
      // When all leases are over and nobody waits for more, others have the messages.
      const auto now = steady_clock::now();
      bool sure = false;
      {
        const std::scoped_lock hold(mutex_);
        sure = std::any_of(batch.begin(), batch.end(),
                           [&](const settlement& one) { return one.of->sure_until > now; });
      }
      const bool too_late = abandon_.stop_requested() || (stop_.stop_requested() && !sure);
      if (too_late) return not_settled(batch);
      if (passing(failure, pauses, false)) continue;
      if (may_be_of_a_row(failure) && batch.size() > 1) {
        // The others must not suffer for it.
        for (const settlement& one : batch) settle({one}, what);
        return;
      }
      not_settled(batch);
      if (!may_be_of_a_row(failure) || ++refused_in_a_row_ == most_refusals) throw;
      tell_trouble(failure);
      return;
    }
  }
}

std::vector<settled> crew::settle_once(const std::vector<settlement>& batch, handled::how what) {
  if (what == handled::how::done) return queue_.complete(receipts_of(batch));
  if (what == handled::how::given_back) return queue_.release(receipts_of(batch));
  std::vector<failure> failures;
  failures.reserve(batch.size());
  for (const settlement& one : batch) {
    failures.push_back(
        {.receipt = one.of->delivery.receipt,
         .error = one.as.why(),
         .options = {.delay = one.as.delay(), .give_up = what == handled::how::given_up}});
  }
  return queue_.fail(failures);
}

void crew::settled_as(const settlement& one, settled result) {
  using kind = worker_event::kind;
  kind told = kind::lease_lost;
  bool known_before = false;
  {
    const std::scoped_lock hold(mutex_);
    known_before = one.of->released && one.as.what() == handled::how::given_back &&
                   !one.of->running && result == settled::lease_lost;
    if (result == settled::lease_lost) {
      counts_.lease_lost += known_before ? 0 : 1;
    } else if (one.as.what() == handled::how::done) {
      ++counts_.completed;
      told = kind::completed;
    } else if (one.as.what() == handled::how::given_back) {
      ++counts_.given_back;
      told = kind::given_back;
    } else {
      ++counts_.failed;
      told = one.as.what() == handled::how::failed ? kind::failed : kind::given_up;
    }
    if (!one.of->running) held_.forget(one.of);
    changed_.notify_all();
  }
  if (!known_before) tell(told, *one.of, one.as.why());
}

void crew::not_settled(const std::vector<settlement>& batch) {
  for (const settlement& one : batch) {
    {
      const std::scoped_lock hold(mutex_);
      ++counts_.unknown;
      if (!one.of->running) held_.forget(one.of);
      changed_.notify_all();
    }
    tell(worker_event::kind::unknown, *one.of);
  }
}

void crew::keep_all() {
  const milliseconds period = std::max(lease_ / 3, milliseconds{1});
  backoff pauses(std::min(period, shortest_pause), std::min(period, longest_pause));
  milliseconds rest = period;
  for (;;) {
    std::vector<held> leased;
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, rest, [this] { return ended_; })) return;
      leased = held_.leased();
    }
    rest = period;
    if (leased.empty()) continue;
    try {
      extend(leased);
      pauses.reset();
    } catch (const error& failure) {
      if (failure.code() == errc::outcome_unknown) continue;
      if (may_be_of_a_row(failure)) {
        extend_one_by_one(leased);
        continue;
      }
      rest = pauses.pause();
      give_up_lost(leased);
    }
  }
}

void crew::extend_one_by_one(const std::vector<held>& leased) {
  for (const held& one : leased) {
    try {
      extend({one});
    } catch (const error&) {  // Its lease ends; the others must not suffer for it.
      give_up_lost({one});
    }
  }
}

void crew::give_up_lost(const std::vector<held>& leased) {
  const auto now = steady_clock::now();
  const std::scoped_lock hold(mutex_);
  for (const held& one : leased) {
    if (one->sure_until < now) one->stop.request_stop();
  }
}

void crew::extend(const std::vector<held>& leased) {
  std::vector<receipt> receipts;
  receipts.reserve(leased.size());
  for (const held& one : leased) receipts.push_back(one->delivery.receipt);
  const auto until = steady_clock::now() + lease_;
  const std::vector<settled> results = queue_.extend(receipts, lease_);
  const std::scoped_lock hold(mutex_);
  for (std::size_t i = 0; i < leased.size(); ++i) {
    held_message& one = *leased[i];
    if (results[i] == settled::done) {
      one.sure_until = until;
    } else if (held_.holds(leased[i]) && !one.released) {
      // Unless it was settled in the meantime, somebody else has it.
      one.lost = true;
      one.stop.request_stop();
    }
  }
}

}  // namespace tableq::core
