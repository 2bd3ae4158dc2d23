#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tableq/schema.hpp>

#include "core/database/database_state.hpp"
#include "core/database/transaction_state.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {

/// For the statements on batches, which belong to no queue.
[[nodiscard]] inline queue_state desk_of(database_state& database) {
  return queue_state(database.shared_from_this(), queue_info{.kind = kind::claim});
}

/// Adds what the message at an end tells of its batch.
void tell_batch(headers& to, std::int64_t batch, const batch_counts_row& counts, bool cancelled);

/// Members have left their batches. @return these batches.
std::vector<batch_row> leave_batches(const queue_state& queue, transaction_state* tx,
                                     std::int64_t identity, std::span<const message_id> ids);

/// Sealed batches that have not ended. Waits for a session only briefly.
[[nodiscard]] std::vector<batch_open_row> open_batches(database_state& database,
                                                       const batch_list_request& which);

/// Ends a batch without outstanding members: adds the message at its end, in one transaction with
/// the counts.
/// @return the batches to which it belonged. Empty also if it cannot end now.
/// @throws error when the queue of the message refuses it, or the user may not do it.
std::vector<std::int64_t> end_batch(database_state& database, const batch_open_row& over);

/// After a commit: ends the batch if it is sealed and nothing is outstanding, and then those to
/// which it belongs. A failure is left to the next look.
void end_if_over(database_state& database, std::int64_t batch) noexcept;

/// The findings of doctor about batches that should have ended.
[[nodiscard]] std::vector<finding> inspect_batches(database_state& database);

}  // namespace tableq::inline v0::core
