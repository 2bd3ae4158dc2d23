#include "model/claim_model.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tableq_test {

using tableq::message_state;
using tableq::settled;
using tableq::timestamp;

std::optional<tableq::message_id> claim_model::holder(const std::string& key) const {
  for (const auto& [id, each] : all_) {
    if (each.message.key == key && each.message.state != message_state::done) return id;
  }
  return {};
}

void claim_model::add(tableq::message_id id, const std::string& payload,
                      const tableq::claim_enqueue_options& options, timestamp now) {
  const bool delayed = options.delay.count() > 0;
  entry& added = all_[id];
  added.message.id = id;
  added.message.state = delayed ? message_state::delayed : message_state::ready;
  added.message.payload = payload;
  added.message.headers = options.headers;
  added.message.key = options.key;
  added.message.priority = options.priority;
  added.message.created_at = options.created_at.value_or(now);
  if (delayed) added.message.due_at = now + options.delay;
  added.max_attempts = options.max_attempts;
  if (options.retry) added.retry = *options.retry;
}

tableq::enqueue_result claim_model::meet(tableq::message_id holder, const std::string& payload,
                                         const tableq::claim_enqueue_options& options,
                                         timestamp now) {
  entry& held = all_.at(holder);
  const message_state state = held.message.state;
  const bool waits = state == message_state::ready || state == message_state::delayed;
  if (!waits || options.on_duplicate == tableq::on_duplicate::keep_first) {
    return tableq::enqueue_result::kept_first;
  }
  held.message.payload = payload;
  held.message.headers = options.headers;
  held.message.priority = options.priority;
  held.message.attempts = 0;
  held.max_attempts = options.max_attempts;
  held.retry = options.retry.value_or(tableq::retry_delays());
  if (options.on_duplicate == tableq::on_duplicate::replace) {
    return tableq::enqueue_result::replaced;
  }
  const bool delayed = options.delay.count() > 0;
  held.message.state = delayed ? message_state::delayed : message_state::ready;
  held.message.due_at.reset();
  if (delayed) held.message.due_at = now + options.delay;
  return tableq::enqueue_result::postponed;
}

bool claim_model::waits(const entry& of, timestamp now) {
  const message_state state = of.message.state;
  return (state == message_state::leased || state == message_state::delayed) &&
         of.message.due_at <= now;
}

void claim_model::note(entry& in, const std::string& error, timestamp now) {
  auto& errors = in.message.errors;
  errors.push_back({.at = now, .error = error});
  if (errors.size() > 10) errors.erase(errors.begin());
}

void claim_model::promote(timestamp now) {
  for (auto& [id, each] : all_) {
    if (!waits(each, now)) continue;
    const bool expired = each.message.state == message_state::leased;
    if (expired) note(each, "lease expired", now);
    each.message.state = message_state::ready;
    each.message.due_at.reset();
    if (expired && is_last_attempt(each)) {
      each.message.state = message_state::dead;
      each.message.finished_at = now;
    }
  }
}

std::vector<const claim_model::entry*> claim_model::in_order(timestamp now) const {
  std::vector<const entry*> found;
  for (const auto& [id, each] : all_) {
    if (each.message.state == message_state::ready || waits(each, now)) found.push_back(&each);
  }
  std::stable_sort(found.begin(), found.end(), [](const entry* a, const entry* b) {
    return a->message.priority > b->message.priority;
  });
  return found;
}

std::vector<tableq::delivery> claim_model::take(std::size_t max, std::chrono::milliseconds lease,
                                                std::optional<timestamp> claimed_at, timestamp now,
                                                std::int64_t identity) {
  promote(now);
  std::vector<tableq::delivery> out;
  for (const entry* next : in_order(now)) {
    if (out.size() == max) break;
    entry& taken = all_.at(next->message.id);
    taken.message.state = message_state::leased;
    taken.message.due_at = now + lease;
    taken.message.claimed_at = claimed_at;
    ++taken.message.attempts;
    out.push_back({.receipt = {.id = taken.message.id, .fence = taken.fence, .queue = identity},
                   .payload = taken.message.payload,
                   .headers = taken.message.headers,
                   .key = taken.message.key,
                   .priority = taken.message.priority,
                   .attempt = taken.message.attempts,
                   .created_at = taken.message.created_at,
                   .claimed_at = claimed_at,
                   .lease_until = now + lease});
  }
  return out;
}

