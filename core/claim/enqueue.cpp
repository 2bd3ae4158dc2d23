#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <tableq/claim_queue.hpp>
#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/claim/dead_letters.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/step.hpp"
#include "core/input/codec.hpp"
#include "core/input/trace.hpp"
#include "core/input/validate.hpp"
#include "core/queue/destructive.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/operation.hpp"
#include "core/queue/queue_hook.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Attempts at a replacement, while other calls take or add the message with the key.
constexpr int most_replacements = 3;

/// The messages of one call as items of statements. Owns the converted texts.
class batch {
 public:
  batch(const queue_state& queue, std::span<const claim_message> messages, bool traced)
      : messages_(messages), queue_(queue) {
    for (const claim_message& one : messages) {
      check_payload(one.payload, queue.database().payloads());
      check_message(*one.options, queue.info().groups.has_value());
    }
    if (!traced) trace_ = queue.database().current_trace();
    for (const claim_message& one : messages) items_.push_back(to_item(one));
    const auto placed = [](const claim_message& one) { return one.options->batch.has_value(); };
    if (std::ranges::none_of(messages, placed)) return;
    for (const claim_message& one : messages)
      places_.push_back(placed(one) ? &*one.options->batch : nullptr);
    if (hook_of(queue) == nullptr) {
      refuse("the queue " + queue.name() +
             " has no batches: only one that is created with `batches` (--batches) has them");
    }
  }
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
  [[nodiscard]] const claim_enqueue_options& options(std::size_t i) const {
    return *messages_[i].options;
  }

  /// Whether messages belong to a batch.
  [[nodiscard]] bool placed() const noexcept { return !places_.empty(); }
  /// For each message; null: none.
  [[nodiscard]] std::span<const batch_id* const> places() const noexcept { return places_; }

  /// Whether one statement is enough.
  [[nodiscard]] bool plain() const {
    return !placed() && std::ranges::all_of(messages_, [this](const claim_message& one) {
      const claim_enqueue_options& options = *one.options;
      return options.on_duplicate == on_duplicate::keep_first && !options.group &&
             (!options.key || !queue_.info().key_windows);
    });
  }

  [[nodiscard]] bool has_keys() const {
    return std::ranges::any_of(
        messages_, [](const claim_message& one) { return one.options->key.has_value(); });
  }

  [[nodiscard]] std::span<const claim_item> items() const { return items_; }
  /// Decides that the first message of each idle group is stored as ready.
  /// @return the groups that may have room for another one.
  group_set fill(groups_before groups) {
    const bool one = queue_.info().groups->limit == 1;
    group_set led;
    for (claim_item& each : items_) {
      if (!each.group) continue;
      const auto idle = groups.idle.find(*each.group);
      each.leads = idle != groups.idle.end();
      if (each.leads) {
        led.insert(groups.idle.extract(idle));
      } else if (!one && led.contains(*each.group)) {
        groups.open.emplace(*each.group);
      }
    }
    return std::move(groups.open);
  }
  /// The keys of messages that have one.
  template <class Wanted>
  [[nodiscard]] std::vector<key_item> keys(Wanted wanted) const {
    std::vector<key_item> out;
    for (std::size_t i = 0; i < size(); ++i) {
      if (items_[i].key && wanted(i)) out.push_back({*items_[i].key});
    }
    return out;
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
    if (trace_) {
      out.headers = texts_.emplace_back(
          encode_headers(with_trace(given.headers, *trace_), queue_.database().narrow_texts()));
    } else if (!given.headers.empty()) {
      out.headers =
          texts_.emplace_back(encode_headers(given.headers, queue_.database().narrow_texts()));
    }
    out.ttl = given.time_to_live ? given.time_to_live->length() : queue_.info().time_to_live;
    if (given.retry) out.retry = texts_.emplace_back(encode_retry(*given.retry));
    return out;
  }

  std::span<const claim_message> messages_;
  const queue_state& queue_;
  std::optional<trace_context> trace_ = {};
  std::deque<std::string> texts_;  // a deque never moves its elements
  std::vector<claim_item> items_;
  std::vector<const batch_id*> places_;  // empty: none belongs to a batch
};

/// Whether it changes the message that holds its key.
bool replaces(const claim_enqueue_options& options) {
  return options.on_duplicate == on_duplicate::replace ||
         options.on_duplicate == on_duplicate::postpone;
}

