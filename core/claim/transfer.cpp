#include "core/claim/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/groups.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/step.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Borrows the message's other texts.
restore_item item_of(const queue_state& queue, const removed_row& from) {
  // JSON as this database takes it.
  const auto text_of = [&](const std::optional<std::string>& json) {
    return json && queue.database().narrow_texts() ? in_ascii(*json) : json;
  };
  restore_item out{.payload = from.payload,
                   .state = from.state,
                   .priority = from.priority,
                   .attempts = from.attempts,
                   .created_at = from.created_at,
                   .finished_at = from.finished_at,
                   .expires_at = from.expires_at,
                   .max_attempts = from.max_attempts,
                   .retry = from.retry,
                   .headers = text_of(from.headers),
                   .errors = text_of(from.errors)};
  if (from.group_key) out.group = *from.group_key;
  const bool grouped = queue.info().groups && out.group;
  if (grouped && from.state == message_state::ready) out.state = message_state::held;
  if (from.state == message_state::delayed) out.due_at = from.due_at;
  if (from.key) (from.holds_key && is_key(*from.key) ? out.key : out.past_key) = *from.key;
  return out;
}

/// @return the groups of those that were ready.
group_set remove(const queue_state& queue, transaction_state& tx, std::span<const message_id> ids,
                 int states, std::vector<removed_row>& into) {
  group_set out;
  for (auto& row : queue.execute(&tx, statements::claim_remove, {.states = states}, ids)) {
    if (queue.info().groups && row.group_key && row.state == message_state::ready)
      out.insert(*row.group_key);
    into.push_back(std::move(row));
  }
  return out;
}

}  // namespace

std::vector<removed_row> extract(const queue_state& queue, transaction_state& tx,
                                 std::span<const message_id> ids, int states, std::size_t most,
                                 const may_leave& followers) {
  if (ids.empty()) return {};
  return claim_step(queue, &tx, ids, true, [&](transaction_state* step_tx, claim_effects& done) {
    std::vector<removed_row> out;
    group_set open = remove(queue, *step_tx, ids, states, out);
    while (!open.empty() && out.size() < most) {
      const std::size_t left = most - out.size();
      while (open.size() > left) open.erase(std::prev(open.end()));
      const std::vector<message_id> waiting =
          open_groups(queue, *step_tx, open, left / open.size());
      if (waiting.empty()) break;
      const std::vector<message_id> leaving = followers(waiting);
      std::vector<message_id> staying;
      std::ranges::set_difference(waiting, leaving, std::back_inserter(staying));
      open = remove(queue, *step_tx, leaving, bit_of(message_state::ready), out);
      if (staying.empty()) continue;
      queue.execute(step_tx, statements::claim_hold, {}, staying);
      break;
    }
    done.left = !out.empty();
    std::ranges::sort(out, {}, &removed_row::id);
    return out;
  });
}

void restore(const queue_state& queue, transaction_state& tx, std::span<const removed_row> messages,
             bool readmitted) {
  if (messages.empty()) return;
  std::optional<room> place;
  if (!readmitted) place.emplace(queue, &tx, messages.size());
  std::vector<restore_item> items;
  items.reserve(messages.size());
  group_set groups;
  for (const removed_row& each : messages) {
    items.push_back(item_of(queue, each));
    if (queue.info().groups && each.group_key) groups.insert(*each.group_key);
  }
  const auto count = [&](message_state state) {
    return static_cast<std::size_t>(std::ranges::count(items, state, &restore_item::state));
  };
  claim_step(queue, &tx, {}, true, [&](transaction_state* step_tx, claim_effects& done) {
    lock_groups(queue, *step_tx, groups);
    const auto added = queue.execute(step_tx, statements::claim_restore, {}, items);
    if (added.size() < messages.size()) {
      static_cast<void>(ask_row(queue, step_tx));
      step_tx->spoil();
      throw error(errc::conflict, advice::transaction,
                  "another message of the queue " + queue.name() + " has taken the key meanwhile");
    }
    done.readable = count(message_state::ready);
    done.readmitted = readmitted;
    done.groups = groups;
    return added.size();
  });
  if (place) place->used(messages.size());
  if (count(message_state::delayed) > 0) {
    // The database's clock tells when.
    queue.shared().watched.due.expect(std::chrono::steady_clock::now(),
                                      std::chrono::milliseconds{0});
  }
}

}  // namespace tableq::inline v0::core
