#include "core/batch/ends.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/operations.hpp"
#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/codec.hpp"
#include "core/input/identifier.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/run.hpp"
#include "core/session/retry.hpp"

namespace tableq::inline v0::core {
namespace {

/// The caller's transactions may hold all sessions, and a later look does the same.
constexpr std::chrono::milliseconds shortest_patience{100};
constexpr std::chrono::days kept_for{30};
constexpr std::size_t most_forgotten = 10;

void send(const queue_state& target, transaction_state& tx, const batch_end_row& end,
          std::int64_t batch, const batch_counts_row& counts) {
  const std::string payload = end.payload.value_or(byte_string());
  headers all = to_headers(end.headers).value_or(headers());
  tell_batch(all, batch, counts, end.cancelled);
  const claim_enqueue_options options{
      .priority = end.priority, .headers = std::move(all), .key = end.key, .group = end.group_key};
  const claim_message one{payload, &options};
  add_to_any(target, tx, std::span(&one, 1));
}

/// In the transaction of the end. @return the batches to which it belonged; empty: it has not
/// ended.
std::optional<std::vector<std::int64_t>> end_within(const queue_state& desk, transaction_state& tx,
                                                    std::int64_t batch, const queue_state* target) {
  const auto ends = desk.execute(&tx, statements::batch_lock, {.batch = batch});
  if (ends.empty()) return {};
  const auto counts = desk.execute(&tx, statements::batch_finish, {.batch = batch});
  if (counts.empty()) return {};
  desk.execute(&tx, statements::batch_clear, {.batch = batch});
  const message_id me{batch};
  std::vector<std::int64_t> parents;
  for (const batch_row& row : leave_batches(desk, &tx, 0, std::span(&me, 1)))
    parents.push_back(row.batch);
  if (target != nullptr) send(*target, tx, ends.front(), batch, counts.front());
  return parents;
}

}  // namespace

void tell_batch(headers& to, std::int64_t batch, const batch_counts_row& counts, bool cancelled) {
  const auto add = [&](std::string name, std::size_t number) {
    to.insert_or_assign(std::move(name), std::to_string(number));
  };
  add("tableq-batch", static_cast<std::size_t>(batch));
  add("tableq-batch-total", counts.total);
  add("tableq-batch-completed", counts.completed);
  add("tableq-batch-dead", counts.dead);
  add("tableq-batch-removed", counts.removed);
  add("tableq-batch-gone", counts.gone);
  if (cancelled) add("tableq-batch-cancelled", 1);
}

std::vector<batch_row> leave_batches(const queue_state& queue, transaction_state* tx,
                                     std::int64_t identity, std::span<const message_id> ids) {
  if (!queue.database().capabilities().one_writer) {
    const auto rows = queue.execute(tx, statements::batch_leave, {.queue = identity}, ids);
    return {rows.begin(), rows.end()};
  }
  std::vector<batch_row> out;
  for (const auto& row : queue.execute(tx, statements::batch_of, {.queue = identity}, ids)) {
    if (std::ranges::find(out, row.batch, &batch_row::batch) == out.end())
      out.push_back({.batch = row.batch});
  }
  if (!out.empty()) queue.execute(tx, statements::batch_remove, {.queue = identity}, ids);
  return out;
}

std::vector<batch_open_row> open_batches(database_state& database,
                                         const batch_list_request& which) {
  const leased_session session = database.sessions().lease(shortest_patience);
  return run(*session, names_for(database.options(), {}), statements::batch_open, which);
}

std::vector<std::int64_t> end_batch(database_state& database, const batch_open_row& over) {
  const queue_state desk = desk_of(database);
  const leased_session session = database.sessions().lease(shortest_patience);
  std::unique_ptr<const queue_state> target;
  if (over.ends_in) {
    auto found = find_queue(database, *session, *over.ends_in);
    if (!found || found->kind == kind::table) return {};
    target = std::make_unique<const queue_state>(database.shared_from_this(), *std::move(found));
  }
  transaction_state part(database.shared_from_this(), *session);
  std::optional<std::vector<std::int64_t>> parents;
  {
    unit_of_work unit(*session);
    parents = end_within(desk, part, over.batch, target.get());
    if (!parents) return {};
    unit.commit();
  }
  part.end_part();
  part.committed_by_owner();
  try {
    run(*session, desk.names(), statements::batch_forget,
        {.older_than = kept_for, .max = most_forgotten});
  } catch (const error&) {  // The next end does it.
  }
  return *std::move(parents);
}

void end_if_over(database_state& database, std::int64_t batch) noexcept {
  // Not beside a transaction of the thread, whose locks it could meet.
  if (open_transaction::on_this_thread() > 0) return;
  try {
    const unrepeated once;
    std::vector<std::int64_t> all{batch};
    while (!all.empty()) {
      const std::int64_t next = all.back();
      all.pop_back();
      const auto open = open_batches(database, {.first = next, .last = next});
      if (open.empty() || open.front().outstanding) continue;
      for (const std::int64_t parent : end_batch(database, open.front())) all.push_back(parent);
    }
  } catch (const std::exception&) {  // noexcept: the settlement is committed. The next look ends
                                     // the batch, and doctor tells of one that cannot end.
  }
}

std::vector<finding> inspect_batches(database_state& database) {
  constexpr std::size_t most = 1000;
  std::map<std::string, std::size_t> waiting;
  for (const batch_open_row& each : open_batches(database, {.max = most})) {
    if (!each.outstanding) ++waiting[each.ends_in.value_or(std::string())];
  }
  std::vector<finding> out;
  for (const auto& [queue, count] : waiting) {
    const std::string what = std::to_string(count) + (count == 1 ? " batch is" : " batches are") +
                             " over and cannot end: ";
    if (queue.empty()) {
      out.push_back({finding::level::warning, "database",
                     what + "no process with the right to end them reads a queue of theirs",
                     "run a consumer of the queue of their messages with the rights of `tableq ddl "
                     "--grant consumer`"});
    } else if (const auto found = find_queue(database, queue); !found) {
      out.push_back({finding::level::warning, queue, what + "there is no queue " + queue,
                     "make it: tableq create KIND " + queue});
    } else {
      out.push_back(
          {finding::level::warning, queue,
           what + "no process could add their messages to the queue " + queue,
           "make room if it is full (tableq stats " + queue +
               "), and let the consumers of the batches' messages be its producers, too"});
    }
  }
  return out;
}

}  // namespace tableq::inline v0::core
