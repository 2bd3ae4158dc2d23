#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/groups.hpp"
#include "core/claim/operations.hpp"
#include "core/database/in_transaction.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/limit_gates.hpp"

namespace tableq::core {
namespace {

/// How often a message that holds a key is looked for again, while others take it or put it there.
constexpr int most_replacements = 3;

/// The messages of one call, and the values that the statements take; the texts live here.
class batch {
 public:
  batch(const queue_state& to, std::span<const new_claim_message> messages)
      : messages_(messages), to_(to) {
    for (const new_claim_message& one : messages) {
      check_payload(one.payload, to.database().able().max_payload);
      check_message(one.options, to.info().groups.has_value());
    }
    for (const new_claim_message& one : messages) {
      const claim_enqueue_options& options = one.options;
      const std::chrono::milliseconds ttl = options.time_to_live.value_or(to.info().time_to_live);
      fields_.push_back(
          {.headers = options.headers.empty() ? value() : keep(encode_headers(options.headers)),
           .ttl = ttl.count() > 0 ? to_value(ttl) : value(),
           .max_attempts =
               options.max_attempts ? value(std::int64_t{*options.max_attempts}) : value(),
           .retry = options.retry ? keep(encode_retry(*options.retry)) : value()});
    }
  }
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
  [[nodiscard]] const claim_enqueue_options& options(std::size_t i) const {
    return messages_[i].options;
  }

  /// Whether one statement is all there is to do.
  [[nodiscard]] bool plain() const {
    return std::ranges::all_of(messages_, [this](const new_claim_message& one) {
      const claim_enqueue_options& options = one.options;
      return options.on_duplicate == on_duplicate::keep_first && !options.group &&
             (!options.key || to_.info().key_window.count() == 0);
    });
  }

  /// The values of claim.enqueue for one message.
  void add_new(std::size_t i, std::vector<value>& items) const {
    const claim_enqueue_options& given = options(i);
    items.emplace_back(messages_[i].payload);
    items.emplace_back(std::int64_t{given.priority});
    items.push_back(to_value(given.delay));
    items.push_back(text(given.key));
    items.push_back(fields_[i].headers);
    items.push_back(to_value(given.created_at));
    items.push_back(fields_[i].ttl);
    items.push_back(fields_[i].max_attempts);
    items.push_back(fields_[i].retry);
    items.push_back(text(given.group));
  }

  /// The values of claim.replace.
  void add_replacement(std::size_t i, std::vector<value>& items) const {
    const claim_enqueue_options& given = options(i);
    items.push_back(text(given.key));
    items.emplace_back(messages_[i].payload);
    items.emplace_back(std::int64_t{given.priority});
    items.push_back(to_value(given.delay));
    items.push_back(fields_[i].headers);
    items.push_back(fields_[i].ttl);
    items.push_back(fields_[i].max_attempts);
    items.push_back(fields_[i].retry);
  }

  static value text(const std::optional<std::string>& of) {
    return of ? value(std::string_view(*of)) : value();
  }

 private:
  struct encoded {
    value headers;
    value ttl;
    value max_attempts;
    value retry;
  };

  value keep(std::string made) {
    return value(std::string_view(texts_.emplace_back(std::move(made))));
  }

  std::span<const new_claim_message> messages_;
  const queue_state& to_;
  std::deque<std::string> texts_;  // keeps its elements where they are
  std::vector<encoded> fields_;
};

using places = std::vector<std::size_t>;

/// Adds those whose keys are free. @return the others.
places insert(const queue_state& to, transaction* tx, const batch& of, const places& which,
              std::vector<enqueued>& results) {
  std::vector<value> items;
  items.reserve(which.size() * contract_of(statement::claim_enqueue).items.size());
  for (const std::size_t i : which) of.add_new(i, items);
  const value now = to.database().now();
  const row_set rows = to.execute_batch(tx, statement::claim_enqueue, {&now, 1}, items);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results[which[static_cast<std::size_t>(rows.integer(i, 0))]] = {.id = {rows.integer(i, 1)}};
  }
  places rest;
  for (const std::size_t i : which) {
    if (results[i].id.value != 0) continue;
    if (!of.options(i).key) not_stored(to);
    rest.push_back(i);
  }
  return rest;
}

/// Gives the payloads to the waiting messages that hold the keys. @return those without such a one.
places replace(const queue_state& to, transaction* tx, const batch& of, const places& which,
               bool postpone, std::vector<enqueued>& results) {
  std::vector<value> items;
  items.reserve(which.size() * contract_of(statement::claim_replace).items.size());
  for (const std::size_t i : which) of.add_replacement(i, items);
  const std::array shared{value(std::int64_t{postpone ? 1 : 0}), to.database().now()};
  const row_set rows = to.execute_batch(tx, statement::claim_replace, shared, items);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results[which[static_cast<std::size_t>(rows.integer(i, 0))]] = {
        .id = {rows.integer(i, 1)},
        .result = postpone ? enqueue_result::postponed : enqueue_result::replaced};
  }
  places rest;
  for (const std::size_t i : which) {
    if (results[i].id.value == 0) rest.push_back(i);
  }
  return rest;
}

