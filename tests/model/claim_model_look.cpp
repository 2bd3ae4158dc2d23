#include <algorithm>
#include <iterator>
#include <utility>

#include "model/claim_model.hpp"

namespace tableq_test {

using tableq::message_state;
using tableq::timestamp;

std::optional<timestamp> claim_model::since(timestamp now) const {
  return rules_.groups.by_turns ? std::optional(now) : std::nullopt;
}

std::optional<tableq::message_id> claim_model::holder(const std::string& key, timestamp now) const {
  for (const auto& [id, each] : all_) {
    if (each.message.key == key && each.holds_key && !is_past(each, now)) return id;
  }
  return {};
}

void claim_model::forget_keys(timestamp now) {
  for (auto at = all_.begin(); at != all_.end();) {
    entry& one = at->second;
    const bool freed = one.holds_key && is_past(one, now);
    if (freed) one.holds_key = false;
    at = freed && !rules_.keep_completed.value_or(false) ? all_.erase(at) : std::next(at);
  }
}

std::optional<std::string> claim_model::crowded() const {
  for (const auto& [id, each] : all_) {
    const auto& group = each.message.group;
    if (group && count(*group, {message_state::ready, message_state::leased}) >
                     static_cast<std::size_t>(rules_.groups.limit)) {
      return group;
    }
  }
  return {};
}

std::vector<const claim_model::entry*> claim_model::in_order(timestamp now) const {
  std::vector<const entry*> found;
  for (const auto& [id, each] : all_) {
    if (each.message.state == message_state::ready || waits(each, now)) found.push_back(&each);
  }
  // Due messages are ready from now on.
  const auto place = [&](const entry* each) {
    const tableq::stored_message& message = each->message;
    const bool ready = message.state == message_state::ready;
    return std::pair(-std::int64_t{message.priority}, ready ? message.due_at : since(now));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const entry* a, const entry* b) { return place(a) < place(b); });
  return found;
}

void claim_model::line_up(entry& of, timestamp now) const {
  of.message.state = message_state::ready;
  of.message.due_at = since(now);
}

std::size_t claim_model::waiting_or_running() const {
  return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [](const auto& each) {
    const message_state state = each.second.message.state;
    return state != message_state::done && state != message_state::dead;
  }));
}

tableq::message_id claim_model::some(std::uint64_t number) const {
  if (all_.empty()) return {};
  return std::next(all_.begin(), static_cast<std::ptrdiff_t>(number % all_.size()))->first;
}

std::optional<tableq::stored_message> claim_model::get(tableq::message_id id) const {
  const auto found = all_.find(id);
  if (found == all_.end()) return {};
  return found->second.message;
}

std::vector<tableq::stored_message> claim_model::all() const {
  std::vector<tableq::stored_message> out;
  for (const auto& [id, each] : all_) out.push_back(each.message);
  return out;
}

std::vector<tableq::stored_message> claim_model::peek(std::size_t max, timestamp now) const {
  const std::vector<const entry*> ready = in_order(now);
  // Of the due messages that no take has met, only the first are considered.
  std::vector<const entry*> due;
  std::copy_if(ready.begin(), ready.end(), std::back_inserter(due),
               [](const entry* each) { return each->message.state != message_state::ready; });
  std::sort(due.begin(), due.end(), [](const entry* a, const entry* b) {
    return std::pair(a->message.due_at, a->message.id) <
           std::pair(b->message.due_at, b->message.id);
  });
  if (due.size() > max) due.resize(max);
  std::vector<tableq::stored_message> out;
  for (const entry* each : ready) {
    if (out.size() == max) break;
    const bool seen = each->message.state == message_state::ready ||
                      std::find(due.begin(), due.end(), each) != due.end();
    if (seen) out.push_back(each->message);
  }
  return out;
}

std::vector<tableq::stored_message> claim_model::list(tableq::message_state which) const {
  std::vector<tableq::stored_message> out;
  for (const auto& [id, each] : all_) {
    if (each.message.state == which) out.push_back(each.message);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.finished_at < b.finished_at; });
  return out;
}

tableq::claim_stats claim_model::stats(timestamp now) const {
  tableq::claim_stats out;
  for (const auto& [id, each] : all_) {
    const message_state state = each.message.state;
    const bool due = waits(each, now);
    if (state == message_state::ready || due) ++out.ready;
    if (state == message_state::delayed && !due) ++out.delayed;
    if (state == message_state::leased && !due) ++out.leased;
    if (state == message_state::held) ++out.held;
    if (state == message_state::done) ++out.done;
    if (state == message_state::dead) ++out.dead;
  }
  return out;
}

}  // namespace tableq_test
