#include "core/claim/step.hpp"

#include <chrono>
#include <vector>

#include <tableq/error.hpp>

#include "core/claim/dead_letters.hpp"
#include "core/claim/operations.hpp"
#include "core/database/transaction_state.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Also false if the check is not possible now.
bool certainly(const queue_state& queue, const fresh_look& gone,
               std::span<const std::size_t> unseen) {
  // Other transactions may hold all sessions of the server, and wait for a second one too.
  if (queue.database().dialect_driver().pooled()) return false;
  // The transaction may hold the last session. A long wait is not worthwhile, because the caller
  // can repeat.
  constexpr std::chrono::milliseconds patience{100};
  try {
    const leased_session session = queue.database().sessions().lease(patience);
    return gone(*session, unseen);
  } catch (const error&) {  // Nobody can tell: the caller is told that.
    return false;
  }
}

}  // namespace

void lock_groups_of(const queue_state& queue, transaction_state& tx,
                    std::span<const message_id> ids, claim_effects& done) {
  const group_set groups = groups_of(queue, &tx, ids);
  lock_groups(queue, tx, groups);
  done.groups.insert(groups.begin(), groups.end());
}

void finish(const queue_state& queue, transaction_state* tx, claim_effects& done) {
  if (queue_hook* const hook = tx == nullptr ? nullptr : hook_of(queue)) {
    hook->settled(queue, *tx, done);
  }
  if (queue.dead_letters() != nullptr && !done.dead.empty()) {
    move_to_dead_letters(queue, *tx, done.dead);
  }
  if (!done.groups.empty()) done.readable += advance_groups(queue, *tx, done.groups, done.returned);
  apply(queue, tx, done);
}

void check_unseen(const queue_state& queue, transaction_state* tx,
                  std::span<const message_id> passed, const fresh_look& gone) {
  // A statement that commits by itself has a snapshot of its own.
  if (tx == nullptr || tx->in_none() || passed.empty()) return;
  std::vector<std::size_t> unseen;
  for (const auto& row : queue.execute(tx, statements::claim_unseen, {}, passed)) {
    unseen.push_back(row.item);
  }
  if (unseen.empty() || certainly(queue, gone, unseen)) return;
  throw error(errc::conflict, advice::transaction,
              "the transaction keeps a snapshot from before the message of the queue " +
                  queue.name() +
                  " was added; roll back and run it again, or begin it at READ COMMITTED",
              {.backend = queue.database().name()});
}

}  // namespace tableq::inline v0::core
