#include "core/claim/messages.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "core/base/errors.hpp"
#include "core/claim/dead_letters.hpp"
#include "core/claim/items.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/own_leases.hpp"
#include "core/claim/step.hpp"
#include "core/claim/unseen.hpp"
#include "core/input/codec.hpp"
#include "core/input/utf8.hpp"
#include "core/input/validate.hpp"
#include "core/observe/observation.hpp"
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

/// Finds the results of the items that a statement skipped.
/// @param done the rows of the items that it changed.
template <class Rows>
std::vector<change_result> results_of(const queue_state& queue, transaction_state* tx,
                                      const Rows& done, std::span<const message_id> ids,
                                      bool dead_is_finished) {
  std::vector<change_result> out(ids.size(), change_result::not_found);
  for (const auto& row : done) out[row.item] = change_result::applied;
  std::vector<id_item> others;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (out[i] != change_result::applied) others.push_back({ids[i]});
  }
  if (others.empty()) return out;
  std::map<message_id, message_state> states;
  for (const auto& row : queue.execute(tx, statements::claim_state_of, {}, others)) {
    states[row.id] = row.state;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = states.find(ids[i]);
    if (out[i] == change_result::applied || found == states.end()) continue;
    const bool over = found->second == message_state::done ||
                      (dead_is_finished && found->second == message_state::dead);
    // A message that is ready now was running when it was skipped.
    out[i] = over ? change_result::finished : change_result::running;
  }
  return out;
}

/// In a transaction that keeps a snapshot, a message that was not found may be newer than the
/// snapshot.
/// @param id_at the id of a result.
template <class IdAt>
std::vector<change_result> certain_of(const queue_state& queue, transaction_state* tx,
                                      std::vector<change_result> results, IdAt id_at) {
  std::vector<message_id> missing;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == change_result::not_found) missing.push_back(id_at(i));
  }
  check_unseen(queue, tx, missing, [&](connection& session, std::span<const std::size_t> unseen) {
    std::vector<id_item> asked;
    for (const std::size_t i : unseen) asked.push_back({missing[i]});
    return run(session, queue.names(), statements::claim_state_of, {}, asked).empty();
  });
  return results;
}

}  // namespace

std::vector<stored_message> list(const queue_state& queue, message_state which, const page& page) {
  check_batch_size(page.max);
  using namespace statements;
  const std::int64_t id = page.after ? page.after->id.value : before_all;
  const std::int64_t priority = page.after ? std::int64_t{page.after->priority} : above_all;
  const auto time = [&](auto member) {
    return page.after ? milliseconds_of((*page.after).*member) : before_all;
  };
  switch (which) {
    case message_state::ready:
    case message_state::held: {
      const auto& what = which == message_state::ready ? claim_list_ready : claim_list_held;
      return to_stored(queue.execute(nullptr, what,
                                     {.max = page.max,
                                      .after_priority = priority,
                                      .after_at = time(&stored_message::due_at),
                                      .after_id = id}));
    }
    case message_state::leased:
    case message_state::delayed:
      return to_stored(queue.execute(nullptr, claim_list_waiting,
                                     {.state = which,
                                      .max = page.max,
                                      .after_at = time(&stored_message::due_at),
                                      .after_priority = priority,
                                      .after_id = id}));
    case message_state::done:
    case message_state::dead:
      return to_stored(queue.execute(nullptr, claim_list,
                                     {.state = which,
                                      .max = page.max,
                                      .after_at = time(&stored_message::finished_at),
                                      .after_id = id}));
  }
  throw error(errc::invalid_argument, advice::never, "there is no such state of a message",
              {.backend = queue.database().name()});
}

std::vector<std::optional<stored_message>> get(const queue_state& queue, transaction_state* tx,
                                               std::span<const message_id> ids) {
  if (ids.empty()) return {};
  std::map<message_id, stored_message> found;
  for (auto& row : queue.execute(tx, statements::claim_get, {}, items_of(ids))) {
    const message_id id = row.id;
    found.emplace(id, to_stored(std::move(row)));
  }
  std::vector<std::optional<stored_message>> out;
  out.reserve(ids.size());
  for (const message_id id : ids) {
    const auto one = found.find(id);
    out.push_back(one == found.end() ? std::nullopt : std::optional(one->second));
  }
  return out;
}

std::optional<stored_message> find(const queue_state& queue, transaction_state* tx,
                                   std::string_view key) {
  check_key(key);
  auto found = to_stored(
      queue.execute(tx, statements::claim_find, {.key = key, .now = queue.database().now()}));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<change_result> cancel(const queue_state& queue, transaction_state* tx,
                                  std::span<const message_id> ids) {
  if (ids.empty()) return {};
  auto results =
      claim_step(queue, tx, ids, false, [&](transaction_state* step_tx, claim_effects& done) {
        const auto gone = queue.execute(step_tx, statements::claim_cancel, {}, items_of(ids));
        done.left = !gone.empty();
        return results_of(queue, step_tx, gone, ids, false);
      });
  return certain_of(queue, tx, std::move(results), [&](std::size_t i) { return ids[i]; });
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
  const auto changed = queue.execute(tx, statements::claim_set_priority, {}, items);
  const std::vector<change_result> results = certain_of(
      queue, tx, results_of(queue, tx, changed, ids, true), [&](std::size_t i) { return ids[i]; });
  std::vector<change_result> out;
  out.reserve(changes.size());
  for (const new_priority& one : changes) out.push_back(results[places.at(one.id)]);
  return out;
}

std::vector<stored_message> peek_claims(const queue_state& queue, std::size_t max) {
  check_batch_size(max);
  return to_stored(
      queue.execute(nullptr, statements::claim_peek, {.max = max, .now = queue.database().now()}));
}

std::size_t purge_claims(const queue_state& queue, message_state state,
                         const purge_options& options) {
  if (state != message_state::done && state != message_state::dead) {
    refuse("purge deletes messages that are done or dead; cancel removes those that wait");
  }
  check_delay(options.older_than, "older_than");
  check_batch_size(options.batch, 4000);
  std::size_t total = 0;
  for (;;) {
    const std::size_t gone = queue
                                 .execute(nullptr, statements::claim_purge,
                                          {.state = state,
                                           .older_than = options.older_than,
                                           .max = options.batch,
                                           .now = queue.database().now()})
                                 .size();
    total += gone;
    if (gone < options.batch) return total;
  }
}

claim_stats stats(const queue_state& queue, const stats_options& options) {
  claim_stats out = leases_of(queue).stats(queue, options);
  if (queue.dead_letters() != nullptr) {
    const std::size_t most = count_limit(options);
    if (const auto found = letters_in(*queue.dead_letters(), queue.name(), most)) {
      out.dead_letters = found->letters;
      out.dead_letters_at_least = found->seen >= most;
    }
  }
  notify_observer(queue.database().watching(), [&](observer& sink) {
    sink.counted({.name = contract_of(statement::claim_stats).name,
                  .backend = queue.database().name(),
                  .queue = queue.name(),
                  .kind = queue.info().kind},
                 out);
  });
  return out;
}

}  // namespace tableq::inline v0::core