using item_places = std::vector<std::size_t>;

/// Runs a statement with some of the messages. @return those for which it returned no row.
template <class Statement>
item_places store(const queue_state& queue, transaction_state* tx, const Statement& what,
                  const typename Statement::shared_type& shared, const batch& request,
                  const item_places& which, enqueue_result how, std::vector<enqueued>& results) {
  std::vector<claim_item> chosen;
  std::span<const claim_item> items = request.items();
  if (which.size() != items.size()) {
    chosen.reserve(which.size());
    for (const std::size_t i : which) chosen.push_back(request.items()[i]);
    items = chosen;
  }
  for (const auto& row : queue.execute(tx, what, shared, items))
    results[which[row.item]] = {.id = row.id, .result = how};
  item_places rest;
  for (const std::size_t i : which) {
    if (results[i].id.value == 0) rest.push_back(i);
  }
  return rest;
}

/// Adds the messages whose keys are free. @return the others.
item_places insert(const queue_state& queue, transaction_state* tx, const batch& request,
                   const item_places& which, std::vector<enqueued>& results) {
  item_places rest = store(queue, tx, statements::claim_enqueue, {}, request, which,
                           enqueue_result::added, results);
  for (const std::size_t i : rest) {
    if (!request.options(i).key) not_stored(queue, tx);
  }
  return rest;
}

/// For messages that were not added, fills in the ids of the messages that hold their keys.
/// @throws error errc::not_found, errc::kind_mismatch when the queue was dropped.
void find_holders(const queue_state& queue, transaction_state* tx, const batch& request,
                  const item_places& which, std::vector<enqueued>& results) {
  if (which.empty()) return;
  std::vector<key_item> keys;
  for (const std::size_t i : which) {
    results[i].result = enqueue_result::kept_first;
    keys.push_back({*request.items()[i].key});
  }
  std::size_t found = 0;
  for (const auto& row : queue.execute(tx, statements::claim_find_key, {}, keys)) {
    results[which[row.item]].id = row.id;
    ++found;
  }
  // Either the other message has just left, or the queue was dropped.
  if (found < which.size()) static_cast<void>(ask_row(queue, tx));
}

/// The transaction can then only be rolled back, so that nothing of the call stays.
[[noreturn]] void reject(const queue_state& queue, transaction_state& tx) {
  tx.spoil();
  throw error(errc::duplicate_key, advice::never,
              "another message of the queue " + queue.name() +
                  " holds the key; nothing of this call is stored",
              {.backend = queue.database().name(), .operation = "claim.enqueue"});
}

/// Adds messages that have the same policy and different keys.
void add_run(const queue_state& queue, transaction_state& tx, const batch& request,
             const item_places& run, std::vector<enqueued>& results) {
  const on_duplicate policy = request.options(run.front()).on_duplicate;
  const bool postpone = policy == on_duplicate::postpone;
  const bool replacing = replaces(request.options(run.front()));
  item_places rest = run;
  for (int round = 0; round < (replacing ? most_replacements : 1) && !rest.empty(); ++round) {
    if (replacing) {
      rest = store(queue, &tx, statements::claim_replace, {.postpone = postpone}, request, rest,
                   postpone ? enqueue_result::postponed : enqueue_result::replaced, results);
    }
    if (!rest.empty()) rest = insert(queue, &tx, request, rest, results);
  }
  if (policy == on_duplicate::reject && !rest.empty()) reject(queue, tx);
  find_holders(queue, &tx, request, rest, results);
}

/// Divides the batch into runs.
void add_runs(const queue_state& queue, transaction_state& tx, const batch& request,
              std::vector<enqueued>& results) {
  item_places run;
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < request.size(); ++i) {
    const claim_enqueue_options& options = request.options(i);
    const bool again = options.key && !keys.insert(*options.key).second;
    if (!run.empty() &&
        (again || options.on_duplicate != request.options(run.front()).on_duplicate)) {
      add_run(queue, tx, request, run, results);
      run.clear();
      keys.clear();
      if (options.key) keys.insert(*options.key);
    }
    run.push_back(i);
  }
  if (!run.empty()) add_run(queue, tx, request, run, results);
}

