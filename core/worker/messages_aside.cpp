#include "core/worker/messages_aside.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

moment next_try_of(const settlement& one) {
  return one.message->refused.next_try;
}

/// max(): it was not refused.
moment first_refusal_of(const settlement& one) {
  return one.message->refused.first.value_or(moment::max());
}

}  // namespace

void messages_aside::rest(refusal_count& message) const {
  constexpr milliseconds shortest{50};
  if (!message.pauses) {
    message.pauses.emplace(shortest, std::clamp(patience_ / 8, shortest_pause, longest_pause));
  }
  message.next_try = steady_clock::now() + message.pauses->pause();
}

bool messages_aside::make_room() noexcept {
  try {
    core::make_room(waiting_, waiting_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void messages_aside::add(settlement one) {
  if (!std::exchange(one.message->aside, true)) ++count_;
  waiting_.push_back(std::move(one));
}

void messages_aside::remove(held_message& one) noexcept {
  if (std::exchange(one.aside, false)) --count_;
}

moment messages_aside::next_try() const {
  const auto first = std::ranges::min_element(waiting_, {}, next_try_of);
  return first == waiting_.end() ? moment::max() : std::max(next_try_of(*first), next_probe_);
}

std::optional<settlement> messages_aside::take_due(moment now) {
  if (next_probe_ > now) return std::nullopt;
  // Those that fill the bound may all be bad: another message shows whether the database works.
  one_more_ = stuck();
  const auto first = std::ranges::min_element(waiting_, {}, next_try_of);
  if (first == waiting_.end() || next_try_of(*first) > now) return std::nullopt;
  std::optional<settlement> out(std::move(*first));
  waiting_.erase(first);
  return out;
}

held messages_aside::take_surplus() {
  // While nothing else succeeds either, no more are taken instead.
  if (stuck() || count_ <= most_) return nullptr;
  const auto oldest = std::ranges::min_element(waiting_, {}, first_refusal_of);
  // Otherwise all are tried just now, or wait for locks, as they would if they were taken again.
  if (oldest == waiting_.end() || first_refusal_of(*oldest) == moment::max()) return nullptr;
  held out = std::move(oldest->message);
  waiting_.erase(oldest);
  out->expelled = true;
  remove(*out);
  return out;
}

void messages_aside::succeeded(handled::how what, std::size_t tries) noexcept {
  const auto count = [tries](figures& these) {
    ++these.successes;
    these.cost += tries;
  };
  count(all_);
  if (what == handled::how::completed) count(completions_);
  refused_in_row_ = 0;
  next_probe_ = {};
  probe_pauses_.reset();
}

bool messages_aside::needs_probe(const refusal_count& message, handled::how what) const noexcept {
  return message.first && count_ <= 1 && !moved_on(message, what);
}

bool messages_aside::is_own(refusal_count& message, handled::how what, bool probed,
                            bool of_database) {
  constexpr std::uint64_t enough = 12;
  const moment now = steady_clock::now();
  rest(message);
  refused_in_row_ = probed ? 0 : refused_in_row_ + 1;
  if (stuck()) next_probe_ = now + probe_pauses_.pause();
  if (of_database) return false;
  const figures& mine = of(what);
  const bool first = !message.first;
  if (first) {
    message.first = now;
    message.successes = mine.successes;
    message.cost = mine.cost;
  }
  if (first || probed || moved_on(message, what)) ++message.tries;
  message.seen = mine.successes;
  const std::uint64_t others = std::max<std::uint64_t>(mine.successes - message.successes, 1);
  const std::uint64_t met = mine.cost - message.cost;
  return !first && now - *message.first >= patience_ &&
         message.tries * others >= enough * (others + met);
}

bool messages_aside::stuck() const noexcept {
  constexpr std::size_t many = 50;
  return refused_in_row_ >= many;
}

std::size_t messages_aside::room() const noexcept {
  constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  if (count_ < most_) return unlimited;
  if (stuck()) return one_more_ ? 1 : 0;
  const auto unrefused = std::ranges::count(waiting_, moment::max(), first_refusal_of);
  return static_cast<std::size_t>(unrefused) < most_ ? unlimited : 0;
}

}  // namespace tableq::inline v0::core
