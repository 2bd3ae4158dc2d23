#include "core/claim/operations.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/lease_table.hpp"
#include "core/claim/step.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {

void check_receipt(const queue_state& queue, const receipt& r) {
  if (r.queue == queue.info().identity) return;
  throw error(errc::invalid_argument, advice::never,
              "the receipt is not of the queue " + queue.name() +
                  ": another queue issued it, or an earlier one of that name that was dropped",
              {.backend = queue.database().name()});
}

namespace {

void check_receipts(const queue_state& queue, const receipts_view& receipts) {
  for (std::size_t i = 0; i < receipts.size(); ++i) check_receipt(queue, receipts[i]);
}

std::vector<message_id> ids_of(const receipts_view& receipts) {
  std::vector<message_id> out;
  out.reserve(receipts.size());
  for (std::size_t i = 0; i < receipts.size(); ++i) out.push_back(receipts[i].id);
  return out;
}

std::vector<settle_result> results_of(const std::vector<changed_message>& applied,
                                      std::size_t items) {
  std::vector<settle_result> out(items, settle_result::lease_lost);
  for (const changed_message& each : applied) out[each.item] = settle_result::applied;
  return out;
}

/// Receipts, each once, and the place of each given one among them.
struct distinct_receipts {
  std::vector<receipt> receipts = {};
  std::vector<std::size_t> places = {};
};

distinct_receipts distinct(const receipts_view& given) {
  distinct_receipts out;
  std::map<receipt, std::size_t> known;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto [at, added] = known.try_emplace(given[i], out.receipts.size());
    if (added) out.receipts.push_back(given[i]);
    out.places.push_back(at->second);
  }
  return out;
}

/// In a transaction that keeps a snapshot, a lease that was not found may be newer than the
/// snapshot.
std::vector<settle_result> certain(const queue_state& queue, transaction_state* tx,
                                   const receipts_view& receipts,
                                   std::vector<settle_result> results) {
  if (tx == nullptr || queue.mapped() != nullptr) return results;
  std::vector<receipt_item> lost;
  std::vector<message_id> ids;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == settle_result::applied) continue;
    lost.push_back({.id = receipts[i].id, .fence = receipts[i].fence});
    ids.push_back(receipts[i].id);
  }
  check_unseen(queue, tx, ids, [&](connection& session, std::span<const std::size_t> unseen) {
    std::vector<receipt_item> asked;
    for (const std::size_t i : unseen) asked.push_back(lost[i]);
    return run(session, queue.names(), statements::claim_lost, {}, asked).size() == asked.size();
  });
  return results;
}

/// The results of a settlement that the followers of the database object are told.
template <class Settle>
std::vector<settle_result> told(const queue_state& queue, const receipts_view& receipts,
                                Settle settle) {
  settlements::running now(queue.database().settled(), receipts);
  std::vector<settle_result> results = settle();
  now.done();
  queue.shared().notes.forget(receipts);
  return results;
}

/// Completes messages of groups. @return empty: they have none, or it is not possible at once;
/// nothing was done.
std::optional<std::vector<settle_result>> complete_in_groups(const queue_state& queue,
                                                             const receipts_view& receipts,
                                                             std::span<const message_id> ids) {
  const group_set groups = groups_of(queue, nullptr, ids);
  if (groups.empty()) return std::nullopt;
  std::vector<receipt_item> items;
  items.reserve(receipts.size());
  for (std::size_t i = 0; i < receipts.size(); ++i)
    items.push_back({.id = receipts[i].id, .fence = receipts[i].fence});
  auto done = in_locked_groups(queue, groups, call_of(statements::claim_complete, {}, items));
  if (!done) return std::nullopt;
  std::vector<settle_result> out(receipts.size(), settle_result::lease_lost);
  const bool left = done->rows.size() > 0;
  for (auto& row : rows_of<id_row, receipt_item>(std::move(done->rows)))
    out[row.item] = settle_result::applied;
  apply(queue, nullptr, {.readable = done->readable, .left = left});
  return out;
}

/// Ends attempts, with the consequences.
std::vector<settle_result> end_attempts(const queue_state& queue, transaction_state* tx,
                                        std::span<const ended_attempt> attempts) {
  if (attempts.empty()) return {};
  std::vector<receipt> receipts;
  receipts.reserve(attempts.size());
  for (const ended_attempt& one : attempts) receipts.push_back(one.receipt);
  const auto work = [&](transaction_state* step_tx, claim_effects& done) {
    const auto ended = leases_of(queue).fail(queue, step_tx, attempts);
    for (const changed_message& each : ended) {
      if (each.state == message_state::dead) done.dead.push_back(each.id);
      if (each.state == message_state::ready) done.returned.push_back(each.id);
    }
    done.readable = ended.size() - done.dead.size();
    done.left = !ended.empty();
    return results_of(ended, attempts.size());
  };
  store_notes(queue, tx, receipts);  // a retry keeps them
  return told(queue, receipts, [&] {
    return certain(queue, tx, receipts,
                   claim_step(queue, tx, ids_of(receipts), has_consequences(queue), work));
  });
}

}  // namespace

