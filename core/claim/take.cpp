#include "core/claim/operations.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/claim/lease_table.hpp"
#include "core/claim/step.hpp"
#include "core/input/validate.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/waiting.hpp"

namespace tableq::inline v0::core {
namespace {

/// The number of messages that one statement makes ready.
constexpr std::size_t promote_batch = 1000;
/// The batches for one take from a table of the application: a trigger there may undo each of them.
constexpr int most_batches_of_foreign_rows = 100;

/// Makes a batch of due or expired messages ready or dead.
/// @return how many.
std::size_t promote_some(const queue_state& queue, transaction_state* tx) {
  return claim_step(queue, tx, {}, has_consequences(queue),
                    [&](transaction_state* step_tx, claim_effects& done) {
                      const auto moved = leases_of(queue).promote(queue, step_tx, promote_batch);
                      std::vector<message_id> left;  // their groups have room
                      for (const changed_message& each : moved) {
                        const bool dead = each.state == message_state::dead;
                        if (dead) done.dead.push_back(each.id);
                        if (dead || each.state == message_state::held) left.push_back(each.id);
                      }
                      if (queue.info().groups && !left.empty())
                        lock_groups_of(queue, *step_tx, left, done);
                      done.left = !moved.empty();  // Some messages may be dead now.
                      return moved.size();
                    });
}

/// Takes messages until some can be delivered, or none is left. Makes the others dead.
std::vector<delivery> take_fit(const queue_state& queue, transaction_state* tx,
                               const take_terms& terms, read_gate& gate) {
  for (;;) {
    const bool committed = tx == nullptr || tx->in_none();
    taken_messages got = leases_of(queue).take(queue, tx, terms);
    if (!got.unfit.empty()) {
      try {
        make_dead(queue, tx, got.unfit);
      } catch (const error& failure) {
        // The deliverable messages are leased, so they are delivered. The others return when their
        // leases end. In a transaction of tableq's the error undoes everything.
        if (!committed && !tx->keeps_changes()) throw;
        if (got.good.empty() && !may_concern_one_row(failure)) throw;
      }
      gate.keep();
    }
    if (!got.good.empty() || got.unfit.empty()) return std::move(got.good);
  }
}

}  // namespace

std::vector<delivery> take(const queue_state& queue, transaction_state* tx, std::size_t max,
                           const take_options& options,
                           std::chrono::steady_clock::time_point* read_began) {
  check_batch_size(max);
  check_wait(options.wait, tx != nullptr);
  check_timestamp(options.claimed_at, "claimed_at");
  const std::chrono::milliseconds lease = options.lease.value_or(queue.info().lease);
  check_lease(lease);
  read_gate gate(queue, tx, options.wait, options.stop);
  const auto once = [&](bool guard) {
    const auto take_now = [&](transaction_state* read_tx, std::size_t most) {
      if (read_began != nullptr) *read_began = std::chrono::steady_clock::now();
      return take_fit(
          queue, read_tx,
          {.max = most, .lease = lease, .claimed_at = options.claimed_at, .guard = guard}, gate);
    };
    return gate.unlimited() ? take_now(tx, max) : gate.limited(max, take_now);
  };
  const auto due_ones_too = [&] {
    // With the guard it returns nothing while a due or expired message may come first.
    std::vector<delivery> got = once(true);
    if (!got.empty() || gate.held_back()) return got;
    for (int done = 1; promote_some(queue, tx) == promote_batch; ++done) {
      if (queue.mapped() != nullptr && done == most_batches_of_foreign_rows) break;
    }
    return once(false);
  };
  if (options.wait.count() == 0) return due_ones_too();
  return wait_for(
      queue, options.wait, options.stop, [&] { return leases_of(queue).next_due(queue); },
      read_began == nullptr, [&] { return gate.patiently(due_ones_too); });
}

}  // namespace tableq::inline v0::core