/// The ids of postponed messages: each may leave or enter its group.
std::vector<message_id> postponed(const std::vector<enqueued>& results) {
  std::vector<message_id> ids;
  for (const enqueued& one : results) {
    if (one.result == enqueue_result::postponed) ids.push_back(one.id);
  }
  return ids;
}

/// The groups of messages that may be replaced or postponed: they are locked before those messages'
/// rows, as in every other change.
group_set groups_of_holders(const queue_state& queue, transaction_state& tx, const batch& request) {
  if (!queue.info().groups) return {};
  const auto keys = request.keys([&](std::size_t i) { return replaces(request.options(i)); });
  if (keys.empty()) return {};
  std::vector<message_id> ids;
  for (const auto& row : queue.execute(&tx, statements::claim_find_key, {}, keys)) {
    ids.push_back(row.id);
  }
  return groups_of(queue, &tx, ids);
}

/// Adds messages without keys. @return false if that is not possible at once; nothing was done.
bool add_to_groups(const queue_state& queue, const batch& request, const group_set& groups,
                   std::vector<enqueued>& results) {
  auto done =
      in_locked_groups(queue, groups, call_of(statements::claim_enqueue, {}, request.items()));
  if (!done) return false;
  const std::size_t added = done->rows.size();
  for (auto& row : rows_of<id_row, claim_item>(std::move(done->rows)))
    results[row.item] = {.id = row.id};
  if (added < request.size()) not_stored(queue, nullptr);
  return true;
}

/// This process knows when they fall due.
void expect_due(const queue_state& queue, std::span<const claim_message> messages) {
  const auto now = std::chrono::steady_clock::now();
  for (const claim_message& one : messages) {
    const claim_enqueue_options& given = *one.options;
    // The database's clock tells when that is.
    if (given.due_at) queue.shared().watched.due.expect(now, std::chrono::milliseconds{0});
    if (given.delay.count() > 0) queue.shared().watched.due.expect(now, given.delay);
  }
}

}  // namespace

std::vector<enqueued> add_claims(const queue_state& queue, transaction_state* tx,
                                 std::span<const claim_message> messages, const when_full& full,
                                 bool traced) {
  if (messages.empty()) return {};
  batch request(queue, messages, traced);
  expect_due(queue, messages);
  room held(queue, tx, request.size(), full);
  if (request.plain()) {
    std::vector<enqueued> results(request.size());
    item_places all(request.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const item_places rest = insert(queue, tx, request, all, results);
    held.used(all.size() - rest.size());
    apply(queue, tx, {.readable = all.size() - rest.size()});
    try {
      find_holders(queue, tx, request, rest, results);
    } catch (const error& failure) {
      // The messages are committed, so the call must not fail. Unknown ids stay zero.
      const bool dropped =
          failure.code() == errc::not_found || failure.code() == errc::kind_mismatch;
      if (tx != nullptr || dropped) throw;
    }
    return results;
  }
  group_set groups;
  for (const claim_message& one : messages) {
    if (one.options->group) groups.insert(*one.options->group);
  }
  std::vector<enqueued> results(request.size());
  if (tx == nullptr && passes_groups(queue) && !request.has_keys() && !request.placed() &&
      !groups.empty() && add_to_groups(queue, request, groups, results)) {
    held.used(request.size());
    apply(queue, nullptr, {.readable = request.size()});
    return results;
  }
  return claim_step(queue, tx, {}, true, [&](transaction_state* step_tx, claim_effects& done) {
    if (request.placed()) hook_of(queue)->adding(queue, *step_tx, request.places());
    results.assign(request.size(), {});
    group_set locked = groups_of_holders(queue, *step_tx, request);
    locked.insert(groups.begin(), groups.end());
    lock_groups(queue, *step_tx, locked);
    forget_keys(queue, *step_tx, request.keys([](std::size_t) { return true; }));
    done.groups = groups;
    if (!groups.empty() && fills_idle_groups(queue, *step_tx) && !request.has_keys())
      done.groups = request.fill(groups_in_use(queue, *step_tx, groups));
    add_runs(queue, *step_tx, request, results);
    held.used(static_cast<std::size_t>(
        std::ranges::count(results, enqueue_result::added, &enqueued::result)));
    if (request.placed()) {
      std::vector<message_id> ids;
      ids.reserve(results.size());
      for (const enqueued& one : results) {
        ids.push_back(one.result == enqueue_result::added ? one.id : message_id());
      }
      hook_of(queue)->added(queue, *step_tx, request.places(), ids);
    }
    done.readable = messages.size();
    if (queue.info().groups) lock_groups_of(queue, *step_tx, postponed(results), done);
    return results;
  });
}

void check_for_any(const database_state& database, const queue_info& target,
                   const claim_message& message) {
  const claim_enqueue_options& options = *message.options;
  check_payload(message.payload, database.payloads());
  if (target.kind == kind::claim) return check_message(options, target.groups.has_value());
  if (!options.headers.empty() || options.key || options.group || options.priority != 0) {
    refuse("headers, key, group and priority are for claim queues only");
  }
}

std::vector<enqueued> add_to_any(const queue_state& queue, transaction_state& tx,
                                 std::span<const claim_message> messages) {
  if (queue.info().kind == kind::claim) return add_claims(queue, &tx, messages, {});
  const auto add_with = [&](auto options) {
    std::vector<decltype(to_item(queue, {}, options))> items;
    for (const claim_message& each : messages) {
      options.created_at = each.options->created_at;
      items.push_back(to_item(queue, each.payload, options));
    }
    std::vector<enqueued> added;
    for (const message_id id : add<typename decltype(items)::value_type>(queue, &tx, items, {})) {
      added.push_back({.id = id});
    }
    return added;
  };
  return queue.info().kind == kind::pending ? add_with(pending_options())
                                            : add_with(enqueue_options());
}

}  // namespace tableq::inline v0::core