std::vector<settle_result> complete(const queue_state& queue, transaction_state* tx,
                                    const receipts_view& receipts, given_results results) {
  check_receipts(queue, receipts);
  for (const auto& each : results) {
    if (!each) continue;
    if (const auto refused = refused_result(queue, each->size())) throw error(*refused);
  }
  if (receipts.empty()) return {};
  const queue_info& rules = queue.info();
  const bool several = rules.batches || (!rules.keep_completed && rules.key_window.count() != 0);
  const auto work = [&](transaction_state* step_tx, claim_effects& done) {
    const auto completed = leases_of(queue).complete(queue, step_tx, receipts, results);
    for (const changed_message& each : completed) done.completed.push_back(each.id);
    done.left = !completed.empty();
    return results_of(completed, receipts.size());
  };
  return told(queue, receipts, [&] {
    const std::vector<message_id> ids = ids_of(receipts);
    if (tx == nullptr && rules.groups && !rules.keep_completed && !several) {
      if (auto settled = complete_in_groups(queue, receipts, ids)) return *std::move(settled);
    }
    return certain(queue, tx, receipts, claim_step(queue, tx, ids, several, work));
  });
}

std::vector<settle_result> fail(const queue_state& queue, transaction_state* tx,
                                std::span<const failed_attempt> failures) {
  std::deque<std::string> texts;  // a deque never moves its elements
  std::vector<ended_attempt> attempts;
  attempts.reserve(failures.size());
  for (const failed_attempt& one : failures) {
    check_receipt(queue, one.receipt);
    if (one.options.delay) check_delay(*one.options.delay);
    attempts.push_back(
        {.receipt = one.receipt,
         .error = texts.emplace_back(encode_error(one.error, queue.database().narrow_texts())),
         .delay = one.options.delay,
         .how = one.options.give_up ? ended_attempt::kind::given_up : ended_attempt::kind::failed});
  }
  return end_attempts(queue, tx, attempts);
}

void make_dead(const queue_state& queue, transaction_state* tx,
               std::span<const unfit_message> messages) {
  std::vector<ended_attempt> attempts;
  for (const unfit_message& one : messages) {
    attempts.push_back(
        {.receipt = one.receipt,
         .error = one.why,
         .how = one.attempt_counts ? ended_attempt::kind::given_up : ended_attempt::kind::untried});
  }
  end_attempts(queue, tx, attempts);
}

std::vector<settle_result> release(const queue_state& queue, transaction_state* tx,
                                   const receipts_view& receipts) {
  check_receipts(queue, receipts);
  if (receipts.empty()) return {};
  store_notes(queue, tx, receipts);  // a retry keeps them
  const auto work = [&](transaction_state* step_tx, claim_effects& done) {
    const auto released = leases_of(queue).release(queue, step_tx, receipts);
    for (const changed_message& each : released) done.returned.push_back(each.id);
    done.readable = released.size();
    done.left = !released.empty();
    return results_of(released, receipts.size());
  };
  return told(queue, receipts, [&] {
    // A message that is ready again keeps its place in its group, but needs another start.
    if (queue.info().group_rates) {
      return certain(queue, tx, receipts,
                     claim_step(queue, tx, ids_of(receipts), has_consequences(queue), work));
    }
    claim_effects done;
    auto results = work(tx, done);
    apply(queue, tx, done);
    return certain(queue, tx, receipts, std::move(results));
  });
}

std::vector<settle_result> extend(const queue_state& queue, transaction_state* tx,
                                  const receipts_view& receipts, std::chrono::milliseconds lease) {
  check_lease(lease);
  check_receipts(queue, receipts);
  if (receipts.empty()) return {};
  const auto [items, places] = distinct(receipts);
  const auto extended = leases_of(queue).extend(queue, tx, items, lease);
  store_notes(queue, tx, items);
  const auto results = certain(queue, tx, items, results_of(extended, items.size()));
  std::vector<settle_result> out;
  out.reserve(places.size());
  for (const std::size_t place : places) out.push_back(results[place]);
  return out;
}

std::vector<pulse> heartbeat(const queue_state& queue, std::span<const receipt> receipts,
                             std::chrono::milliseconds lease) {
  check_receipts(queue, receipts);
  std::vector<pulse> out(receipts.size(), pulse::locked);
  if (receipts.empty()) return out;
  for (const changed_message& each : leases_of(queue).heartbeat(queue, receipts, lease)) {
    out[each.item] = pulse::extended;
  }
  store_notes(queue, nullptr, receipts);
  std::vector<receipt> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == pulse::extended) continue;
    places.push_back(i);
    others.push_back(receipts[i]);
  }
  if (others.empty()) return out;
  for (const changed_message& each : leases_of(queue).lost(queue, others)) {
    out[places[each.item]] = pulse::lost;
    queue.shared().notes.forget(std::span(&others[each.item], 1));
  }
  return out;
}

}  // namespace tableq::inline v0::core
