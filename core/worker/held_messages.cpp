#include "core/worker/held_messages.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tableq::inline v0::core {

void held_messages::add(std::vector<delivery> taken, moment sure_until) {
  for (delivery& one : taken) {
    auto added = std::make_shared<held_message>();
    added->delivery = std::move(one);
    added->sure_until = sure_until;
    added->place = all_.insert(all_.end(), added);
    added->listed = true;
    waiting_.push_back(std::move(added));
  }
}

held held_messages::next() {
  if (waiting_.empty()) return nullptr;
  held one = std::move(waiting_.front());
  waiting_.pop_front();
  one->running = true;
  ++running_;
  return one;
}

std::vector<held> held_messages::take_waiting() {
  std::vector<held> out(std::make_move_iterator(waiting_.begin()),
                        std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  return out;
}

void held_messages::finished(const held& one, handler_result result) {
  one->running = false;
  --running_;
  finished_.push_back({one, std::move(result)});
}

std::vector<settlement> held_messages::take_finished() {
  return std::exchange(finished_, {});
}

void held_messages::put_aside(settlement one) {
  if (!std::exchange(one.message->aside, true)) ++count_aside_;
  aside_.push_back(std::move(one));
}

void held_messages::put_aside_by_handler(const held& one, handler_result result) {
  one->running = false;
  --running_;
  put_aside({one, std::move(result)});
}

std::optional<moment> held_messages::next_try() const {
  const auto first = std::ranges::min_element(
      aside_, {}, [](const settlement& one) { return one.message->next_try; });
  return first == aside_.end() ? std::nullopt : std::optional(first->message->next_try);
}

std::optional<settlement> held_messages::take_aside(std::vector<settlement>::iterator which) {
  std::optional<settlement> out(std::move(*which));
  aside_.erase(which);
  return out;
}

std::optional<settlement> held_messages::take_due(moment now) {
  const auto first = std::ranges::min_element(
      aside_, {}, [](const settlement& one) { return one.message->next_try; });
  if (first == aside_.end() || first->message->next_try > now) return std::nullopt;
  return take_aside(first);
}

std::optional<settlement> held_messages::expel_oldest() {
  const auto oldest = std::ranges::min_element(
      aside_, {}, [](const settlement& one) { return one.message->refused.first; });
  if (oldest == aside_.end()) return std::nullopt;
  oldest->message->expelled = true;
  oldest->message->aside = false;
  --count_aside_;
  return take_aside(oldest);
}

void held_messages::keep(const held& one) {
  one->running = false;
  --running_;
  one->kept = true;
  ++count_kept_;
}

void held_messages::end_kept(const held& one) {
  lose_kept(one);
  finished_.push_back({one, result_of(*one->end)});
}

void held_messages::lose_kept(const held& one) {
  if (std::exchange(one->kept, false)) --count_kept_;
}

std::vector<held> held_messages::kept() const {
  std::vector<held> out;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
               [](const held& one) { return one->kept; });
  return out;
}

void held_messages::handle_again(const held& one) {
  if (std::exchange(one->aside, false)) --count_aside_;
  waiting_.push_front(one);
}

void held_messages::forget(const held& one) {
  if (std::exchange(one->listed, false)) all_.erase(one->place);
  if (std::exchange(one->aside, false)) --count_aside_;
  lose_kept(one);
}

std::vector<held> held_messages::leased() const {
  std::vector<held> out;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
               [](const held& one) { return !one->lost && !one->released; });
  return out;
}

std::vector<held> held_messages::running() const {
  std::vector<held> out;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
               [](const held& one) { return one->running; });
  return out;
}

std::vector<held> held_messages::expired(moment now) const {
  std::vector<held> out;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(out), [&](const held& one) {
    return !one->lost && !one->released && one->sure_until < now;
  });
  return out;
}

}  // namespace tableq::inline v0::core
