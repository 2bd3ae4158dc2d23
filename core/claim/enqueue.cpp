#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/operations.hpp"
#include "core/claim/step.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/seam/claim_statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// How often a message that holds a key is looked for again, while others take it or put it there.
constexpr int most_replacements = 3;

/// The messages of one call, and what the statements take; the texts live here.
class batch {
 public:
  batch(const queue_state& to, std::span<const claim_message> messages)
      : messages_(messages), to_(to) {
    for (const claim_message& one : messages) {
      check_payload(one.payload, to.database().capabilities().max_payload);
      check_message(*one.options, to.info().groups.has_value());
    }
    for (const claim_message& one : messages) items_.push_back(to_item(one));
  }
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
  [[nodiscard]] const claim_enqueue_options& options(std::size_t i) const {
    return *messages_[i].options;
  }

  /// Whether one statement is all there is to do.
  [[nodiscard]] bool plain() const {
    return std::ranges::all_of(messages_, [this](const claim_message& one) {
      const claim_enqueue_options& options = *one.options;
      return options.on_duplicate == on_duplicate::keep_first && !options.group &&
             (!options.key || to_.info().key_window.count() == 0);
    });
  }

  /// What claim.enqueue takes.
  [[nodiscard]] const claim_item& item(std::size_t i) const { return items_[i]; }
  [[nodiscard]] std::span<const claim_item> items() const { return items_; }

  /// What claim.replace takes.
  [[nodiscard]] replace_item replacement(std::size_t i) const {
    const claim_item& one = items_[i];
    return {.key = one.key.value_or(std::string_view()),
            .payload = one.payload,
            .priority = one.priority,
            .delay = one.delay,
            .due_at = one.due_at,
            .headers = one.headers,
            .ttl = one.ttl,
            .max_attempts = one.max_attempts,
            .retry = one.retry};
  }
  [[nodiscard]] key_item key(std::size_t i) const {
    return {items_[i].key.value_or(std::string_view())};
  }

 private:
  claim_item to_item(const claim_message& one) {
    const claim_enqueue_options& given = *one.options;
    claim_item out{.payload = one.payload,
                   .priority = given.priority,
                   .delay = given.delay,
                   .due_at = given.due_at,
                   .key = given.key,
                   .created_at = given.created_at,
                   .max_attempts = given.max_attempts,
                   .group = given.group};
    if (!given.headers.empty()) out.headers = texts_.emplace_back(encode_headers(given.headers));
    out.ttl = given.time_to_live ? given.time_to_live->length() : to_.info().time_to_live;
    if (given.retry) out.retry = texts_.emplace_back(encode_retry(*given.retry));
    return out;
  }

  std::span<const claim_message> messages_;
  const queue_state& to_;
  std::deque<std::string> texts_;  // keeps its elements where they are
  std::vector<claim_item> items_;
};

using places = std::vector<std::size_t>;

/// Adds those whose keys are free. @return the others.
places insert(const queue_state& to, transaction_state* tx, const batch& of, const places& which,
              std::vector<enqueued>& results) {
  std::vector<claim_item> chosen;
  std::span<const claim_item> items = of.items();
  if (which.size() != items.size()) {
    chosen.reserve(which.size());
    for (const std::size_t i : which) chosen.push_back(of.item(i));
    items = chosen;
  }
  for (const auto& row :
       to.execute(tx, statements::claim_enqueue, {.now = to.database().now()}, items)) {
    results[which[row.item]] = {.id = row.id};
  }
  places rest;
  for (const std::size_t i : which) {
    if (results[i].id.value != 0) continue;
    if (!of.options(i).key) not_stored(to, tx);
    rest.push_back(i);
  }
  return rest;
}

