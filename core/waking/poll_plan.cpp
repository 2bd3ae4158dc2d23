#include "core/waking/poll_plan.hpp"

#include <algorithm>

namespace tableq::inline v0::core {

using std::chrono::milliseconds;

namespace {

/// The longest time between two questions for the next due time.
constexpr milliseconds late_at_most{50};

}  // namespace

void poll_plan::plan_poll(moment now, milliseconds pause) {
  pause_ = pause;
  poll_at_ = now + jitter_.below(std::chrono::microseconds(pause));
}

bool poll_plan::still_polling(moment now, const listening_state& state) const {
  // A little longer than senders stay silent: their notifications may be late.
  constexpr milliseconds margin{50};
  return state.throttled && notified_at_ != moment::min() &&
         now < notified_at_ + notify_every + margin;
}

void poll_plan::begin(moment now, const listening_state& state) {
  due_changed(now);
  plan_poll(now, !state.listening || still_polling(now, state) ? shortest : state.longest);
}

void poll_plan::notified(moment now, bool named, bool last) {
  constexpr milliseconds quiet{200};
  if (rests_until_ != moment::min() && now > rests_until_ + quiet) rest_ = shortest_rest;
  prompted_ = true;
  named_ = named_ || named;
  if (last) notified_at_ = now;
  pause_ = shortest;
}

void poll_plan::notifications_ended(moment now) {
  plan_poll(now, shortest);
}

void poll_plan::found(moment now, const listening_state& state) {
  rest_ = shortest_rest;
  overdue_ = 0;
  rests_until_ = std::min(rests_until_, now);
  if (!state.listening || still_polling(now, state)) plan_poll(now, shortest);
}

void poll_plan::due_changed(moment now) {
  if (timing_ == timing::none) return;
  due_known_ = false;
  // The next reader that wakes asks. If it finds a message instead, another reader asks.
  ask_at_ = std::min(ask_at_, now + late_at_most);
}

bool poll_plan::take_question() {
  if (timing_ == timing::none || due_known_ || asked_) return false;
  asked_ = true;
  due_known_ = true;
  return true;
}

void poll_plan::due_in(moment now, std::optional<milliseconds> delay) {
  const bool outdated = asked_ && !due_known_;
  // Without a question it is another reason to look, beside the due time that is known.
  const auto due = asked_ ? std::nullopt : due_at_;
  asked_ = false;
  due_at_.reset();
  if (delay) {
    // A transaction may have locked a due message: then the questions become less frequent.
    overdue_ = delay->count() > 0 ? 0 : overdue_ + 1;
    const milliseconds wait = overdue_ == 0 ? *delay : milliseconds{1} * (1 << overdue_ / 2);
    // After a day at the latest a reader asks again.
    due_at_ = now + std::min(overdue_ == 0 ? wait : std::min(wait, longest_without_listening),
                             milliseconds{std::chrono::hours{24}});
    overdue_ = std::min(overdue_, 20);
  }
  if (due_known_) ask_at_ = timing_ == timing::leases ? now + lease_check : moment::max();
  // Messages came or changed during the question, and whoever saw that could not ask another one.
  if (outdated) due_at_ = now;
  if (due && (!due_at_ || *due < *due_at_)) due_at_ = due;
}

void poll_plan::not_answered(moment now) {
  asked_ = false;
  due_known_ = false;
  ask_at_ = now + lease_check;
}

bool poll_plan::urgent(moment now) const {
  return (prompted_ && named_ && now >= rests_until_) || (due_at_ && now >= *due_at_);
}

poll_plan::action poll_plan::at(moment now, const listening_state& state) {
  if (prompted_ && now >= rests_until_) {
    prompted_ = false;
    named_ = false;
    rests_until_ = now + rest_;
    rest_ = std::min(rest_ * 2, longest_rest);
    due_changed(now);
    plan_poll(now, !state.listening || still_polling(now, state) ? shortest : state.longest);
    return action::poll;
  }
  if (due_at_ && now >= *due_at_) {
    due_at_.reset();
    due_changed(now);
    return action::poll;
  }
  // A poll answers the question, too.
  const bool asks = now >= ask_at_;
  if (now >= poll_at_ || (asks && poll_at_ - now < lease_check)) {
    if (asks) ask_at_ = moment::max();
    const bool slowly = state.listening && !still_polling(now, state);
    plan_poll(now, slowly ? state.longest : std::min(pause_ * 2, longest_without_listening));
    due_changed(now);
    return action::poll;
  }
  if (asks) {
    due_known_ = false;
    ask_at_ = now + lease_check;
    return asked_ ? action::none : action::ask;
  }
  return action::none;
}

poll_plan::moment poll_plan::next() const {
  moment out = std::min(poll_at_, ask_at_);
  if (due_at_) out = std::min(out, *due_at_);
  if (prompted_) out = std::min(out, rests_until_);
  return out;
}

}  // namespace tableq::inline v0::core
