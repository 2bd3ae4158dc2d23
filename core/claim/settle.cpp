#include "core/claim/operations.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/lease_table.hpp"
#include "core/claim/step.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/queue_hook.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"
#include "core/session/retry.hpp"

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

/// Checks the leases that were not found: see check_unseen.
void check_lost(const queue_state& queue, transaction_state* tx, const receipts_view& receipts,
                const std::vector<settle_result>& results) {
  if (tx == nullptr || queue.mapped() != nullptr) return;
  std::vector<receipt> lost;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] != settle_result::applied) lost.push_back(receipts[i]);
  }
  check_unseen(queue, tx, ids_of(lost),
               [&](connection& session, std::span<const std::size_t> unseen) {
                 std::vector<receipt> asked;
                 for (const std::size_t i : unseen) asked.push_back(lost[i]);
                 return run(session, queue.names(), statements::claim_lost, {}, asked).size() ==
                        asked.size();
               });
}

/// A settlement that the followers of the database object are told.
class told_settlement {
 public:
  told_settlement(const queue_state& queue, transaction_state* tx, const receipts_view& receipts)
      : queue_(queue), tx_(tx), receipts_(receipts), now_(queue.database().settled(), receipts) {}

  /// @param results of the settlement. In a transaction that keeps a snapshot, a lease that was not
  ///   found may be newer than the snapshot.
  std::vector<settle_result> ends(std::vector<settle_result> results) {
    check_lost(queue_, tx_, receipts_, results);
    now_.done();
    queue_.shared().notes.forget(receipts_);
    return results;
  }

 private:
  const queue_state& queue_;
  transaction_state* tx_;
  const receipts_view& receipts_;
  settlements::running now_;
};

/// Completes messages of groups. @return empty: they have none, or it is not possible at once;
/// nothing was done.
std::optional<std::vector<settle_result>> complete_in_groups(const queue_state& queue,
                                                             const receipts_view& receipts,
                                                             std::span<const message_id> ids) {
  const group_set groups = groups_of(queue, nullptr, ids);
  if (groups.empty()) return std::nullopt;
  std::vector<receipt> sorted = copied(receipts);
  std::ranges::sort(sorted, {}, &receipt::id);
  if (std::ranges::adjacent_find(sorted, {}, &receipt::id) != sorted.end()) return std::nullopt;
  auto done = in_locked_groups(queue, groups, call_of(statements::claim_complete, {}, sorted));
  if (!done) return std::nullopt;
  std::set<message_id> applied;
  for (const auto& row : rows_of<id_row, receipt>(std::move(done->rows))) applied.insert(row.id);
  const bool left = !applied.empty();
  std::vector<settle_result> out(receipts.size(), settle_result::lease_lost);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (applied.contains(receipts[i].id)) out[i] = settle_result::applied;
  }
  apply(queue, nullptr, {.readable = done->readable, .left = left});
  return out;
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
  told_settlement told(queue, tx, receipts);
  const std::vector<message_id> ids = ids_of(receipts);
  if (tx == nullptr && passes_groups(queue) && !rules.keep_completed && !several) {
    if (auto settled = complete_in_groups(queue, receipts, ids)) return told.ends(*settled);
  }
  return told.ends(
      claim_step(queue, tx, ids, several, [&](transaction_state* step_tx, claim_effects& done) {
        const auto completed = leases_of(queue).change(
            queue, step_tx, receipts, {.is = lease_change::kind::complete, .results = results});
        for (const changed_message& each : completed) done.completed.push_back(each.id);
        done.left = !completed.empty();
        return results_of(completed, receipts.size());
      }));
}

std::vector<settle_result> fail(const queue_state& queue, transaction_state* tx,
                                std::vector<ended_attempt> failures) {
  std::deque<std::string> texts;  // a deque never moves its elements
  for (ended_attempt& one : failures) {
    check_receipt(queue, one.receipt);
    if (one.delay) check_delay(*one.delay);
    one.error = texts.emplace_back(encode_error(one.error, queue.database().narrow_texts()));
  }
  return end_attempts(queue, tx, failures);
}

