#include "core/waking/poll_plan.hpp"

#include <algorithm>
#include <cstdint>

namespace tableq::inline v0::core {

using std::chrono::milliseconds;

namespace {

/// The longest time between two questions for the next due time.
constexpr milliseconds patience{50};

}  // namespace

void look_plan::plan_look(moment now, milliseconds pause) {
  pause_ = pause;
  look_at_ = now + jitter_.below(std::chrono::microseconds(pause));
}

bool look_plan::looking_on(moment now, const hearing& of) const {
  // A little longer than the silence of senders: their notices may be late.
  constexpr milliseconds margin{50};
  return of.throttled && told_at_ != moment::min() && now < told_at_ + tell_every + margin;
}

void look_plan::begin(moment now, const hearing& of) {
  due_changed(now);
  plan_look(now, !of.listening || looking_on(now, of) ? shortest : of.longest);
}

void look_plan::told(moment now) {
  constexpr milliseconds quiet{200};
  if (rests_until_ != moment::min() && now > rests_until_ + quiet) rest_ = shortest_rest;
  prompted_ = true;
  told_at_ = now;
  pause_ = shortest;
}

void look_plan::deaf(moment now) {
  plan_look(now, shortest);
}

void look_plan::found(moment now, const hearing& of) {
  rest_ = shortest_rest;
  overdue_ = 0;
  rests_until_ = std::min(rests_until_, now);
  if (!of.listening || looking_on(now, of)) plan_look(now, shortest);
}

void look_plan::due_changed(moment now) {
  if (timing_ == timing::none) return;
  due_known_ = false;
  // The next reader that wakes asks. If it finds a message instead, another reader asks.
  ask_at_ = std::min(ask_at_, now + patience);
}

bool look_plan::take_question() {
  if (timing_ == timing::none || due_known_ || asked_) return false;
  asked_ = true;
  due_known_ = true;
  return true;
}

void look_plan::due_in(moment now, std::optional<milliseconds> delay) {
  asked_ = false;
  due_at_.reset();
  if (delay) {
    // A transaction may have locked a due message: then the questions become less frequent.
    overdue_ = delay->count() > 0 ? 0 : overdue_ + 1;
    const milliseconds wait = overdue_ == 0 ? *delay : milliseconds{1} * (1 << overdue_ / 2);
    // Beyond a day it is asked again anyway.
    due_at_ = now + std::min(overdue_ == 0 ? wait : std::min(wait, longest_without_hearing),
                             milliseconds{std::chrono::hours{24}});
    overdue_ = std::min(overdue_, 20);
  }
  if (due_known_) ask_at_ = timing_ == timing::leases ? now + lease_check : moment::max();
}

void look_plan::not_answered(moment now) {
  asked_ = false;
  due_known_ = false;
  ask_at_ = now + lease_check;
}

look_plan::action look_plan::at(moment now, const hearing& of) {
  if (prompted_ && now >= rests_until_) {
    prompted_ = false;
    rests_until_ = now + rest_;
    rest_ = std::min(rest_ * 2, longest_rest);
    due_changed(now);
    plan_look(now, !of.listening || looking_on(now, of) ? shortest : of.longest);
    return action::look;
  }
  if (due_at_ && now >= *due_at_) {
    due_at_.reset();
    due_changed(now);
    return action::look;
  }
  if (now >= look_at_) {
    const bool slowly = of.listening && !looking_on(now, of);
    plan_look(now, slowly ? of.longest : std::min(pause_ * 2, longest_without_hearing));
    due_changed(now);
    return action::look;
  }
  if (now >= ask_at_) {
    due_known_ = false;
    ask_at_ = now + lease_check;
    return asked_ ? action::none : action::ask;
  }
  return action::none;
}

look_plan::moment look_plan::next() const {
  moment out = std::min(look_at_, ask_at_);
  if (due_at_) out = std::min(out, *due_at_);
  if (prompted_) out = std::min(out, rests_until_);
  return out;
}

}  // namespace tableq::inline v0::core
