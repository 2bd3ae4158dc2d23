#include "core/limits/known_limits.hpp"

#include <algorithm>

namespace tableq::inline v0::core {

room_account::answer room_account::reserve(std::size_t wanted, clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (credit_ >= wanted && now < until_) {
    credit_ -= wanted;
    under_way_ += wanted;
    return answer::granted;
  }
  const bool known_full = !freed_ && now < next_count_ && wanted > seen_room_;
  return known_full ? answer::full : answer::count;
}

room_account::count_mark room_account::begin_count(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  credit_ = 0;
  freed_ = false;
  return {.begun = now, .ended = ended_};
}

room_account::answer room_account::counted(const count_mark& mark, std::size_t number,
                                           std::size_t capacity, std::size_t wanted, bool keep,
                                           clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  const std::size_t found = capacity - std::min(capacity, number);
  const std::size_t unsure = under_way_ + static_cast<std::size_t>(ended_ - mark.ended);
  const std::size_t room = found - std::min(found, unsure);
  if (room < wanted) {
    if (found >= wanted) return answer::count;
    seen_room_ = room;
    next_count_ = now + std::min<clock::duration>((now - mark.begun) * rest, longest_rest);
    return answer::full;
  }
  under_way_ += wanted;
  if (keep) {
    credit_ = std::min(room - wanted, room / shares);
    until_ = now + credit_lasts;
    next_count_ = now;
  }
  return answer::granted;
}

void room_account::done(std::size_t reserved, std::size_t unused) noexcept {
  const std::scoped_lock hold(mutex_);
  under_way_ -= reserved;
  ended_ += reserved;
  credit_ += unused;
}

void room_account::freed() noexcept {
  const std::scoped_lock hold(mutex_);
  freed_ = true;
}

void room_account::forget() noexcept {
  const std::scoped_lock hold(mutex_);
  credit_ = 0;
  freed_ = true;
}

std::optional<known_limits> limits_watch::known() noexcept {
  if (!age_.usable()) return std::nullopt;
  if (!limited_.load()) return known_limits{};
  const std::scoped_lock hold(mutex_);
  return known_;
}

void limits_watch::learn(const known_limits& limits, clock::time_point asked) {
  const std::scoped_lock hold(mutex_);
  if (age_.later_than(asked)) return;
  if (known_.capacity != limits.capacity) room_.forget();
  known_ = limits;
  limited_.store(limits.any());
  age_.answered(asked);
}

void limits_watch::made_room() noexcept {
  room_.freed();
  changes_.ring();
}

}  // namespace tableq::inline v0::core
