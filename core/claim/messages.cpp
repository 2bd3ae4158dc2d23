#include "core/claim/messages.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "core/claim/groups.hpp"
#include "core/claim/operations.hpp"
#include "core/input/validate.hpp"
#include "core/queue/limit_gates.hpp"

namespace tableq::core {
namespace {

/// Ahead of all: no priority is so high.
constexpr std::int64_t above_all = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;

std::int64_t milliseconds_of(const std::optional<timestamp>& at) {
  return at.value_or(timestamp()).time_since_epoch().count();
}

/// What stands in the rows of a batch, by ids.
std::map<std::int64_t, stored_message> by_id(row_set rows) {
  row_set plain(rows.width() - 1);  // without the item's number
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 1; k < rows.width(); ++k) plain.add(rows.take(i, k));
  }
  std::map<std::int64_t, stored_message> out;
  for (stored_message& one : to_stored(std::move(plain))) out.emplace(one.id.value, std::move(one));
  return out;
}

/// Says why the items that a statement passed over were passed over.
std::vector<altered> results_of(const queue_state& of, transaction* tx, const row_set& done,
                                std::span<const message_id> ids, bool dead_is_finished) {
  std::vector<altered> out(ids.size(), altered::not_found);
  for (std::size_t i = 0; i < done.size(); ++i) {
    out[static_cast<std::size_t>(done.integer(i, 0))] = altered::done;
  }
  std::vector<value> others;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (out[i] != altered::done) others.emplace_back(ids[i].value);
  }
  if (others.empty()) return out;
  const row_set rows = of.execute_batch(tx, statement::claim_state_of, {}, others);
  std::map<std::int64_t, message_state> states;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    states[rows.integer(i, 1)] = static_cast<message_state>(rows.integer(i, 2));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = states.find(ids[i].value);
    if (out[i] == altered::done || found == states.end()) continue;
    const bool over = found->second == message_state::done ||
                      (dead_is_finished && found->second == message_state::dead);
    // What has become ready since it was passed over was running then.
    out[i] = over ? altered::finished : altered::running;
  }
  return out;
}

}  // namespace

std::vector<stored_message> list(const queue_state& of, message_state which, const page& page) {
  check_batch_size(page.max);
  const value state(static_cast<std::int64_t>(which));
  const value max = to_value(page.max);
  const value id(page.after ? page.after->id.value : 0);
  const value priority(page.after ? std::int64_t{page.after->priority} : above_all);
  const auto time = [&](const auto& at) { return value(page.after ? milliseconds_of(at) : -1); };
  switch (which) {
    case message_state::ready:
    case message_state::held: {
      const std::array shared{max, priority, id};
      const bool ready = which == message_state::ready;
      return to_stored(of.execute(
          nullptr, ready ? statement::claim_list_ready : statement::claim_list_held, shared));
    }
    case message_state::leased:
    case message_state::delayed: {
      const std::array shared{state, max, time(page.after ? page.after->due_at : std::nullopt),
                              priority, id};
      return to_stored(of.execute(nullptr, statement::claim_list_waiting, shared));
    }
    case message_state::done:
    case message_state::dead: {
      const std::array shared{state, max, time(page.after ? page.after->finished_at : std::nullopt),
                              id};
      return to_stored(of.execute(nullptr, statement::claim_list, shared));
    }
  }
  throw error(errc::invalid_argument, advice::never, "there is no such state of a message",
              {.backend = of.database().name()});
}

std::vector<std::optional<stored_message>> get(const queue_state& of, transaction* tx,
                                               std::span<const message_id> ids) {
  if (ids.empty()) return {};
  std::vector<value> items;
  items.reserve(ids.size());
  for (const message_id id : ids) items.emplace_back(id.value);
  const auto found = by_id(of.execute_batch(tx, statement::claim_get, {}, items));
  std::vector<std::optional<stored_message>> out;
  out.reserve(ids.size());
  for (const message_id id : ids) {
    const auto one = found.find(id.value);
    out.push_back(one == found.end() ? std::nullopt : std::optional(one->second));
  }
  return out;
}

std::optional<stored_message> find(const queue_state& of, transaction* tx, std::string_view key) {
  check_key(key);
  const std::array shared{value(key), of.database().now()};
  auto found = to_stored(of.execute(tx, statement::claim_find, shared));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<altered> cancel(const queue_state& of, transaction* tx,
                            std::span<const message_id> ids) {
  if (ids.empty()) return {};
  std::vector<value> items;
  items.reserve(ids.size());
  for (const message_id id : ids) items.emplace_back(id.value);
  return advancing(of, tx, ids, [&](transaction* in) {
    const row_set gone = of.execute_batch(in, statement::claim_cancel, {}, items);
    if (!gone.empty()) made_room(of, in);
    return results_of(of, in, gone, ids, false);
  });
}

std::vector<altered> set_priority(const queue_state& of, transaction* tx,
                                  std::span<const new_priority> changes) {
  if (changes.empty()) return {};
  std::vector<value> items;
  std::vector<message_id> ids;
  std::map<message_id, std::size_t> places;  // of the first change for each
  for (const new_priority& one : changes) {
    if (!places.try_emplace(one.id, ids.size()).second) continue;
    ids.push_back(one.id);
    items.emplace_back(one.id.value);
    items.emplace_back(std::int64_t{one.priority});
  }
  const row_set changed = of.execute_batch(tx, statement::claim_set_priority, {}, items);
  const std::vector<altered> results = results_of(of, tx, changed, ids, true);
  std::vector<altered> out;
  out.reserve(changes.size());
  for (const new_priority& one : changes) out.push_back(results[places.at(one.id)]);
  return out;
}

claim_stats stats(const queue_state& of, const stats_options& options) {
  const std::array shared{count_limit(options), of.database().now()};
  const row_set rows = of.execute(nullptr, statement::claim_stats, shared);
  const auto count = [&](std::size_t i) { return static_cast<std::size_t>(rows.integer(0, i)); };
  return {.ready = count(0),
          .due = count(1),
          .delayed = count(2),
          .leased = count(3),
          .held = count(4),
          .done = count(5),
          .dead = count(6),
          .oldest = to_timestamp(rows.maybe_integer(0, 7)),
          .counted_to = options.exact ? 0 : options.count_to,
          .last_id = to_id(rows.maybe_integer(0, 8)),
          .as_of = to_timestamp(rows.integer(0, 9))};
}

}  // namespace tableq::core