namespace tableq::inline v0 {
namespace {

/// @param Message a type with a payload and options.
template <bool traced, class Message>
std::vector<enqueued> add_each(const core::queue_state& queue, core::transaction_state* tx,
                               std::span<const Message> messages, const when_full& full) {
  std::vector<core::claim_message> views;
  views.reserve(messages.size());
  for (const Message& one : messages) views.push_back({one.payload, &one.options});
  return core::add_claims(queue, tx, views, full, traced);
}

}  // namespace

enqueued claim_queue::enqueue(payload_view payload, const claim_enqueue_options& options,
                              const when_full& full) {
  const core::stop_scope heard(full.stop);
  return core::operation(*this, core::statement::claim_enqueue,
                         [&](const core::queue_state& mine, core::transaction_state* tx) {
                           const core::claim_message one{payload.view(), &options};
                           return core::add_claims(mine, tx, std::span(&one, 1), full).front();
                         });
}
std::vector<enqueued> claim_queue::enqueue_batch(const batch_view<new_claim_message>& messages,
                                                 const when_full& full) {
  const core::stop_scope heard(full.stop);
  return core::operation(*this, core::statement::claim_enqueue, add_each<false, new_claim_message>,
                         messages.items(), full);
}

std::future<enqueued> claim_queue::enqueue_async(std::string payload,
                                                 const claim_enqueue_options& options) {
  auto [future, done] = core::with_future<enqueued>();
  enqueue_async(std::move(payload), options, std::move(done));
  return std::move(future);
}
void claim_queue::enqueue_async(std::string payload, const claim_enqueue_options& options,
                                std::function<void(outcome<enqueued>)> done) {
  core::write_later<enqueued>(
      *this, core::statement::claim_enqueue, std::move(payload), std::move(done),
      [&](const core::queue_state& mine, std::string_view given) {
        core::check_payload(given, mine.database().payloads());
        core::check_message(options, mine.current(false).info().groups.has_value());
        // The context is that of the caller, not of the thread that stores the message.
        claim_enqueue_options traced = options;
        if (const auto trace = mine.database().current_trace())
          traced.headers = core::with_trace(std::move(traced.headers), *trace);
        return traced;
      },
      [](const core::queue_state& mine, core::transaction_state* tx, const auto& items) {
        return add_each<true>(mine, tx, items, {});
      });
}

std::chrono::milliseconds claim_queue::lease() const noexcept {
  return core::access::state_of(*this).current(false).info().lease;
}
int claim_queue::max_attempts() const noexcept {
  return core::access::state_of(*this).current(false).info().max_attempts;
}

}  // namespace tableq::inline v0
