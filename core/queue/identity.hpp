#pragma once

#include <type_traits>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/transaction.hpp>

#include "core/queue/queue_state.hpp"
#include "core/seam/limit_statements.hpp"

namespace tableq::inline v0::core {

// A handle belongs to the queue that it was opened for. When that was dropped, the table may be a
// later queue's: each of these throws errc::not_found then, or errc::kind_mismatch where the later
// queue is of another kind. A transaction in which that happens can only be rolled back.

/// By what is known.
void refuse_ended(const queue_state& of, transaction_state* tx);

/// Before an operation: by what is known; or by the catalogue, where the operation does not ask for
/// the limits, which some users may not see. In a caller's transaction nothing is asked.
void confirm(const queue_state& of, transaction_state* tx, statement as);

/// By the rows that limits.read answered with.
void check_identity(const queue_state& of, transaction_state* tx,
                    const std::vector<limits_row>& rows);

/// Asks the database, and returns the row that it found.
std::vector<limits_row> ask_row(const queue_state& of, transaction_state* tx = nullptr);

/// After a statement that did nothing where it had to do something: asks the database.
void look_again(const queue_state& of, transaction_state* tx);

/// For an insert that reported nothing: the queue was dropped, or a trigger on the table has
/// swallowed the row, which is errc::constraint_violated.
[[noreturn]] void not_stored(const queue_state& of, transaction_state* tx);

/// After an operation failed: if that may be so because the table is another queue's, asks the
/// database; in a transaction the next call asks.
void explain(const queue_state& of, const transaction_state* tx, const error& failure);

/// Runs `work()`, and explains what it throws.
template <class Work>
auto explained(const queue_state& of, const transaction_state* tx, Work work)
    -> std::invoke_result_t<Work&> {
  try {
    return work();
  } catch (const error& failure) {
    explain(of, tx, failure);
    throw;
  }
}

}  // namespace tableq::inline v0::core
