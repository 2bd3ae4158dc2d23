#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
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

/// Bytes of an error that a message's history keeps.
inline constexpr std::size_t longest_error = 2000;

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
/// Makes messages that a take met after their time to live dead; the attempt does not count.
void expire(const queue_state& of, transaction* tx, std::span<const receipt> receipts);
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

/// Reads the column `headers`.
headers to_headers(const std::optional<std::string>& json);

/// Messages as they stand in the table.
stored_message to_stored(stored_row row);
std::vector<stored_message> to_stored(std::vector<stored_row> rows);

}  // namespace tableq::core
