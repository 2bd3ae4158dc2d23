#include "core/claim/messages.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <tableq/claim_queue.hpp>

#include "core/base/errors.hpp"
#include "core/claim/dead_letters.hpp"
#include "core/claim/lease_table.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/retention.hpp"
#include "core/claim/step.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/observe/observation.hpp"
#include "core/queue/operation.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Before all priorities: no priority is so high.
constexpr std::int64_t above_all = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
/// Before all times and ids.
constexpr std::int64_t before_all = std::numeric_limits<std::int64_t>::min();

std::int64_t milliseconds_of(const std::optional<timestamp>& time) {
  return time.value_or(timestamp()).time_since_epoch().count();
}

stored_message to_stored(stored_row row) {
  const bool since = row.state == message_state::ready && milliseconds_of(row.due_at) != 0;
  const bool timed =
      row.state == message_state::delayed || row.state == message_state::leased || since;
  std::optional<headers> read = to_headers(row.headers);
  const bool unread = !read;
  return {.id = row.id,
          .state = row.state,
          .payload = std::move(row.payload),
          .headers = std::move(read).value_or(headers()),
          .key = std::move(row.key),
          .group = std::move(row.group_key),
          .priority = row.priority,
          .attempts = row.attempts,
          .created_at = row.created_at,
          .due_at = timed ? row.due_at : std::nullopt,
          .expires_at = row.expires_at,
          .claimed_at = row.claimed_at,
          .finished_at = row.finished_at,
          .errors = row.errors ? decode_errors(*row.errors) : std::vector<failure_record>(),
          .unread_headers = unread ? std::optional(to_plain_utf8(*row.headers)) : std::nullopt};
}

std::vector<stored_message> to_stored(std::vector<stored_row> rows) {
  std::vector<stored_message> out;
  out.reserve(rows.size());
  for (stored_row& row : rows) out.push_back(to_stored(std::move(row)));
  return out;
}

/// Adds what a look asks for beside the messages.
std::vector<stored_message> with_notes(const queue_state& queue, transaction_state* tx,
                                       const look_options& with,
                                       std::vector<stored_message> messages) {
  if (queue.info().layout < layout_with_notes) return messages;
  const auto read = [&](bool wanted, bool done, const auto& what, auto add) {
    std::vector<message_id> items;
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; wanted && i < messages.size(); ++i) {
      if ((messages[i].state == message_state::done) != done) continue;
      items.push_back(messages[i].id);
      asked.push_back(i);
    }
    for (auto& row : queue.execute(tx, what, {}, items)) add(messages[asked[row.item]], row);
  };
  read(with.progress, false, statements::claim_notes,
       [](stored_message& to, const auto& row) { to.progress = decode_progress(row.progress); });
  read(with.result, true, statements::claim_outcome,
       [](stored_message& to, auto& row) { to.result = std::move(row.result); });
  return messages;
}

/// Finds the results of the items that a statement skipped.
/// @param done the rows of the items that it changed.
/// @param result_in(state) of a message that is in this state now.
template <class Rows, class ResultIn>
std::vector<change_result> results_of(const queue_state& queue, transaction_state* tx,
                                      const Rows& done, std::span<const message_id> ids,
                                      ResultIn result_in) {
  std::vector<change_result> out(ids.size(), change_result::not_found);
  for (const auto& row : done) out[row.item] = change_result::applied;
  std::vector<message_id> others;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (out[i] != change_result::applied) others.push_back(ids[i]);
  }
  std::map<message_id, message_state> states;
  for (const auto& row : queue.execute(tx, statements::claim_state_of, {}, others)) {
    states[row.id] = row.state;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = states.find(ids[i]);
    if (out[i] == change_result::applied || found == states.end()) continue;
    out[i] = result_in(found->second);
  }
  return out;
}

// A message that waits now was running when it was skipped.
change_result uncancelled(message_state now) {
  return now == message_state::done ? change_result::finished : change_result::running;
}
change_result unchanged(message_state now) {
  return now == message_state::dead ? change_result::finished : uncancelled(now);
}
change_result unreadied(message_state now) {
  return now == message_state::ready ? change_result::applied : unchanged(now);
}

/// In a transaction that keeps a snapshot, a message that was not found may be newer than the
/// snapshot.
std::vector<change_result> certain_of(const queue_state& queue, transaction_state* tx,
                                      std::span<const message_id> ids,
                                      std::vector<change_result> results) {
  std::vector<message_id> missing;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == change_result::not_found) missing.push_back(ids[i]);
  }
  check_unseen(queue, tx, missing, [&](connection& session, std::span<const std::size_t> unseen) {
    std::vector<message_id> asked;
    for (const std::size_t i : unseen) asked.push_back(missing[i]);
    return run(session, queue.names(), statements::claim_state_of, {}, asked).empty();
  });
  return results;
}

