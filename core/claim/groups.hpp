#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

#include "core/base/thread_mark.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/run.hpp"

namespace tableq::inline v0::core {

// Messages with one `group` are handed out one after the other. Messages that must wait are `held`:
// no index that a take reads contains them. An operation that adds a message to a group, or makes
// room in it, locks the group first, works, and then advances the group: each step sees what
// earlier holders of the lock have committed.

using group_set = std::set<std::string, std::less<>>;

/// The groups of those messages that have one.
group_set groups_of(const queue_state& queue, transaction_state* tx,
                    std::span<const message_id> ids);

/// While an object lives, its thread waits no longer than a tenth of a second for the locks of
/// groups, on databases whose transactions may hold them for long. For a caller with work that can
/// wait.
class brief_locks : public thread_mark<brief_locks> {};

/// Until the transaction ends.
/// @throws error errc::busy under `brief_locks`.
void lock_groups(const queue_state& queue, transaction_state& tx, const group_set& groups);

/// Whether another transaction may hold the lock of a group for long: a take then passes the group.
[[nodiscard]] bool passes_groups(const queue_state& queue) noexcept;

/// As lock_groups, but waits for no lock.
/// @return those that are locked.
group_set lock_free_groups(const queue_state& queue, transaction_state& tx, group_set groups);
/// The same with the groups of these messages.
/// @return the places of the messages whose groups are not locked.
std::set<std::size_t> pass_locked_groups(const queue_state& queue, transaction_state& tx,
                                         std::span<const message_id> ids);

/// Whether a new message may be stored as ready. The transaction must be the one writer of the
/// database, so that no other one adds to a group meanwhile, and no group may have limits of its
/// own. A caller's transaction does not count: it becomes the writer only by its first change.
[[nodiscard]] bool fills_idle_groups(const queue_state& queue,
                                     const transaction_state& tx) noexcept;
/// Groups before a message is added.
struct groups_before {
  group_set idle;  ///< Without messages that run or wait.
  group_set open;  ///< With some, and room for another one.
};
/// @pre fills_idle_groups().
groups_before groups_in_use(const queue_state& queue, transaction_state& tx,
                            const group_set& groups);

/// Makes held messages ready as far as there is room. The groups must be locked.
/// @param returned messages of these groups that have become ready in the same transaction: in a
///   group with a rate they need a start.
/// @return how many are ready, or will be at their due time.
std::size_t advance_groups(const queue_state& queue, transaction_state& tx, const group_set& groups,
                           std::span<const message_id> returned);

/// The same after a change of limits: messages that wait for a start wait anew, and some that are
/// ready may be held again.
std::size_t move_groups(const queue_state& queue, transaction_state& tx, const group_set& groups);

/// Makes up to `max` held messages of each group ready, whatever its limits. The groups are locked,
/// and advanced in the same transaction when these messages have left it, or are held again.
/// @return them, by their ids.
std::vector<message_id> open_groups(const queue_state& queue, transaction_state& tx,
                                    const group_set& groups, std::size_t max);

/// The result of a statement in locked groups.
struct work_in_groups {
  row_set rows;
  std::size_t readable = 0;  ///< How many messages became ready.
};

/// Locks the groups, runs `work`, and advances the groups, in one
/// transaction, and where the client library can in one round trip.
/// @return empty: groups have rates, or it is too much for one statement; nothing was run.
std::optional<work_in_groups> in_locked_groups(const queue_state& queue, const group_set& groups,
                                               const kept_call& work);

}  // namespace tableq::inline v0::core
