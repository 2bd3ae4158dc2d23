#pragma once

#include <string_view>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/transaction.hpp>

#include "core/queue/queue_state.hpp"
#include "core/seam/limit_requests.hpp"

namespace tableq::inline v0::core {

// A handle belongs to the queue that it was opened for. If this queue was dropped, the table may
// belong to a later queue with the same name. Then each of these functions throws errc::not_found,
// or errc::kind_mismatch if the later queue is of another kind. The transaction can then only be
// rolled back.

/// Checks the rows that limits.read returned.
void check_identity(const queue_state& queue, transaction_state* tx,
                    const std::vector<limits_row>& rows);

/// Asks the database, and returns the row that it found. Also called after a statement that should
/// have changed rows, but did not.
std::vector<limits_row> ask_row(const queue_state& queue, transaction_state* tx = nullptr);

/// Called after an insert that returned no row: the queue was dropped, or a trigger on the table
/// has discarded the row. The latter throws errc::constraint_violated.
[[noreturn]] void not_stored(const queue_state& queue, transaction_state* tx);

/// Called in the handler of an operation's failure; throws it in the name of the operation. If the
/// table may belong to another queue now, asks the database; in a transaction the next call asks.
/// Throws a clearer error if it knows one.
[[noreturn]] void throw_explained(const queue_state& queue, const transaction_state* tx,
                                  std::string_view operation, const error& failure);

}  // namespace tableq::inline v0::core