/// The statement that reads these columns; `all` reads all.
template <class Statement>
Statement by_detail(message_detail columns, const Statement& all) {
  if (columns < message_detail::all || columns > message_detail::seen)
    refuse("there is no such detail of a message");
  return {static_cast<statement>(static_cast<int>(all.id) + static_cast<int>(columns))};
}
static_assert(static_cast<int>(message_detail::outline) == 1 &&
              static_cast<int>(message_detail::seen) == 2);

std::vector<stored_message> list_bare(const queue_state& queue, message_state which,
                                      const page& page) {
  using namespace statements;
  const std::int64_t id = page.after ? page.after->id.value : before_all;
  const std::int64_t priority = page.after ? std::int64_t{page.after->priority} : above_all;
  const auto time = [&](auto member) {
    return page.after ? milliseconds_of((*page.after).*member) : before_all;
  };
  const bool over = which == message_state::done || which == message_state::dead;
  const list_request asked{
      .state = which,
      .max = page.max,
      .after_at = time(over ? &stored_message::finished_at : &stored_message::due_at),
      .after_priority = priority,
      .after_id = id};
  const auto read = [&](const auto& all) {
    return to_stored(queue.execute(nullptr, by_detail(page.with.detail, all), asked));
  };
  switch (which) {
    case message_state::ready:
      return read(claim_list_ready);
    case message_state::held:
      return read(claim_list_held);
    case message_state::leased:
    case message_state::delayed:
      return read(claim_list_waiting);
    case message_state::done:
    case message_state::dead:
      return read(claim_list);
  }
  refuse("there is no such state of a message");
}

}  // namespace

std::vector<stored_message> list(const queue_state& queue, message_state which, const page& page) {
  check_batch_size(page.max);
  return with_notes(queue, nullptr, page.with, list_bare(queue, which, page));
}

std::vector<std::optional<stored_message>> get(const queue_state& queue, transaction_state* tx,
                                               std::span<const message_id> ids,
                                               const look_options& with) {
  if (ids.empty()) return {};
  const auto& what = by_detail(with.detail, statements::claim_get);
  std::vector<stored_message> rows;
  std::set<message_id> known;  // an id may be given twice
  for (auto& row : queue.execute(tx, what, {}, ids)) {
    if (known.insert(row.id).second) rows.push_back(to_stored(std::move(row)));
  }
  std::map<message_id, stored_message> found;
  for (stored_message& one : with_notes(queue, tx, with, std::move(rows))) {
    found.emplace(one.id, std::move(one));
  }
  std::vector<std::optional<stored_message>> out;
  out.reserve(ids.size());
  for (const message_id id : ids) {
    const auto one = found.find(id);
    out.push_back(one == found.end() ? std::nullopt : std::optional(one->second));
  }
  return out;
}

std::vector<change_result> cancel(const queue_state& queue, transaction_state* tx,
                                  std::span<const message_id> ids, int states) {
  if (ids.empty()) return {};
  auto results = claim_step(
      queue, tx, ids, queue.info().batches, [&](transaction_state* step_tx, claim_effects& done) {
        const auto gone = queue.execute(step_tx, statements::claim_cancel, {.states = states}, ids);
        for (const auto& row : gone) done.removed.push_back(row.id);
        done.left = !gone.empty();
        return results_of(queue, step_tx, gone, ids, uncancelled);
      });
  return certain_of(queue, tx, ids, std::move(results));
}

std::vector<change_result> set_priority(const queue_state& queue, transaction_state* tx,
                                        std::span<const new_priority> changes) {
  if (changes.empty()) return {};
  std::vector<priority_item> items;
  std::vector<message_id> ids;
  std::map<message_id, std::size_t> places;  // the index of the first change for each id
  for (const new_priority& one : changes) {
    if (!places.try_emplace(one.id, ids.size()).second) continue;
    ids.push_back(one.id);
    items.push_back({.id = one.id, .priority = one.priority});
  }
  // The groups first, as in every other change: an advance of a group has its lock before the rows.
  const auto changed =
      claim_step(queue, tx, ids, false, [&](transaction_state* step_tx, claim_effects& /*done*/) {
        return queue.execute(step_tx, statements::claim_set_priority, {}, items);
      });
  const std::vector<change_result> results =
      certain_of(queue, tx, ids, results_of(queue, tx, changed, ids, unchanged));
  std::vector<change_result> out;
  out.reserve(changes.size());
  for (const new_priority& one : changes) out.push_back(results[places.at(one.id)]);
  return out;
}

std::vector<change_result> make_ready(const queue_state& queue, transaction_state* tx,
                                      std::span<const message_id> ids) {
  if (ids.empty()) return {};
  auto results =
      claim_step(queue, tx, ids, false, [&](transaction_state* step_tx, claim_effects& done) {
        const auto rested = queue.execute(step_tx, statements::claim_make_ready,
                                          {.regroup = regroup_of(queue)}, ids);
        for (const auto& row : rested)
          if (row.state == message_state::ready) done.returned.push_back(row.id);
        done.readable = done.returned.size();
        return results_of(queue, step_tx, rested, ids, unreadied);
      });
  return certain_of(queue, tx, ids, std::move(results));
}