/// Fills in the messages that hold the keys of those that were not added.
void find_holders(const queue_state& to, transaction* tx, const batch& of, const places& which,
                  std::vector<enqueued>& results) {
  if (which.empty()) return;
  std::vector<value> keys;
  keys.reserve(which.size());
  for (const std::size_t i : which) {
    results[i].result = enqueue_result::kept_first;
    keys.push_back(batch::text(of.options(i).key));
  }
  const row_set rows = to.execute_batch(tx, statement::claim_find_key, {}, keys);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results[which[static_cast<std::size_t>(rows.integer(i, 0))]].id = {rows.integer(i, 1)};
  }
}

/// Nothing of the call stays: the transaction can only be rolled back.
[[noreturn]] void reject(const queue_state& to, transaction& tx) {
  tx.state().spoil();
  throw error(errc::duplicate_key, advice::never,
              "another message of the queue " + to.name() +
                  " holds the key; nothing of this call is stored",
              {.backend = to.database().name(), .operation = "claim.enqueue"});
}

/// Messages of one policy, with no key twice.
void add_run(const queue_state& to, transaction& tx, const batch& of, const places& run,
             std::vector<enqueued>& results) {
  const on_duplicate policy = of.options(run.front()).on_duplicate;
  const bool postpone = policy == on_duplicate::postpone;
  const bool replacing = postpone || policy == on_duplicate::replace;
  places rest = run;
  for (int round = 0; round < (replacing ? most_replacements : 1) && !rest.empty(); ++round) {
    if (replacing) rest = replace(to, &tx, of, rest, postpone, results);
    if (!rest.empty()) rest = insert(to, &tx, of, rest, results);
  }
  if (policy == on_duplicate::reject && !rest.empty()) reject(to, tx);
  find_holders(to, &tx, of, rest, results);
}

/// Cuts the batch into runs.
void add_runs(const queue_state& to, transaction& tx, const batch& of,
              std::vector<enqueued>& results) {
  places run;
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const claim_enqueue_options& options = of.options(i);
    const bool again = options.key && !keys.insert(*options.key).second;
    if (!run.empty() && (again || options.on_duplicate != of.options(run.front()).on_duplicate)) {
      add_run(to, tx, of, run, results);
      run.clear();
      keys.clear();
      if (options.key) keys.insert(*options.key);
    }
    run.push_back(i);
  }
  if (!run.empty()) add_run(to, tx, of, run, results);
}

/// What is postponed leaves its place in a group, or comes for one.
group_set groups_of_postponed(const queue_state& to, transaction& tx,
                              const std::vector<enqueued>& results) {
  if (!to.info().groups) return {};
  std::vector<message_id> ids;
  for (const enqueued& one : results) {
    if (one.result == enqueue_result::postponed) ids.push_back(one.id);
  }
  return groups_of(to, tx, ids);
}

/// Frees keys whose window is over: these, and some more, so that none stays for ever.
void forget_keys(const queue_state& to, transaction& tx, const batch& of) {
  if (to.info().key_window.count() == 0) return;
  std::vector<value> keys;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of.options(i).key) keys.push_back(batch::text(of.options(i).key));
  }
  if (keys.empty()) return;
  const value now = to.database().now();
  to.execute_batch(&tx, to.info().keep ? statement::claim_free : statement::claim_forget, {&now, 1},
                   keys);
}

}  // namespace

std::vector<enqueued> add_claims(const queue_state& to, transaction* tx,
                                 std::span<const new_claim_message> messages,
                                 const when_full& full) {
  if (messages.empty()) return {};
  const batch of(to, messages);
  room held(to, tx, of.size(), full);
  if (of.plain()) {
    std::vector<enqueued> results(of.size());
    places all(of.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const places rest = insert(to, tx, of, all, results);
    held.used(all.size() - rest.size());
    to.announce(tx, all.size() - rest.size());
    try {
      find_holders(to, tx, of, rest, results);
    } catch (const error&) {
      // What could be stored is stored for good: the call must not fail any more. Ids stay zero.
      if (tx != nullptr) throw;
    }
    return results;
  }
  group_set groups;
  for (const new_claim_message& one : messages) {
    if (one.options.group) groups.insert(*one.options.group);
  }
  return in_one_transaction(to.database(), tx, [&](transaction& in) {
    std::vector<enqueued> results(of.size());
    lock_groups(to, in, groups);
    forget_keys(to, in, of);
    add_runs(to, in, of, results);
    const auto added = static_cast<std::size_t>(
        std::ranges::count(results, enqueue_result::added, &enqueued::result));
    held.used(added);
    to.announce(&in, messages.size());
    group_set touched = groups_of_postponed(to, in, results);
    lock_groups(to, in, touched);
    touched.insert(groups.begin(), groups.end());
    advance_groups(to, in, touched);
    return results;
  });
}

}  // namespace tableq::core
