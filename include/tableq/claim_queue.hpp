#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tableq/batch_view.hpp>
#include <tableq/claim_options.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/message_range.hpp>
#include <tableq/options.hpp>
#include <tableq/outcome.hpp>
#include <tableq/payload.hpp>
#include <tableq/queue.hpp>
#include <tableq/receipts.hpp>
#include <tableq/scoped_delivery.hpp>
#include <tableq/stats.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// A queue whose reads flag a message for the length of a lease; `complete` removes it, or marks it
/// done.
///
/// Delivery is at least once, fenced: a worker that lost its lease cannot settle the message any
/// more. Messages come by priority, then in the order of their ids. A lease that ends unsettled
/// counts as a failed attempt; the message is taken again by whoever calls `take` next, or is dead
/// after its last. The states are drawn in docs/guarantees.md.
///
/// All settling operations take a receipt, or the delivery that has it, and act only while its
/// fence matches. A receipt of another queue is errc::invalid_argument. Batches take any contiguous
/// range of receipts or deliveries, and answer per item, in order.
class TABLEQ_EXPORT claim_queue : public queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] claim_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] claim_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] claim_queue outside() const noexcept { return unbound(*this); }

  /// Adds one message; it is stored when the call returns, inside a transaction when that commits.
  /// @param full what to do when the queue has a capacity and no room, whether or not the key is
  ///   there already. Inside a transaction there is no waiting: it would hold its locks.
  /// @return its id, and whether it was created: a key may be held by an earlier one.
  /// @throws error errc::too_large, queue_full, or errc::invalid_argument for options out of range.
  enqueued enqueue(payload_view payload, const claim_enqueue_options& options = {},
                   const when_full& full = {});

  /// Adds all whose keys are free, in order, in one transaction; of two with one key the first.
  std::vector<enqueued> enqueue_batch(const batch_view<new_claim_message>& messages,
                                      const when_full& full = {});

  /// As plain_queue::enqueue_async. A delay and a time to live count from when the message is
  /// stored.
  [[nodiscard]] std::future<enqueued> enqueue_async(std::string payload,
                                                    const claim_enqueue_options& options = {});
  void enqueue_async(std::string payload, const claim_enqueue_options& options,
                     std::function<void(outcome<enqueued>)> done);

  /// Takes up to `max` messages, 1 to 10,000, under one lease, in one statement, in the queue's
  /// order. Inside a transaction the take is undone with it, receipts and all, and `wait` is
  /// refused. A message whose headers cannot be read is not handed out: it is dead at once, its
  /// history says why, and the others come. See stored_message::unread_headers.
  /// @return empty when nothing was ready (or became so within `wait`).
  [[nodiscard]] std::vector<delivery> take(std::size_t max, const take_options& options = {});
  /// The same for one message.
  [[nodiscard]] std::optional<delivery> take_one(const take_options& options = {});
  /// The same; what is destroyed unsettled is released: ready again at once.
  [[nodiscard]] std::optional<scoped_delivery> take_scoped(const take_options& options = {});

  /// The work is done: removes the message, or keeps it as done where the queue keeps.
  /// @throws error errc::conflict, as the other settlements, cancel and set_priority: the
  ///   transaction keeps a snapshot from before the message was added, and cannot tell.
  [[nodiscard]] settle_result complete(const receipt& taken);
  [[nodiscard]] std::vector<settle_result> complete_batch(const receipts_view& taken);

  /// The work failed: the message becomes ready again, after `delay`, or dead after its last
  /// attempt.
  /// @param error kept in the message's history: cut at 2,000 bytes, made UTF-8.
  [[nodiscard]] settle_result fail(const receipt& taken, text_view error,
                                   const fail_options& options = {});
  [[nodiscard]] std::vector<settle_result> fail_batch(const batch_view<failure>& failures);

  /// Gives the message back untried: ready at once, the attempt not counted.
  [[nodiscard]] settle_result release(const receipt& taken);
  [[nodiscard]] std::vector<settle_result> release_batch(const receipts_view& taken);

  /// The lease ends `lease` from now (1 ms to 365 days), whatever it was before. The receipt stays.
  [[nodiscard]] settle_result extend(const receipt& taken, std::chrono::milliseconds lease);
  [[nodiscard]] std::vector<settle_result> extend_batch(const receipts_view& taken,
                                                        std::chrono::milliseconds lease);

  /// Looks at up to `max` ready messages (1 to 10,000) in the order of takes, locking nothing. Of
  /// those that fell due or whose lease ended since the last take, only the first `max` by that
  /// time are considered.
  [[nodiscard]] std::vector<stored_message> peek(std::size_t max = 1) const;

  /// Pages through the messages in one state: ready and held ones in the order of takes, delayed
  /// and leased ones by due_at, done and dead ones by the time they finished. Each page costs the
  /// same, however many came before. It is no snapshot: what changes meanwhile may be missed, or
  /// met twice. Messages that are due and that no take has met are still delayed or leased.
  [[nodiscard]] std::vector<stored_message> list(message_state state,
                                                 const tableq::page& page = {}) const;

  /// All messages in one state, in the order of `list`, which reads them page by page:
  /// `for (const tableq::stored_message& m : jobs.list_all(tableq::message_state::dead))`.
  /// @param page_size how many are read at a time, 1 to 10,000.
  [[nodiscard]] message_range list_all(message_state state, std::size_t page_size = 100) const;

  /// Looks a message up, in whatever state. On SQL Server it waits for those who are changing it.
  /// A transaction that keeps a snapshot gets what the snapshot shows; so does `find`.
  [[nodiscard]] std::optional<stored_message> get(message_id id) const;
  /// Results in the order of `ids`.
  [[nodiscard]] std::vector<std::optional<stored_message>> get_batch(
      const batch_view<message_id>& ids) const;

  /// Looks up the message that holds a key; one that is done holds it for its window, if any.
  /// @throws error errc::invalid_argument for what cannot be a key.
  [[nodiscard]] std::optional<stored_message> find(text_view key) const;

  /// Removes a message that is ready, delayed, held or dead, and frees its key. One that is leased
  /// stays, also when its lease is over, until a take has met it; one that is done is purge's
  /// affair.
  change_result cancel(message_id id);
  /// All in one transaction. Results in the order of `ids`; of two equal ones the first counts.
  std::vector<change_result> cancel_batch(const batch_view<message_id>& ids);

  /// Changes the priority of a message that is ready, delayed or held.
  change_result set_priority(message_id id, std::int32_t priority);
  /// Results in the order of `changes`; of two for one message the first counts.
  std::vector<change_result> set_priority_batch(const batch_view<new_priority>& changes);

  /// Makes dead messages ready again, with no attempts counted; their error history stays.
  /// @return how many of `ids` were dead and are ready now.
  std::size_t redrive(const batch_view<message_id>& ids);
  /// The dead messages that the options choose, some in each transaction. In a queue with
  /// dead_letters also those that were moved there from here and are ready there: they come back
  /// with payload, headers, priority and history, and are in no group. With key_scope::active a
  /// message takes its key again; it stays there while another one of this queue holds the key.
  /// Those whose headers could not be read stay there, too.
  /// @return how many came back, and how many stayed because of their keys.
  /// @throws error errc::invalid_argument for options out of range; errc::conflict when another
  ///   thread took a key meanwhile, again and again.
  redriven redrive_all(const redrive_options& options = {});

  /// Deletes done or dead messages by age, in small batches. @return how many.
  /// @param state message_state::done or message_state::dead.
  /// @throws error errc::invalid_argument for another state: cancel removes messages that wait.
  std::size_t purge(message_state state, const purge_options& options = {});

  /// Counts, up to 10,000 of each figure unless told otherwise: cheap enough for each second.
  /// @throws error errc::invalid_argument for options out of range.
  [[nodiscard]] claim_stats stats(const stats_options& options = {}) const;

  /// The lease that takes of this handle use unless told otherwise.
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept;
  [[nodiscard]] int max_attempts() const noexcept;

 private:
  friend class database;
  using queue::queue;
};

}  // namespace tableq::inline v0