std::size_t redrive(const queue_state& queue, std::span<const message_id> ids) {
  if (ids.empty()) return 0;
  return claim_step(queue, nullptr, ids, queue.info().batches,
                    [&](transaction_state* step_tx, claim_effects& done) {
                      const auto back = queue.execute(step_tx, statements::claim_redrive, {}, ids);
                      for (const auto& row : back) done.redriven.push_back(row.id);
                      done.readable = back.size();
                      done.readmitted = true;
                      return done.readable;
                    });
}

}  // namespace tableq::inline v0::core

namespace tableq::inline v0 {

using core::operation;
using core::operation_outside;
using core::queue_state;
using core::statement;
using core::transaction_state;

std::vector<stored_message> claim_queue::peek(std::size_t max) const {
  return operation_outside(*this, statement::claim_peek, [&](const queue_state& mine) {
    core::check_batch_size(max);
    return core::to_stored(mine.execute(nullptr, core::statements::claim_peek, {.max = max}));
  });
}
std::vector<stored_message> claim_queue::list(message_state state, const tableq::page& page) const {
  return operation_outside(*this, statement::claim_list, core::list, state, page);
}
std::optional<stored_message> claim_queue::get(message_id id, const look_options& with) const {
  return std::move(get_batch(std::span(&id, 1), with).front());
}
std::vector<std::optional<stored_message>> claim_queue::get_batch(const batch_view<message_id>& ids,
                                                                  const look_options& with) const {
  return operation(*this, statement::claim_get, core::get, ids.items(), with);
}
std::vector<waiting_group> claim_queue::groups(std::size_t max) const {
  return operation_outside(*this, statement::claim_groups, [&](const queue_state& mine) {
    constexpr std::size_t looked_at = 10'000;
    core::check_batch_size(max);
    const auto found =
        mine.execute(nullptr, core::statements::claim_groups, {.max = looked_at, .groups = max});
    return std::vector<waiting_group>(found.begin(), found.end());
  });
}
std::optional<stored_message> claim_queue::find(text_view key, const look_options& with) const {
  return operation(
      *this, statement::claim_find, [&](const queue_state& mine, transaction_state* tx) {
        core::check_key(key.view());
        auto found = core::with_notes(
            mine, tx, with,
            core::to_stored(mine.execute(tx, core::statements::claim_find, {.key = key.view()})));
        return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
      });
}
claim_stats claim_queue::stats(const stats_options& options) const {
  return operation_outside(*this, statement::claim_stats, [&](const queue_state& mine) {
    claim_stats out = core::leases_of(mine).stats(mine, options);
    if (mine.dead_letters() != nullptr) {
      const std::size_t most = core::count_limit(options);
      if (const auto found = core::letters_in(*mine.dead_letters(), mine.name(), most)) {
        out.dead_letters = found->letters;
        out.dead_letters_at_least = found->seen >= most;
      }
    }
    core::notify_observer(mine.database().watching(), [&](observer& sink) {
      sink.counted({.name = core::contract_of(statement::claim_stats).name,
                    .backend = mine.database().name(),
                    .queue = mine.name(),
                    .kind = mine.info().kind},
                   out);
    });
    return out;
  });
}

change_result claim_queue::cancel(message_id id) {
  return cancel_batch(std::span(&id, 1)).front();
}
std::vector<change_result> claim_queue::cancel_batch(const batch_view<message_id>& ids) {
  return operation(*this, statement::claim_cancel, core::cancel, ids.items(),
                   core::cancelled_states);
}
change_result claim_queue::set_priority(message_id id, std::int32_t priority) {
  const new_priority one{id, priority};
  return set_priority_batch(std::span(&one, 1)).front();
}
std::vector<change_result> claim_queue::set_priority_batch(
    const batch_view<new_priority>& changes) {
  return operation(*this, statement::claim_set_priority, core::set_priority, changes.items());
}
change_result claim_queue::make_ready(message_id id) {
  return make_ready_batch(std::span(&id, 1)).front();
}
std::vector<change_result> claim_queue::make_ready_batch(const batch_view<message_id>& ids) {
  return operation(*this, statement::claim_make_ready, core::make_ready, ids.items());
}
std::size_t claim_queue::redrive(const batch_view<message_id>& ids) {
  return operation_outside(*this, statement::claim_redrive, core::redrive, ids.items());
}
std::size_t claim_queue::purge(message_state state, const purge_options& options) {
  return operation_outside(*this, statement::claim_purge, [&](const queue_state& mine) {
    if (state != message_state::done && state != message_state::dead) {
      core::refuse("purge deletes messages that are done or dead; cancel removes those that wait");
    }
    core::check_delay(options.older_than, "older_than");
    core::check_batch_size(options.batch, 4000);
    std::size_t total = 0;
    for (;;) {
      const std::size_t gone = core::purge_some(mine, state, options.older_than, options.batch);
      total += gone;
      if (gone < options.batch) return total;
    }
  });
}

}  // namespace tableq::inline v0
