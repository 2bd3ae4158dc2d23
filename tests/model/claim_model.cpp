#include "model/claim_model.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace tableq_test {

using namespace std::chrono_literals;
using tableq::message_state;
using tableq::settle_result;
using tableq::timestamp;

std::optional<timestamp> claim_model::expiry(const tableq::claim_enqueue_options& options,
                                             timestamp now) const {
  const auto lives =
      options.time_to_live.value_or(rules_.time_to_live.value_or(tableq::lifetime::forever()))
          .length();
  return lives ? std::optional(now + *lives) : std::nullopt;
}

void claim_model::add(tableq::message_id id, const std::string& payload,
                      const tableq::claim_enqueue_options& options, timestamp now) {
  const bool delayed = options.delay.count() > 0;
  entry& added = all_[id];
  added.message.id = id;
  added.message.state = options.group ? message_state::held
                        : delayed     ? message_state::delayed
                                      : message_state::ready;
  added.message.payload = payload;
  added.message.headers = options.headers;
  added.message.key = options.key;
  added.message.group = options.group;
  added.message.expires_at = expiry(options, now);
  added.message.priority = options.priority;
  added.message.created_at = options.created_at.value_or(now);
  if (delayed) added.message.due_at = now + options.delay;
  if (added.message.state == message_state::ready) line_up(added, now);
  added.max_attempts = options.max_attempts;
  added.retry = options.retry;
  last_ = id;
}

tableq::enqueue_result claim_model::meet(tableq::message_id holder, const std::string& payload,
                                         const tableq::claim_enqueue_options& options,
                                         timestamp now, group_names& touched) {
  entry& held = all_.at(holder);
  const message_state state = held.message.state;
  const bool replaces = options.on_duplicate == tableq::on_duplicate::replace;
  const bool waits = state == message_state::ready || state == message_state::delayed ||
                     (state == message_state::held && replaces);
  if (!waits || options.on_duplicate == tableq::on_duplicate::keep_first) {
    return tableq::enqueue_result::kept_first;
  }
  held.message.payload = payload;
  held.message.headers = options.headers;
  held.message.priority = options.priority;
  held.message.attempts = 0;
  held.max_attempts = options.max_attempts;
  held.message.expires_at = expiry(options, now);
  held.retry = options.retry;
  if (replaces) return tableq::enqueue_result::replaced;
  const bool delayed = options.delay.count() > 0;
  if (held.message.group) touched.insert(*held.message.group);
  line_up(held, now);
  if (delayed || held.message.group) held.message.due_at.reset();
  if (held.message.group) held.message.state = message_state::held;
  if (delayed) held.message.state = message_state::delayed;
  if (delayed) held.message.due_at = now + options.delay;
  return tableq::enqueue_result::postponed;
}

claim_model::group_names claim_model::groups_of(std::span<const tableq::message_id> ids) const {
  group_names out;
  for (const tableq::message_id id : ids) {
    const auto found = all_.find(id);
    if (found != all_.end() && found->second.message.group) {
      out.insert(*found->second.message.group);
    }
  }
  return out;
}

std::size_t claim_model::count(const std::string& group,
                               std::initializer_list<message_state> states) const {
  return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [&](const auto& each) {
    const tableq::stored_message& message = each.second.message;
    return message.group == group &&
           std::find(states.begin(), states.end(), message.state) != states.end();
  }));
}

void claim_model::let_go(const group_names& groups, timestamp now) {
  for (const std::string& group : groups) {
    auto busy = count(group, {message_state::ready, message_state::leased});
    if (!groups_pass()) busy += count(group, {message_state::delayed});
    for (auto& [id, each] : all_) {
      if (busy >= static_cast<std::size_t>(rules_.groups.limit)) break;
      if (each.message.group != group || each.message.state != message_state::held) continue;
      line_up(each, now);
      ++busy;
    }
  }
}

