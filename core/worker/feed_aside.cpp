// The part of a worker_feed that puts messages aside whose settlement is refused for now.

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "core/database/access.hpp"
#include "core/queue/queue_state.hpp"
#include "core/worker/engine.hpp"
#include "core/worker/verdict.hpp"

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

}  // namespace

std::size_t worker_feed::most_aside() const {
  constexpr std::size_t usual = 100;
  return std::max(usual, 2 * engine_.most());
}

bool worker_feed::of_the_database(const error& failure) const {
  switch (failure.code()) {
    case errc::connection_lost:
    case errc::connection_failed:
      return true;
    case errc::busy:
      if (access::state_of(queue_).database().capabilities().one_writer) return true;
      break;
    default:
      break;
  }
  return failure.sqlstate().empty() && failure.native() == 0;  // Not an answer of the database.
}

void worker_feed::succeeded(handled::how what, std::size_t tries) {
  refusals_.succeeded(what, tries);
  refused_in_row_ = 0;
  next_probe_ = {};
  probe_pauses_.reset();
  bound_aside();  // More were put aside while nothing succeeded.
  if (held_.aside_count() > 0) wake_settler();
}

void worker_feed::refused_again() {
  ++refused_in_row_;
  if (stuck()) next_probe_ = steady_clock::now() + probe_pauses_.pause();
}

bool worker_feed::is_own(const held& one, handled::how what, const error& refused) {
  const milliseconds patience = access::state_of(queue_).database().options().retry_for;
  bool first = false;
  bool probe = false;
  {
    const std::scoped_lock hold(engine_.mutex());
    if (!one->pauses) {
      constexpr milliseconds shortest{50};
      one->pauses.emplace(shortest, std::clamp(patience / 8, worker_engine::shortest_pause,
                                               worker_engine::longest_pause));
    }
    first = !one->refused.first;
    const bool alone = held_.aside_count() <= 1;
    probe = !first && alone && lease_can_tell(refused) && !of_the_database(refused) &&
            !refusals_.moved_on(one->refused, what);
  }
  bool probed = false;
  if (probe) {
    try {
      probed = extend({one}).front() == pulse::extended;
    } catch (const std::exception&) {  // Nothing works: this tells nothing of the message.
    }
  }
  const std::scoped_lock hold(engine_.mutex());
  const moment now = steady_clock::now();
  one->next_try = now + one->pauses->pause();
  if (probed) {
    refused_in_row_ = 0;
  } else {
    refused_again();
  }
  if (of_the_database(refused)) return false;
  return refusals_.is_own(one->refused, what, probed, now, patience);
}

void worker_feed::settle_later(const std::vector<settlement>& batch, handled::how what,
                               const error& refused) {
  if (batch.size() == 1) return put_aside(batch.front(), what, refused);
  for (const settlement& each : batch) settle({each}, what);
}

void worker_feed::put_aside(const settlement& one, handled::how what, const error& refused) {
  const held& message = one.message;
  if (message->expelled || (leaving_ && what == handled::how::given_back)) {
    return not_settled({one}, refused.what());
  }
  if (leaving_)
    return settle({{message, {.verdict = handled::give_back()}}}, handled::how::given_back);
  if (!message->refused.first) report_trouble(refused.what());
  if (is_own(message, what, refused)) {
    if (what != handled::how::completed) return not_settled({one}, refused.what());
    message->refused = {};
    return settle({{message, {.verdict = refused_completion(refused)}}}, handled::how::failed);
  }
  const std::scoped_lock hold(engine_.mutex());
  held_.put_aside(one);
  bound_aside();
  wake_taker();
}

void worker_feed::bound_aside() {
  // While nothing else succeeds either, no more are taken instead.
  if (stuck()) return;
  while (held_.aside_count() > most_aside()) {
    std::optional<settlement> oldest = held_.expel_oldest();
    if (!oldest) return;  // All are tried just now.
    held_.settle_later({std::move(oldest->message), {.verdict = handled::give_back()}});
  }
}

std::vector<settlement> worker_feed::due_settlement() {
  std::vector<settlement> out;
  const moment now = steady_clock::now();
  if (next_probe_ > now) return out;
  // Those that fill the bound may all be bad: another message shows whether the database works.
  one_more_ = stuck();
  if (one_more_) wake_taker();
  while (std::optional<settlement> due = held_.take_due(now)) {
    // Without a taker no handler may be left: its verdict is to give it back.
    if (!due->result.again || !taking_) {
      out.push_back(*std::move(due));
      break;
    }
    held_.handle_again(due->message);
    engine_.wake_handlers();
  }
  return out;
}

bool worker_feed::is_in_a_hurry() const {
  return more_ || !taking_ || engine_.stopping().stop_requested() || free_room() == 0;
}

bool worker_feed::lingers() {
  const milliseconds longest = engine_.options().linger;
  if (longest.count() > 0 && !held_.nothing_finished() && !is_in_a_hurry()) {
    const moment now = steady_clock::now();
    if (!lingers_until_) lingers_until_ = now + longest;
    if (now < *lingers_until_) return true;
  }
  lingers_until_.reset();
  return false;
}

std::vector<settlement> worker_feed::next_settlements() {
  std::unique_lock lock(engine_.mutex());
  settles_ = false;
  ++calls_;
  wake_taker();
  std::vector<settlement> out;
  for (;;) {
    if (!lingers()) {
      out = held_.take_finished();
      if (!out.empty()) break;
      if (!taking_ && !engine_.has_callers() && held_.kept_count() == 0) return last_settlements();
    }
    out = due_settlement();
    if (!out.empty()) break;
    settler_waits_ = true;
    std::optional<moment> next = held_.next_try();
    if (next) next = std::max(*next, next_probe_);
    if (lingers_until_) next = std::min(*lingers_until_, next.value_or(*lingers_until_));
    if (next) {
      to_settle_.wait_until(lock, *next);
    } else {
      to_settle_.wait(lock);
    }
    settler_waits_ = false;
  }
  settles_ = true;
  return out;
}

std::vector<settlement> worker_feed::last_settlements() {
  leaving_ = true;
  return held_.take_aside();
}

}  // namespace tableq::inline v0::core
