#include "core/worker/kept_state.hpp"

#include <utility>

#include <tableq/kept_delivery.hpp>

#include "core/base/at_end.hpp"

namespace tableq::inline v0 {
namespace core {

kept_state::~kept_state() {
  if (!born_.here()) return;
  try {
    end(handled::give_back());
  } catch (...) {  // A destructor must not throw. The message stays the worker's until its end.
  }
}

bool kept_state::end(handled verdict) {
  if (!born_.here()) return false;
  std::shared_ptr<kept_gate> gate;
  std::shared_ptr<held_message> message;
  {
    const std::scoped_lock hold(mutex_);
    if (now_ == phase::running) {
      early_ = std::move(verdict);
      now_ = phase::ended;
      return true;
    }
    if (now_ != phase::kept) return false;
    now_ = phase::over;
    gate = std::move(gate_);
    message = std::move(message_);
  }
  at_end failed([&]() noexcept {  // For lack of memory: the message is still kept.
    const std::scoped_lock hold(mutex_);
    now_ = phase::kept;
    gate_ = gate;
    message_ = message;
  });
  const std::scoped_lock open(gate->mutex);
  const bool ended = gate->end && gate->end(message, std::move(verdict));
  failed.cancel();
  return ended;
}

bool kept_state::note(double done, std::string text) {
  if (!born_.here()) return false;
  std::shared_ptr<kept_gate> gate;
  std::shared_ptr<held_message> message;
  {
    const std::scoped_lock hold(mutex_);
    if (now_ == phase::running) {
      early_note_.emplace(done, std::move(text));
      return true;
    }
    if (now_ != phase::kept) return false;
    gate = gate_;
    message = message_;
  }
  const std::scoped_lock open(gate->mutex);
  if (gate->note) gate->note(message, done, text);
  return gate->note != nullptr;
}

std::optional<handled> kept_state::keep(std::shared_ptr<kept_gate> gate,
                                        std::shared_ptr<held_message> message) {
  std::unique_lock hold(mutex_);
  if (now_ == phase::running) {
    now_ = phase::kept;
    gate_ = std::move(gate);
    message_ = std::move(message);
    const auto early = std::exchange(early_note_, std::nullopt);
    hold.unlock();
    if (early) note(early->first, early->second);
    return std::nullopt;
  }
  if (now_ == phase::ended) {
    now_ = phase::over;
    return std::exchange(early_, std::nullopt);
  }
  return handled::failed(
      "the handler returned a kept_delivery that had another message: make one for each");
}

void kept_state::refuse() {
  const std::scoped_lock hold(mutex_);
  now_ = phase::over;
}

}  // namespace core

kept_delivery::kept_delivery() : state_(std::make_shared<core::kept_state>()) {}
bool kept_delivery::complete() const {
  return state_ && state_->end(handled::completed());
}
bool kept_delivery::complete(std::string result) const {
  return state_ && state_->end(handled::completed(std::move(result)));
}
bool kept_delivery::progress(double done, std::string note) const {
  return state_ && state_->note(done, std::move(note));
}
bool kept_delivery::fail(std::string why, const fail_options& options) const {
  if (!state_) return false;
  if (options.give_up) return state_->end(handled::give_up(std::move(why)));
  return state_->end(options.delay ? handled::retry_after(std::move(why), *options.delay)
                                   : handled::failed(std::move(why)));
}
bool kept_delivery::give_back() const {
  return state_ && state_->end(handled::give_back());
}
bool kept_delivery::settled() const {
  return state_ && state_->end(handled::settled());
}

handled handled::kept(const kept_delivery& by) {
  if (!by.state_) return failed("the handler returned a kept_delivery that was moved from");
  handled out;
  out.what_ = how::kept;
  out.keeper_ = by.state_;
  return out;
}

}  // namespace tableq::inline v0
