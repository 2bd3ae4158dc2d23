#include "core/batch/batch_hook.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/batch/ends.hpp"
#include "core/claim/messages.hpp"
#include "core/claim/operations.hpp"

namespace tableq::inline v0::core {
namespace {

[[noreturn]] void refuse_addition(const queue_state& desk, transaction_state& tx,
                                  const batch_id& batch) {
  const auto found =
      desk.execute(&tx, statements::batch_list, {.first = batch.value, .last = batch.value});
  tx.spoil();
  const std::string name = "the batch " + std::to_string(batch.value) + " ";
  if (found.empty()) refuse(name + "is not there: it ended long ago, or was never begun");
  if (found.front().finished_at) refuse(name + "has ended; begin another one");
  if (found.front().cancelled) refuse(name + "is cancelled and takes no messages");
  refuse(name + "is sealed: only handlers of its messages add to it, with batch_of");
}

/// How many messages go to each batch.
std::map<std::int64_t, std::pair<const batch_id*, std::int64_t>> counts_of(
    std::span<const batch_id* const> places) {
  std::map<std::int64_t, std::pair<const batch_id*, std::int64_t>> out;
  for (const batch_id* const each : places) {
    if (each == nullptr) continue;
    auto& [who, count] = out[each->value];
    // One that names a member may add to a sealed batch, too.
    if (who == nullptr || each->member) who = each;
    ++count;
  }
  return out;
}

template <class Rows>
void end_after(transaction_state& tx, const Rows& rows) {
  for (const auto& row : rows) {
    tx.after_commit(row.batch, [database = &tx.database(), batch = row.batch] {
      end_if_over(*database, batch);
    });
  }
}

}  // namespace

void add_to_batch(const queue_state& desk, transaction_state& tx, const batch_id& batch,
                  std::int64_t count) {
  const receipt member = batch.member.value_or(receipt());
  const auto locked = desk.execute(
      &tx, statements::batch_add,
      {.batch = batch.value, .count = count, .queue = member.queue, .member = member.id.value});
  if (locked.empty()) refuse_addition(desk, tx, batch);
}

void batch_hook::adding(const queue_state& queue, transaction_state& tx,
                        std::span<const batch_id* const> places) {
  for (const auto& [batch, wanted] : counts_of(places)) {
    add_to_batch(queue, tx, *wanted.first, wanted.second);
  }
}

void batch_hook::added(const queue_state& queue, transaction_state& tx,
                       std::span<const batch_id* const> places, std::span<const message_id> ids) {
  std::vector<member_item> items;
  std::vector<const batch_id*> not_added;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == nullptr) continue;
    if (ids[i].value == 0) {
      not_added.push_back(places[i]);
    } else {
      items.push_back({.id = ids[i], .batch = places[i]->value});
    }
  }
  queue.execute(&tx, statements::batch_join, {.queue = queue.info().identity}, items);
  for (const auto& [batch, less] : counts_of(not_added)) {
    add_to_batch(queue, tx, *less.first, -less.second);
  }
}

void batch_hook::settled(const queue_state& queue, transaction_state& tx,
                         const message_ends& ends) {
  const std::int64_t identity = queue.info().identity;
  const auto mark = [&](std::span<const message_id> ids, member_outcome before,
                        member_outcome outcome) {
    const auto changed =
        queue.execute(&tx, statements::batch_mark,
                      {.queue = identity, .before = before, .outcome = outcome}, ids);
    if (outcome != member_outcome::outstanding) end_after(tx, changed);
  };
  end_after(tx, leave_batches(queue, &tx, identity, ends.completed));
  mark(ends.dead, member_outcome::outstanding, member_outcome::dead);
  mark(ends.removed, member_outcome::outstanding, member_outcome::removed);
  mark(ends.redriven, member_outcome::dead, member_outcome::outstanding);
}

void batch_hook::returned(const queue_state& queue, transaction_state& tx,
                          std::span<const rejoin_item> messages) {
  queue.execute(&tx, statements::batch_rejoin, {.queue = queue.info().identity}, messages);
}