bool claim_model::is_past(const entry& of, timestamp now) const {
  return of.message.state == message_state::done && *of.message.finished_at + key_window() <= now;
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

void claim_model::die(tableq::message_id id, timestamp now) {
  tableq::stored_message& message = all_.at(id).message;
  message.state = message_state::dead;
  message.due_at.reset();
  message.finished_at = now;
  if (!rules_.dead_letters) return;
  tableq::stored_message& letter = letters_[message.payload];
  letter.state = message_state::ready;
  letter.payload = message.payload;
  letter.headers = message.headers;
  letter.headers["tableq-source"] = name;
  letter.key = message.key;
  letter.priority = message.priority;
  letter.created_at = message.created_at;
  letter.errors = message.errors;
  all_.erase(id);
}

void claim_model::add_letter(const std::string& payload, timestamp now) {
  tableq::stored_message& letter = letters_[payload];
  letter.state = message_state::ready;
  letter.payload = payload;
  letter.created_at = now;
}

std::size_t claim_model::own_letters() const {
  return static_cast<std::size_t>(std::count_if(letters_.begin(), letters_.end(), [](auto& each) {
    return each.second.headers.count("tableq-source") > 0;
  }));
}

std::size_t claim_model::letters_that_come_back(timestamp now) {
  const bool keyed = rules_.keys.value_or(tableq::key_scope::active) == tableq::key_scope::active;
  std::size_t count = 0;
  std::set<std::string> keys;
  for (const auto& [payload, letter] : letters_) {
    if (letter.headers.count("tableq-source") == 0) continue;
    if (keyed && letter.key) {
      keys.insert(*letter.key);
    } else {
      ++count;
    }
  }
  if (!keys.empty()) forget_keys(now);
  return count + static_cast<std::size_t>(std::ranges::count_if(
                     keys, [&](const std::string& key) { return !holder(key, now); }));
}

void claim_model::adopt(tableq::message_id id, const std::string& payload) {
  tableq::stored_message message = letters_.extract(payload).mapped();
  message.id = id;
  message.headers.erase("tableq-source");
  const bool keyed = rules_.keys.value_or(tableq::key_scope::active) == tableq::key_scope::active;
  all_[id] = {.message = message, .holds_key = keyed};
  last_ = id;
}

void claim_model::promote(timestamp now) {
  std::vector<tableq::message_id> due;
  for (const auto& [id, each] : all_) {
    if (waits(each, now)) due.push_back(id);
  }
  group_names touched;
  for (const tableq::message_id id : due) {
    entry& each = all_.at(id);
    const bool leased = each.message.state == message_state::leased;
    const auto group = each.message.group;
    if (leased) note(each, "lease expired", now);
    line_up(each, now);
    if (leased && is_last_attempt(each)) {
      die(id, now);
      if (group) touched.insert(*group);
    } else if (!leased && group && groups_pass()) {
      each.message.state = message_state::held;
      each.message.due_at.reset();
      touched.insert(*group);
    }
  }
  let_go(touched, now);
}

std::vector<tableq::delivery> claim_model::take(std::size_t max, std::chrono::milliseconds lease,
                                                std::optional<timestamp> claimed_at, timestamp now,
                                                std::int64_t identity, const unit_ended& ended) {
  std::vector<tableq::delivery> out;
  const std::size_t most = std::min(max, limits_.allowed(stats(now).leased, now));
  limits_.took(0);  // A first read commits its clock, even if it returns nothing.
  ended();
  if (most > 0) promote(now);
  ended();
  // Expired messages are met, and the take is repeated if it took no other message.
  for (bool met_late = most > 0; met_late && out.empty();) {
    met_late = false;
    std::vector<tableq::message_id> next;
    std::vector<tableq::message_id> late;
    for (const entry* each : in_order(now)) next.push_back(each->message.id);
    if (next.size() > most) next.resize(most);
    for (const tableq::message_id id : next) {
      entry& taken = all_.at(id);
      taken.message.claimed_at = claimed_at;
      if (rules_.keys == tableq::key_scope::waiting) taken.holds_key = false;
      taken.message.state = message_state::leased;
      taken.message.due_at = now + lease;
      ++taken.message.attempts;
      const std::int64_t fence = taken.fence++;  // No earlier receipt matches.
      if (taken.message.expires_at && *taken.message.expires_at <= now) {
        late.push_back(id);
        continue;
      }
      out.push_back({.receipt = {.id = id, .fence = fence, .queue = identity},
                     .payload = taken.message.payload,
                     .headers = taken.message.headers,
                     .key = taken.message.key,
                     .group = taken.message.group,
                     .priority = taken.message.priority,
                     .attempt = taken.message.attempts,
                     .created_at = taken.message.created_at,
                     .claimed_at = claimed_at,
                     .lease_until = now + lease});
    }
    if (!late.empty()) ended();
    const group_names touched = groups_of(late);
    for (const tableq::message_id id : late) {
      met_late = true;
      entry& each = all_.at(id);
      --each.message.attempts;
      note(each, "expired", now);
      die(id, now);
    }
    let_go(touched, now);
    ended();
  }
  limits_.took(out.size());
  return out;
}

const claim_model::entry* claim_model::held_by(const tableq::receipt& r) const {
  const auto found = all_.find(r.id);
  if (found == all_.end()) return nullptr;
  const entry& held = found->second;
  return held.message.state == message_state::leased && held.fence == r.fence ? &held : nullptr;
}

claim_model::entry* claim_model::held_by(const tableq::receipt& r) {
  return std::as_const(*this).held_by(r) == nullptr ? nullptr : &all_.at(r.id);
}

settle_result claim_model::complete(const tableq::receipt& r, timestamp now) {
  entry* held = held_by(r);
  if (held == nullptr) return settle_result::lease_lost;
  const bool kept = rules_.keep_completed.value_or(false);
  held->holds_key = held->holds_key && held->message.key && key_window() > 0ms;
  if (!kept && !held->holds_key) {
    all_.erase(r.id);
    return settle_result::applied;
  }
  held->message.state = message_state::done;
  held->message.due_at.reset();
  held->message.finished_at = now;
  if (!kept) {  // Only the key stays.
    held->message.payload.clear();
    held->message.headers.clear();
  }
  return settle_result::applied;
}

settle_result claim_model::fail(const tableq::receipt& r, const std::string& error,
                                const tableq::fail_options& options, timestamp now) {
  entry* held = held_by(r);
  if (held == nullptr) return settle_result::lease_lost;
  note(*held, error, now);
  held->message.due_at.reset();
  const std::chrono::milliseconds delay = options.delay.value_or(rest_after(r)->least);
  if (options.give_up || is_last_attempt(*held)) {
    die(r.id, now);
  } else if (delay.count() > 0) {
    held->message.state = message_state::delayed;
    held->message.due_at = now + delay;
  } else {
    line_up(*held, now);
  }
  return settle_result::applied;
}

std::optional<claim_model::rest> claim_model::rest_after(const tableq::receipt& r) const {
  const entry* const held = held_by(r);
  if (held == nullptr) return {};
  const auto rule = held->retry.value_or(rules_.retry.value_or(tableq::retry_delays::usual()));
  if (rule.after.empty()) return rest();
  const auto attempt = static_cast<std::size_t>(held->message.attempts);
  const std::chrono::milliseconds middle = rule.after[std::min(attempt, rule.after.size()) - 1];
  return rest{.least = middle * (100 - rule.jitter) / 100,
              .most = middle * (100 + rule.jitter) / 100};
}

settle_result claim_model::release(const tableq::receipt& r, timestamp now) {
  entry* held = held_by(r);
  if (held == nullptr) return settle_result::lease_lost;
  line_up(*held, now);
  --held->message.attempts;
  return settle_result::applied;
}

settle_result claim_model::extend(const tableq::receipt& r, std::chrono::milliseconds lease,
                                  timestamp now) {
  entry* held = held_by(r);
  if (held == nullptr) return settle_result::lease_lost;
  held->message.due_at = now + lease;
  return settle_result::applied;
}

tableq::change_result claim_model::cancel(tableq::message_id id, timestamp now) {
  const auto found = all_.find(id);
  if (found == all_.end()) return tableq::change_result::not_found;
  const message_state state = found->second.message.state;
  if (state == message_state::leased) return tableq::change_result::running;
  if (state == message_state::done) return tableq::change_result::finished;
  const group_names touched = groups_of({&id, 1});
  all_.erase(found);
  let_go(touched, now);
  return tableq::change_result::applied;
}

tableq::change_result claim_model::set_priority(tableq::message_id id, std::int32_t priority) {
  const auto found = all_.find(id);
  if (found == all_.end()) return tableq::change_result::not_found;
  tableq::stored_message& message = found->second.message;
  if (message.state == message_state::leased) return tableq::change_result::running;
  if (message.state == message_state::done || message.state == message_state::dead) {
    return tableq::change_result::finished;
  }
  message.priority = priority;
  return tableq::change_result::applied;
}

tableq::change_result claim_model::make_ready(tableq::message_id id, timestamp now) {
  const auto found = all_.find(id);
  if (found == all_.end()) return tableq::change_result::not_found;
  tableq::stored_message& message = found->second.message;
  switch (message.state) {
    case message_state::ready:
    case message_state::delayed:
      break;
    case message_state::leased:
    case message_state::held:
      let_go(groups_of({&id, 1}), now);
      return tableq::change_result::running;
    default:
      return tableq::change_result::finished;
  }
  if (message.state == message_state::delayed) {
    line_up(found->second, now);
    if (message.group && groups_pass()) {
      message.state = message_state::held;
      message.due_at.reset();
    }
  }
  let_go(groups_of({&id, 1}), now);
  return tableq::change_result::applied;
}

std::size_t claim_model::redrive(const std::vector<tableq::message_id>& ids, timestamp now) {
  std::size_t count = 0;
  for (const tableq::message_id id : ids) {
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.message.state != message_state::dead) continue;
    tableq::stored_message& message = found->second.message;
    message.state = message_state::held;
    if (!message.group) line_up(found->second, now);
    message.attempts = 0;
    message.finished_at.reset();
    message.expires_at.reset();
    ++count;
  }
  let_go(groups_of(ids), now);
  return count;
}

std::size_t claim_model::redrive_all(timestamp now) {
  std::vector<tableq::message_id> ids;
  for (const auto& [id, each] : all_) {
    if (each.message.state == message_state::dead) ids.push_back(id);
  }
  return redrive(ids, now);
}

std::size_t claim_model::purge(tableq::message_state which, const tableq::purge_options& options,
                               timestamp now, const unit_ended& ended) {
  std::vector<std::pair<timestamp, tableq::message_id>> old;
  for (const auto& [id, each] : all_) {
    const tableq::stored_message& message = each.message;
    if (message.state == which && *message.finished_at <= now - options.older_than) {
      old.emplace_back(*message.finished_at, id);
    }
  }
  std::sort(old.begin(), old.end());
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (i > 0 && i % options.batch == 0) ended();
    all_.erase(old[i].second);
  }
  return old.size();
}

}  // namespace tableq_test
