#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tableq/claim_options.hpp>
#include <tableq/error.hpp>
#include <tableq/fwd.hpp>
#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/receipts.hpp>

#include "core/claim/lease_table.hpp"
#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// The layout of a queue from which on its messages have progress and result.
inline constexpr int layout_with_notes = 3;

// The life of a message in a claim queue; claim_queue.hpp documents each function. If the
// transaction is null, the operation has its own unit of work.

/// The statement that names the operation of a claim queue on a queue of this kind.
[[nodiscard]] inline statement of_kind(kind which, statement id) noexcept {
  return which == kind::table ? contract_of(id).in_tables : id;
}

/// @throws error errc::invalid_argument for a receipt of another queue.
void check_receipt(const queue_state& queue, const receipt& r);

/// A message to be added. Borrows both.
struct claim_message {
  std::string_view payload;
  const claim_enqueue_options* options;
};
/// @param traced the messages have the trace contexts of their callers; otherwise it asks for one.
std::vector<enqueued> add_claims(const queue_state& queue, transaction_state* tx,
                                 std::span<const claim_message> messages, const when_full& full,
                                 bool traced = false);

/// For messages of schedules and at the ends of batches, which go to queues of any kind that tableq
/// has made. Other kinds than `claim` have of the options only `created_at`.
/// @throws error as an enqueue.
void check_for_any(const database_state& database, const queue_info& target,
                   const claim_message& message);
std::vector<enqueued> add_to_any(const queue_state& queue, transaction_state& tx,
                                 std::span<const claim_message> messages);

/// The course of a worker's takes, kept from one to the next.
struct take_course {
  /// The time before the read that found the messages: their leases began after it.
  std::chrono::steady_clock::time_point read_began = {};
  /// The last take left no ready message; the mark of the waiting reads before it. A take that
  /// waits then does not read before something changes.
  std::optional<std::uint64_t> drained_at = {};
};

/// @param course of a worker, which reports hidden messages itself. May be null.
std::vector<delivery> take(const queue_state& queue, transaction_state* tx, std::size_t max,
                           const take_options& options, take_course* course = nullptr);
/// Makes messages that are due, or whose leases have ended, ready or dead, as a take does.
/// @return whether more of them may be left: not after fewer than 2,000.
bool promote(const queue_state& queue, transaction_state* tx);

/// @throws error as refused_result, for any of them.
std::vector<settle_result> complete(const queue_state& queue, transaction_state* tx,
                                    const receipts_view& receipts, given_results results = {});
/// Why the queue cannot keep a result of that many bytes. Empty: it can.
[[nodiscard]] std::optional<error> refused_result(const queue_state& queue, std::size_t size);
/// Any texts may be their errors.
std::vector<settle_result> fail(const queue_state& queue, transaction_state* tx,
                                std::vector<ended_attempt> failures);
/// Ends attempts, with the consequences.
std::vector<settle_result> end_attempts(const queue_state& queue, transaction_state* tx,
                                        std::span<const ended_attempt> attempts);
/// The same for messages that a take cannot deliver. Those whose groups are locked return when
/// their leases end.
void end_unfit(const queue_state& queue, transaction_state* tx,
               std::span<const ended_attempt> attempts);
std::vector<settle_result> release(const queue_state& queue, transaction_state* tx,
                                   const receipts_view& receipts);

// Progress: what a handler says of its message.

/// Whether the queue's messages have progress and result.
[[nodiscard]] inline bool keeps_notes(const queue_state& queue) noexcept {
  return queue.mapped() == nullptr && queue.info().layout >= layout_with_notes;
}
/// Remembers it until it is stored.
/// @throws error errc::unsupported if the queue cannot store it.
void say_progress(const queue_state& queue, const receipt& taken, double done,
                  std::string_view note);
/// Stores what waits to be stored of these messages, if their leases hold: beside something that
/// goes on without it. What fails, and rows that other transactions have locked, wait for the next
/// time.
/// @throws error only in a transaction.
void store_notes(const queue_state& queue, transaction_state* tx, const receipts_view& receipts);

std::vector<settle_result> extend(const queue_state& queue, transaction_state* tx,
                                  const receipts_view& receipts, std::chrono::milliseconds lease);

/// The result of a heartbeat for one lease.
enum class pulse {
  extended,
  locked,  ///< An open transaction has the row; it may be about to settle the message.
  lost,
};
/// The results of a heartbeat, by the indexes of the receipts.
struct heartbeats {
  std::vector<pulse> leases;
  std::vector<std::size_t> stopped = {};  ///< The handlers of these are to end.
};
/// Extends leases without waiting for any lock. Where that holds up no other writer, a failure is
/// left to the next time.
heartbeats heartbeat(const queue_state& queue, std::span<const receipt> receipts,
                     std::chrono::milliseconds lease);

}  // namespace tableq::inline v0::core
