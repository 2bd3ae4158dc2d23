#pragma once

#include <functional>
#include <future>
#include <string>
#include <vector>

#include <tableq/batch_view.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/outcome.hpp>
#include <tableq/payload.hpp>
#include <tableq/plain_queue.hpp>
#include <tableq/transaction.hpp>

namespace tableq::inline v0 {

/// Messages with a due time: a read returns the one that fell due first.
///
/// Shares the sessions of its database. Delivery: see `destructive_queue`; all else: see `queue`.
class TABLEQ_EXPORT pending_queue : public destructive_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] pending_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] pending_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] pending_queue outside() const noexcept { return unbound(*this); }

  /// Adds one message that becomes visible at its due time, by the database's clock.
  /// @throws error as plain_queue::enqueue; errc::invalid_argument also for both delay and due_at.
  message_id enqueue(payload_view payload, const pending_options& options = {},
                     const when_full& full = {});

  /// Adds all or none, in one transaction. Returns the ids in the order of the messages. An empty
  /// batch does nothing.
  /// @throws error as enqueue, for any of the messages.
  std::vector<message_id> enqueue_batch(const batch_view<new_pending_message>& messages,
                                        const when_full& full = {});

  /// As plain_queue::enqueue_async. A delay begins when the message is stored.
  [[nodiscard]] std::future<message_id> enqueue_async(std::string payload,
                                                      const pending_options& options = {});
  /// The same, with a function that gets the outcome.
  /// @param done as in plain_queue::enqueue_async.
  void enqueue_async(std::string payload, const pending_options& options,
                     std::function<void(outcome<message_id>)> done);

 private:
  friend class database;
  using destructive_queue::destructive_queue;
};

}  // namespace tableq::inline v0
