#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/transaction.hpp>

#include "core/queue/queue_state.hpp"
#include "core/seam/claim_statements.hpp"

namespace tableq::core {

// The life of a message in a claim queue; claim_queue.hpp says what each promises. A null
// transaction means a unit of work of our own.

std::vector<enqueued> add_claims(const queue_state& to, transaction* tx,
                                 std::span<const new_claim_message> messages,
                                 const when_full& full = {});

std::vector<delivery> take(const queue_state& of, transaction* tx, const take_options& options);

std::vector<settled> complete(const queue_state& of, transaction* tx,
                              std::span<const receipt> receipts);
std::vector<settled> fail(const queue_state& of, transaction* tx,
                          std::span<const failure> failures);
std::vector<settled> release(const queue_state& of, transaction* tx,
                             std::span<const receipt> receipts);

/// A message that a take got and that is not to be handed out.
struct unfit_message {
  tableq::receipt receipt;
  std::string_view why;         ///< Fixed words.
  bool attempt_counts = false;  ///< As a failed one.
};
/// Makes them dead.
void make_dead(const queue_state& of, transaction* tx, std::span<const unfit_message> messages);

std::vector<settled> extend(const queue_state& of, transaction* tx,
                            std::span<const receipt> receipts, std::chrono::milliseconds lease);

/// What a heartbeat finds of a lease.
enum class pulse {
  extended,
  locked,  ///< An open transaction has the row; it may be about to settle the message.
  lost,
};
/// Extends leases without waiting for any lock.
std::vector<pulse> heartbeat(const queue_state& of, std::span<const receipt> receipts,
                             std::chrono::milliseconds lease);

/// Messages as they stand in the table.
stored_message to_stored(stored_row row);
std::vector<stored_message> to_stored(std::vector<stored_row> rows);

}  // namespace tableq::core
