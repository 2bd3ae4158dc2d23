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

void held_messages::forget(const held& one) {
  if (std::exchange(one->listed, false)) all_.erase(one->place);
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

void held_messages::stop_expired(moment now) {
  for (const held& one : all_) {
    if (!one->lost && !one->released && one->sure_until < now) one->stop.request_stop();
  }
}

}  // namespace tableq::inline v0::core