claim_model::entry* claim_model::held_by(const tableq::receipt& r) {
  const auto found = all_.find(r.id);
  if (found == all_.end()) return nullptr;
  entry& held = found->second;
  return held.message.state == message_state::leased && held.fence == r.fence ? &held : nullptr;
}

settled claim_model::complete(const tableq::receipt& r, timestamp now) {
  entry* held = held_by(r);
  if (held == nullptr) return settled::lease_lost;
  if (!keep_) {
    all_.erase(r.id);
    return settled::done;
  }
  held->message.state = message_state::done;
  held->message.due_at.reset();
  held->message.finished_at = now;
  return settled::done;
}

settled claim_model::fail(const tableq::receipt& r, const std::string& error,
                          const tableq::fail_options& options, timestamp now) {
  entry* held = held_by(r);
  if (held == nullptr) return settled::lease_lost;
  note(*held, error, now);
  held->message.due_at.reset();
  const auto& after = held->retry.after;
  const auto attempt = static_cast<std::size_t>(held->message.attempts);
  const std::chrono::milliseconds delay = options.delay.value_or(
      after.empty() ? std::chrono::milliseconds(0) : after[std::min(attempt, after.size()) - 1]);
  if (options.give_up || is_last_attempt(*held)) {
    held->message.state = message_state::dead;
    held->message.finished_at = now;
  } else if (delay.count() > 0) {
    held->message.state = message_state::delayed;
    held->message.due_at = now + delay;
  } else {
    held->message.state = message_state::ready;
  }
  return settled::done;
}

settled claim_model::release(const tableq::receipt& r) {
  entry* held = held_by(r);
  if (held == nullptr) return settled::lease_lost;
  held->message.state = message_state::ready;
  held->message.due_at.reset();
  --held->message.attempts;
  return settled::done;
}

settled claim_model::extend(const tableq::receipt& r, std::chrono::milliseconds lease,
                            timestamp now) {
  entry* held = held_by(r);
  if (held == nullptr) return settled::lease_lost;
  held->message.due_at = now + lease;
  return settled::done;
}

tableq::altered claim_model::cancel(tableq::message_id id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return tableq::altered::not_found;
  const message_state state = found->second.message.state;
  if (state == message_state::leased) return tableq::altered::running;
  if (state == message_state::done) return tableq::altered::finished;
  all_.erase(found);
  return tableq::altered::done;
}

tableq::altered claim_model::set_priority(tableq::message_id id, std::int32_t priority) {
  const auto found = all_.find(id);
  if (found == all_.end()) return tableq::altered::not_found;
  tableq::stored_message& message = found->second.message;
  if (message.state == message_state::leased) return tableq::altered::running;
  if (message.state != message_state::ready && message.state != message_state::delayed) {
    return tableq::altered::finished;
  }
  message.priority = priority;
  return tableq::altered::done;
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

std::vector<tableq::stored_message> claim_model::peek(std::size_t max, timestamp now) const {
  const std::vector<const entry*> ready = in_order(now);
  // Of those that no take has met since their time came only the first are looked at.
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

std::size_t claim_model::redrive(const std::vector<tableq::message_id>& ids) {
  std::size_t count = 0;
  for (const tableq::message_id id : ids) {
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.message.state != message_state::dead) continue;
    found->second.message.state = message_state::ready;
    found->second.message.attempts = 0;
    found->second.message.finished_at.reset();
    ++count;
  }
  return count;
}

std::size_t claim_model::redrive_all() {
  std::vector<tableq::message_id> ids;
  for (const auto& [id, each] : all_) ids.push_back(id);
  return redrive(ids);
}

std::size_t claim_model::purge(tableq::retained which, std::chrono::milliseconds older_than,
                               timestamp now) {
  return std::erase_if(all_, [&](const auto& each) {
    const tableq::stored_message& message = each.second.message;
    return static_cast<int>(message.state) == static_cast<int>(which) &&
           *message.finished_at <= now - older_than;
  });
}

tableq::claim_stats claim_model::stats(timestamp now) const {
  tableq::claim_stats out;
  for (const auto& [id, each] : all_) {
    const message_state state = each.message.state;
    const bool due = waits(each, now);
    if (state == message_state::ready || due) ++out.ready;
    if (state == message_state::delayed && !due) ++out.delayed;
    if (state == message_state::leased && !due) ++out.leased;
    if (state == message_state::done) ++out.done;
    if (state == message_state::dead) ++out.dead;
  }
  return out;
}

}  // namespace tableq_test
