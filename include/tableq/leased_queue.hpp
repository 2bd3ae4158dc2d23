#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include <tableq/batch_view.hpp>
#include <tableq/claim_options.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/queue.hpp>
#include <tableq/receipts.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// A queue whose reads lease a message instead of deleting it: a claim_queue, or a table_queue,
/// whose messages are rows.
///
/// All settlements take a receipt, or the delivery that has it, and act only while its fence
/// matches. A receipt of another queue is errc::invalid_argument. Batches take any contiguous range
/// of receipts or deliveries, and return one result per item, in order.
///
/// Shares the sessions of its database and keeps them open. Threads, transactions and the errors of
/// every operation: see `queue`.
class TABLEQ_EXPORT leased_queue : public queue {
 public:
  /// Takes up to `max` messages, 1 to 10,000, under one lease, in one statement, in the queue's
  /// order. Inside a transaction a rollback undoes the take and its receipts become invalid; `wait`
  /// is refused. A message with unreadable headers is not handed out: it is dead at once, with the
  /// reason in its history. See stored_message::unread_headers.
  /// @return empty when no message was ready or became ready within `wait`.
  /// @throws error errc::invalid_argument for max or options out of range, nothing is taken;
  ///   errc::unsupported for take_options::claimed_at of a table.
  [[nodiscard]] std::vector<delivery> take(std::size_t max, const take_options& options = {});
  /// The same for one message.
  [[nodiscard]] std::optional<delivery> take_one(const take_options& options = {});

  /// Completes the message: removes it, or marks it done in a queue with keep_completed or
  /// key_window; deletes, marks or leaves a row, as its mapping says.
  /// @return settle_result::lease_lost if it is no longer taken under this receipt. Without a fence
  ///   in its mapping, a later take of the same row has an equal receipt. A row that the snapshot
  ///   of the transaction does not show is lease_lost, too.
  /// @throws error errc::conflict, as the other settlements, cancel and set_priority of a
  ///   claim_queue, when the transaction's snapshot is older than the message and so does not show
  ///   it.
  [[nodiscard]] settle_result complete(const receipt& taken);
  /// The same for any number of messages, in one transaction. Of two equal receipts the first is
  /// applied. No receipts: an empty result, and nothing is sent.
  [[nodiscard]] std::vector<settle_result> complete_batch(const receipts_view& taken);

  /// Records a failed attempt: the message is ready again after `delay`, or dead after its last
  /// attempt.
  /// @param error stored in the message's history, or in last_error of a row; cut at 2,000 bytes
  ///   and converted to UTF-8.
  /// @throws error errc::invalid_argument for a delay out of range, errc::unsupported for a delay
  ///   without due_at in the mapping; nothing has changed.
  [[nodiscard]] settle_result fail(const receipt& taken, text_view error,
                                   const fail_options& options = {});
  /// The same for any number of messages, each with its own error and options; as complete_batch.
  [[nodiscard]] std::vector<settle_result> fail_batch(const batch_view<failure>& failures);

  /// Returns the message without an attempt: it is ready at once, and the attempt is not counted.
  [[nodiscard]] settle_result release(const receipt& taken);
  /// The same for any number of messages; as complete_batch.
  [[nodiscard]] std::vector<settle_result> release_batch(const receipts_view& taken);

  /// Sets the end of the lease to `lease` from now (1 ms to 365 days). The receipt stays valid.
  /// @throws error errc::invalid_argument for a lease out of range, errc::unsupported without
  ///   lease_until in the mapping; nothing has changed.
  [[nodiscard]] settle_result extend(const receipt& taken, std::chrono::milliseconds lease);
  /// The same for any number of messages, in one transaction. Equal receipts have one result.
  [[nodiscard]] std::vector<settle_result> extend_batch(const receipts_view& taken,
                                                        std::chrono::milliseconds lease);

 protected:
  using queue::queue;
  leased_queue(const leased_queue&) noexcept = default;
  leased_queue& operator=(const leased_queue&) noexcept = default;
  ~leased_queue() = default;
};

}  // namespace tableq::inline v0
