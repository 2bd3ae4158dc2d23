#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tableq/export.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/queue.hpp>
#include <tableq/transaction.hpp>

namespace tableq {

/// Figures of a `claim` queue. Index ranges are counted, so not for a hot path.
struct claim_stats {
  std::size_t ready =
      0;  ///< Free to be taken now; due and expired ones that no take has met included.
  std::size_t delayed = 0;
  std::size_t leased = 0;
  std::size_t done = 0;
  std::size_t dead = 0;
  std::optional<timestamp> oldest = {};  ///< created_at of the ready message with the lowest id.
};

/// A queue whose reads flag a message for the length of a lease; `complete` removes it, or marks it
/// done.
///
/// Delivery is at least once, fenced: a worker that lost its lease cannot settle the message any
/// more. Messages come by priority, then in the order of their ids. A lease that ends unsettled
/// counts as a failed attempt; the message is taken again by whoever calls `take` next, or is dead
/// after its last. The states are drawn in docs/guarantees.md.
///
/// All settling operations take a receipt, act only while its fence matches, and may be called
/// inside a transaction. A receipt of another queue is errc::invalid_argument. Batches answer per
/// item, in order.
class TABLEQ_EXPORT claim_queue : public queue {
 public:
  /// Adds one message; it is stored when the call returns.
  /// @throws error errc::too_large, or errc::invalid_argument for options out of range.
  enqueued enqueue(std::string_view payload, const claim_enqueue_options& options);
  /// Without a key nothing can be there already: the id is all there is to know.
  message_id enqueue(std::string_view payload);
  enqueued enqueue(transaction& tx, std::string_view payload, const claim_enqueue_options& options);
  message_id enqueue(transaction& tx, std::string_view payload);

  /// Adds all whose keys are free, in order, in one transaction; of two with one key the first.
  std::vector<enqueued> enqueue_batch(std::span<const new_claim_message> messages);
  std::vector<enqueued> enqueue_batch(transaction& tx, std::span<const new_claim_message> messages);

  /// Takes up to `options.max` messages under one lease, in one statement, in the queue's order.
  /// Inside a transaction the take is undone with it, receipts and all, and `wait` is refused.
  /// @return empty when nothing was ready (or became so within `wait`).
  [[nodiscard]] std::vector<delivery> take(const take_options& options = {});
  [[nodiscard]] std::vector<delivery> take(transaction& tx, const take_options& options = {});

  /// The work is done: removes the message, or keeps it as done where the queue keeps.
  [[nodiscard]] settled complete(const receipt& r);
  [[nodiscard]] settled complete(transaction& tx, const receipt& r);
  [[nodiscard]] std::vector<settled> complete(std::span<const receipt> receipts);
  [[nodiscard]] std::vector<settled> complete(transaction& tx, std::span<const receipt> receipts);

  /// The work failed: the message becomes ready again, after `delay`, or dead after its last
  /// attempt.
  /// @param error kept in the message's history: cut at 2,000 bytes, made UTF-8.
  [[nodiscard]] settled fail(const receipt& r, std::string_view error,
                             const fail_options& options = {});
  [[nodiscard]] settled fail(transaction& tx, const receipt& r, std::string_view error,
                             const fail_options& options = {});
  [[nodiscard]] std::vector<settled> fail(std::span<const failure> failures);
  [[nodiscard]] std::vector<settled> fail(transaction& tx, std::span<const failure> failures);

  /// Gives the message back untried: ready at once, the attempt not counted.
  [[nodiscard]] settled release(const receipt& r);
  [[nodiscard]] settled release(transaction& tx, const receipt& r);
  [[nodiscard]] std::vector<settled> release(std::span<const receipt> receipts);
  [[nodiscard]] std::vector<settled> release(transaction& tx, std::span<const receipt> receipts);

  /// The lease ends `lease` from now (1 ms to 365 days), whatever it was before. The receipt stays.
  [[nodiscard]] settled extend(const receipt& r, std::chrono::milliseconds lease);
  [[nodiscard]] settled extend(transaction& tx, const receipt& r, std::chrono::milliseconds lease);
  [[nodiscard]] std::vector<settled> extend(std::span<const receipt> receipts,
                                            std::chrono::milliseconds lease);
  [[nodiscard]] std::vector<settled> extend(transaction& tx, std::span<const receipt> receipts,
                                            std::chrono::milliseconds lease);

  /// Looks at up to `max` ready messages (1 to 10,000) in the order of takes, locking nothing. Of
  /// those that fell due or whose lease ended since the last take, only the first `max` by that
  /// time are considered.
  [[nodiscard]] std::vector<stored_message> peek(std::size_t max = 1) const;

  /// Pages through what is done or dead, by the time it finished.
  [[nodiscard]] std::vector<stored_message> list(retained which,
                                                 const tableq::page& page = {}) const;

  /// Makes dead messages ready again, with no attempts counted; their error history stays.
  /// @return how many of `ids` were dead and are ready now.
  std::size_t redrive(std::span<const message_id> ids);
  /// All dead messages, a thousand in each transaction.
  std::size_t redrive_all();

  /// Deletes done or dead messages by age, in small batches. @return how many.
  std::size_t purge(retained which, const purge_options& options = {});

  [[nodiscard]] claim_stats stats() const;

  /// The lease that takes of this handle use unless told otherwise.
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept;
  [[nodiscard]] int max_attempts() const noexcept;

 private:
  friend class database;
  using queue::queue;
};

}  // namespace tableq