std::vector<settle_result> end_attempts(const queue_state& queue, transaction_state* tx,
                                        std::span<const ended_attempt> attempts) {
  if (attempts.empty()) return {};
  std::vector<receipt> receipts;
  receipts.reserve(attempts.size());
  for (const ended_attempt& one : attempts) receipts.push_back(one.receipt);
  const receipts_view all(receipts);
  store_notes(queue, tx, all);  // a retry keeps them
  told_settlement told(queue, tx, all);
  return told.ends(claim_step(queue, tx, ids_of(all), has_consequences(queue),
                              [&](transaction_state* step_tx, claim_effects& done) {
                                const auto ended = leases_of(queue).fail(queue, step_tx, attempts);
                                for (const changed_message& each : ended) {
                                  if (each.state == message_state::dead)
                                    done.dead.push_back(each.id);
                                  if (each.state == message_state::ready)
                                    done.returned.push_back(each.id);
                                }
                                done.readable = ended.size() - done.dead.size();
                                done.left = !ended.empty();
                                return results_of(ended, attempts.size());
                              }));
}

void end_unfit(const queue_state& queue, transaction_state* tx,
               std::span<const ended_attempt> attempts) {
  if (!passes_groups(queue)) return static_cast<void>(end_attempts(queue, tx, attempts));
  in_one_transaction(queue.database(), tx, [&](transaction_state& own) {
    std::vector<message_id> ids;
    for (const ended_attempt& one : attempts) ids.push_back(one.receipt.id);
    const std::set<std::size_t> passed = pass_locked_groups(queue, own, ids);
    std::vector<ended_attempt> others;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      if (!passed.contains(i)) others.push_back(attempts[i]);
    }
    return end_attempts(queue, &own, others);
  });
}

std::vector<settle_result> release(const queue_state& queue, transaction_state* tx,
                                   const receipts_view& receipts) {
  check_receipts(queue, receipts);
  if (receipts.empty()) return {};
  store_notes(queue, tx, receipts);  // a retry keeps them
  told_settlement told(queue, tx, receipts);
  // A message that is ready again keeps its place in its group, but needs another start. And a
  // transaction may go on to lock the group.
  const bool starts = queue.info().group_rates;
  return told.ends(claim_step(
      queue, tx, starts || tx != nullptr ? ids_of(receipts) : std::vector<message_id>(),
      starts && has_consequences(queue), [&](transaction_state* step_tx, claim_effects& done) {
        const auto released =
            leases_of(queue).change(queue, step_tx, receipts, {.is = lease_change::kind::release});
        for (const changed_message& each : released) done.returned.push_back(each.id);
        done.readable = released.size();
        done.left = !released.empty();
        return results_of(released, receipts.size());
      }));
}

std::vector<settle_result> extend(const queue_state& queue, transaction_state* tx,
                                  const receipts_view& receipts, std::chrono::milliseconds lease) {
  check_lease(lease);
  check_receipts(queue, receipts);
  if (receipts.empty()) return {};
  // Before the messages, as in every other change.
  if (tx != nullptr && !tx->in_none() && queue.info().groups)
    lock_groups(queue, *tx, groups_of(queue, tx, ids_of(receipts)));
  const auto extended = leases_of(queue).change(queue, tx, receipts,
                                                {.is = lease_change::kind::extend, .lease = lease});
  store_notes(queue, tx, receipts);
  auto results = results_of(extended, receipts.size());
  check_lost(queue, tx, receipts, results);
  return results;
}

heartbeats heartbeat(const queue_state& queue, std::span<const receipt> receipts,
                     std::chrono::milliseconds lease) {
  check_receipts(queue, receipts);
  std::optional<unrepeated> once;
  if (!queue.database().capabilities().one_writer) once.emplace();
  heartbeats found{.leases = std::vector<pulse>(receipts.size(), pulse::locked)};
  std::vector<pulse>& out = found.leases;
  for (const changed_message& each : leases_of(queue).change(
           queue, nullptr, receipts, {.is = lease_change::kind::heartbeat, .lease = lease})) {
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
  if (!others.empty()) {
    for (const changed_message& each :
         leases_of(queue).change(queue, nullptr, others, {.is = lease_change::kind::find_lost})) {
      out[places[each.item]] = pulse::lost;
      queue.shared().notes.forget(std::span(&others[each.item], 1));
    }
  }
  if (queue_hook* const hook = hook_of(queue)) found.stopped = hook->stopped(queue, receipts);
  return found;
}

}  // namespace tableq::inline v0::core
