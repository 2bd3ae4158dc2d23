#include "model/table_model.hpp"

#include <algorithm>

namespace tableq_test {

using tableq::message_state;
using tableq::settle_result;

namespace {

/// The first characters of a text in UTF-8.
std::string first_characters(const std::string& text, std::size_t most) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
    if (begins && most-- == 0) break;
  }
  return text.substr(0, at);
}

}  // namespace

void table_model::add(std::int64_t id, std::int64_t importance, std::optional<millis> due) {
  all_[id] = {.importance = importance, .due_at = due};
}

void table_model::back(entry& in, bool dead) const {
  in.lease_until.reset();
  in.state = dead ? message_state::dead : message_state::ready;
  if (!dead) in.marked_at.reset();
}

void table_model::note(entry& in, const std::string& error) const {
  if (!mapping_.last_error.empty()) in.error = error;
  if (mapping_.errors.empty()) return;
  in.errors = first_characters(error + (in.errors ? "\n" + *in.errors : ""), 8000);
}

void table_model::expire(millis now) {
  if (!has_leases()) return;
  for (auto& [id, each] : all_) {
    if (each.state != message_state::leased || !each.lease_until || *each.lease_until > now)
      continue;
    back(each, exhausted(each));
    note(each, "lease expired");
  }
}

std::size_t table_model::expired(millis now) const {
  return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [&](const auto& each) {
    const entry& held_row = each.second;
    return has_leases() && held_row.state == message_state::leased && held_row.lease_until &&
           *held_row.lease_until <= now;
  }));
}

std::vector<std::int64_t> table_model::waiting(millis now) const {
  std::vector<std::int64_t> out;
  for (const auto& [id, each] : all_) {
    const bool due = mapping_.due_at.empty() || !each.due_at || *each.due_at <= now;
    if (each.state == message_state::ready && due) out.push_back(id);
  }
  if (mapping_.priority.empty()) return out;
  std::stable_sort(out.begin(), out.end(), [&](std::int64_t a, std::int64_t b) {
    return all_.at(a).importance > all_.at(b).importance;
  });
  return out;
}

std::vector<std::int64_t> table_model::take(std::size_t max, millis lease, millis now) {
  expire(now);
  std::vector<std::int64_t> out = waiting(now);
  out.resize(std::min(out.size(), max));
  for (const std::int64_t id : out) {
    entry& each = all_.at(id);
    each.state = message_state::leased;
    each.marked_at = now;
    if (!mapping_.taken_at.empty()) each.taken_at = now;
    if (has_leases()) each.lease_until = now + lease;
    if (!mapping_.attempts.empty()) ++each.attempts;
  }
  return out;
}

table_model::entry* table_model::held(const tableq::receipt& r) {
  const auto found = all_.find(r.id.value);
  if (found == all_.end()) return nullptr;
  entry& each = found->second;
  // Without a lease and a fence nothing tells that the attempt has ended.
  const bool blind = !has_leases() && mapping_.fence.empty();
  const bool looks_held = each.state == message_state::leased ||
                          (blind && each.state == message_state::held) ||
                          (blind && each.state == message_state::dead && !mapping_.waiting.dead);
  if (!looks_held) return nullptr;
  return mapping_.fence.empty() || each.fence == r.fence ? &each : nullptr;
}

settle_result table_model::complete(const tableq::receipt& r, millis now) {
  entry* const mine = held(r);
  if (mine == nullptr) return settle_result::lease_lost;
  mine->lease_until.reset();
  if (mapping_.completed == tableq::on_complete::remove) {
    all_.erase(r.id.value);
  } else if (mapping_.completed == tableq::on_complete::mark) {
    mine->state = message_state::done;
    if (mapping_.done) mine->sent_at = now;
  } else {
    // It stays taken, and no receipt holds it any more.
    mine->state = message_state::held;
  }
  return settle_result::applied;
}

settle_result table_model::fail(const tableq::receipt& r, const std::string& error, millis delay,
                                bool give_up, millis now) {
  entry* const mine = held(r);
  if (mine == nullptr) return settle_result::lease_lost;
  back(*mine, give_up || exhausted(*mine));
  if (!mapping_.due_at.empty()) mine->due_at = now + delay;
  note(*mine, error);
  return settle_result::applied;
}

settle_result table_model::release(const tableq::receipt& r) {
  entry* const mine = held(r);
  if (mine == nullptr) return settle_result::lease_lost;
  back(*mine, false);
  if (!mapping_.attempts.empty()) --mine->attempts;
  return settle_result::applied;
}

settle_result table_model::extend(const tableq::receipt& r, millis lease, millis now) {
  entry* const mine = held(r);
  if (mine == nullptr) return settle_result::lease_lost;
  mine->lease_until = now + lease;
  return settle_result::applied;
}

std::size_t table_model::requeue(millis age, millis now) {
  std::size_t out = 0;
  for (auto& [id, each] : all_) {
    // Rows that are dead or left as they are look like taken ones, but for a lease.
    const bool by_lease =
        has_leases() && mapping_.completed == tableq::on_complete::leave && !each.lease_until;
    if (by_lease) continue;
    const bool looks_taken = each.state == message_state::leased ||
                             each.state == message_state::held ||
                             (each.state == message_state::dead && !mapping_.waiting.dead);
    if (!looks_taken || !each.taken_at || *each.taken_at > now - age) continue;
    back(each, false);
    ++out;
  }
  return out;
}

std::size_t table_model::delayed(millis now) const {
  return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [&](const auto& each) {
    return each.second.state == message_state::ready && each.second.due_at.value_or(now) > now;
  }));
}

std::size_t table_model::count(message_state which) const {
  return static_cast<std::size_t>(std::count_if(
      all_.begin(), all_.end(), [&](const auto& each) { return each.second.state == which; }));
}

}  // namespace tableq_test