std::vector<std::size_t> batch_hook::stopped(const queue_state& queue,
                                             std::span<const receipt> running) {
  std::vector<message_id> items;
  items.reserve(running.size());
  for (const receipt& one : running) items.push_back(one.id);
  std::vector<std::size_t> out;
  try {
    for (const auto& row :
         queue.execute(nullptr, statements::batch_of, {.queue = queue.info().identity}, items)) {
      if (row.cancelled) out.push_back(row.item);
    }
  } catch (const error&) {  // The leases are extended all the same; the next time asks again.
  }
  return out;
}

batch_hook::clock::time_point batch_hook::attend(const queue_state& queue,
                                                 const queue_info& stored) noexcept {
  if (!stored.batches && !stored.batch_ends) return clock::time_point::max();
  batches_.pace.run(false, [&](clock::time_point) {
    batches_.after = look_at_batches(batches_.after);
    return paced_work::usual_pause;
  });
  if (stored.batches) {
    look& members = members_of(queue);
    members.pace.run(false, [&](clock::time_point) {
      members.after = look_at_members(queue, members.after);
      return paced_work::usual_pause;
    });
  }
  return clock::now() +
         std::max<clock::duration>(paced_work::usual_pause, database_.options().poll_interval);
}

batch_hook::look& batch_hook::members_of(const queue_state& queue) {
  const std::scoped_lock hold(mutex_);
  return members_[queue.info().identity];  // elements of a map stay where they are
}

std::int64_t batch_hook::look_at_batches(std::int64_t after) {
  constexpr std::size_t most = 1000;
  constexpr std::chrono::seconds longest{1};  // each may wait briefly for a locked queue
  const auto until = clock::now() + longest;
  const auto found = open_batches(database_, {.first = after, .max = most});
  for (const batch_open_row& each : found) {
    if (each.lost) {
      desk_of(database_).execute(nullptr, statements::batch_mark_all,
                                 {.queue = *each.lost, .outcome = member_outcome::gone});
      end_if_over(database_, each.batch);
    } else if (!each.outstanding) {
      end_if_over(database_, each.batch);
    }
    if (clock::now() >= until) return each.batch + 1;
  }
  if (found.size() < most) return 0;
  return std::ranges::max(found, {}, &batch_open_row::batch).batch + 1;
}

std::int64_t batch_hook::look_at_members(const queue_state& queue, std::int64_t after) {
  constexpr std::size_t most = 500;
  const auto found =
      queue.execute(nullptr, statements::batch_strays, {.after_message = after, .max = most});
  if (found.empty()) return 0;
  std::vector<message_id> strays;
  std::vector<message_id> waiting;
  for (const stray_row& each : found) {
    const bool waits =
        each.state && each.state != message_state::done && each.state != message_state::dead;
    const bool removed = each.cancelled && each.state != message_state::leased;
    if (!waits || removed) (waits ? waiting : strays).push_back(message_id{each.message});
  }
  // Of messages that others are settling just now the first look may not be the truth.
  std::map<message_state, std::vector<message_id>> over;
  std::set<message_id> missing(strays.begin(), strays.end());
  for (const auto& row : queue.execute(nullptr, statements::claim_state_of, {}, strays)) {
    over[row.state].push_back(row.id);
    missing.erase(row.id);
  }
  const std::int64_t identity = queue.info().identity;
  std::set<std::int64_t> changed;
  const auto mark = [&](const std::vector<message_id>& items, member_outcome outcome) {
    for (const auto& row : queue.execute(nullptr, statements::batch_mark,
                                         {.queue = identity, .outcome = outcome}, items)) {
      changed.insert(row.batch);
    }
  };
  mark({missing.begin(), missing.end()}, member_outcome::gone);
  mark(over[message_state::dead], member_outcome::dead);
  for (const batch_row& row : leave_batches(queue, nullptr, identity, over[message_state::done])) {
    changed.insert(row.batch);
  }
  static_cast<void>(cancel(queue, nullptr, waiting));
  for (const std::int64_t batch : changed) end_if_over(database_, batch);
  return std::ranges::max(found, {}, &stray_row::message).message;
}

}  // namespace tableq::inline v0::core