/// Gives the payloads to the waiting messages that hold the keys. @return those without such a one.
places replace(const queue_state& to, transaction_state* tx, const batch& of, const places& which,
               bool postpone, std::vector<enqueued>& results) {
  std::vector<replace_item> items;
  items.reserve(which.size());
  for (const std::size_t i : which) items.push_back(of.replacement(i));
  for (const auto& row : to.execute(tx, statements::claim_replace,
                                    {.postpone = postpone, .now = to.database().now()}, items)) {
    results[which[row.item]] = {
        .id = row.id, .result = postpone ? enqueue_result::postponed : enqueue_result::replaced};
  }
  places rest;
  for (const std::size_t i : which) {
    if (results[i].id.value == 0) rest.push_back(i);
  }
  return rest;
}

/// Fills in the messages that hold the keys of those that were not added.
/// @throws error errc::not_found, errc::kind_mismatch when the queue was dropped.
void find_holders(const queue_state& to, transaction_state* tx, const batch& of,
                  const places& which, std::vector<enqueued>& results) {
  if (which.empty()) return;
  std::vector<key_item> keys;
  keys.reserve(which.size());
  for (const std::size_t i : which) {
    results[i].result = enqueue_result::kept_first;
    keys.push_back(of.key(i));
  }
  std::size_t found = 0;
  for (const auto& row : to.execute(tx, statements::claim_find_key, {}, keys)) {
    results[which[row.item]].id = row.id;
    ++found;
  }
  // A holder may have left at this moment; or the queue was dropped, and nothing was looked at.
  if (found < which.size()) look_again(to, tx);
}

/// Nothing of the call stays: the transaction can only be rolled back.
[[noreturn]] void reject(const queue_state& to, transaction_state& tx) {
  tx.spoil();
  throw error(errc::duplicate_key, advice::never,
              "another message of the queue " + to.name() +
                  " holds the key; nothing of this call is stored",
              {.backend = to.database().name(), .operation = "claim.enqueue"});
}

/// Messages of one policy, with no key twice.
void add_run(const queue_state& to, transaction_state& tx, const batch& of, const places& run,
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
void add_runs(const queue_state& to, transaction_state& tx, const batch& of,
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

/// A postponed message leaves its place in a group, or comes for one.
std::vector<message_id> postponed(const std::vector<enqueued>& results) {
  std::vector<message_id> ids;
  for (const enqueued& one : results) {
    if (one.result == enqueue_result::postponed) ids.push_back(one.id);
  }
  return ids;
}

/// Frees keys whose window is over: these, and some more, so that none stays for ever.
void forget_keys(const queue_state& to, transaction_state& tx, const batch& of) {
  if (to.info().key_window.count() == 0) return;
  std::vector<key_item> keys;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of.options(i).key) keys.push_back(of.key(i));
  }
  if (keys.empty()) return;
  to.execute(&tx, to.info().keep_completed ? statements::claim_free : statements::claim_forget,
             {.now = to.database().now()}, keys);
}

}  // namespace

std::vector<enqueued> add_claims(const queue_state& to, transaction_state* tx,
                                 std::span<const claim_message> messages, const when_full& full) {
  if (messages.empty()) return {};
  const batch of(to, messages);
  room held(to, tx, of.size(), full);
  if (of.plain()) {
    std::vector<enqueued> results(of.size());
    places all(of.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const places rest = insert(to, tx, of, all, results);
    held.used(all.size() - rest.size());
    apply(to, tx, {.readable = all.size() - rest.size()});
    try {
      find_holders(to, tx, of, rest, results);
    } catch (const error&) {
      // What could be stored is stored for good: the call must not fail any more. Ids stay zero.
      if (tx != nullptr || to.limits().ended()) throw;
    }
    return results;
  }
  group_set groups;
  for (const claim_message& one : messages) {
    if (one.options->group) groups.insert(*one.options->group);
  }
  return claim_step(to, tx, {}, true, [&](transaction_state* in, claim_effects& done) {
    std::vector<enqueued> results(of.size());
    lock_groups(to, *in, groups);
    forget_keys(to, *in, of);
    add_runs(to, *in, of, results);
    held.used(static_cast<std::size_t>(
        std::ranges::count(results, enqueue_result::added, &enqueued::result)));
    done.readable = messages.size();
    done.groups = groups;
    if (to.info().groups) lock_groups_of(to, *in, postponed(results), done);
    return results;
  });
}

}  // namespace tableq::inline v0::core
