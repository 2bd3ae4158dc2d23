#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <tableq/batch_options.hpp>
#include <tableq/claim_options.hpp>
#include <tableq/claim_queue.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>

namespace tableq::inline v0 {

/// A batch of messages in queues with claim_options::batches. When it is sealed and each of its
/// messages is completed, dead or removed, it ends: the message of batch_options::then is added,
/// once. docs/batches.md has the rules.
///
/// A handle, made by `claim_queue::begin_batch` and `database::batch`. Shares the sessions of its
/// database. Transactions and the errors of every operation: see `queue`. The batch that
/// `q.in(tx).begin_batch()` returns is bound to `tx` as `q.in(tx)` is: it is there when `tx`
/// commits, and after the end of `tx` use `database::batch` with its id.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class TABLEQ_EXPORT batch {
 public:
  /// The id, to be stored or passed on.
  [[nodiscard]] std::int64_t id() const noexcept { return id_; }
  /// For claim_enqueue_options::batch.
  // NOLINTNEXTLINE(google-explicit-constructor): `{.batch = b}`
  operator batch_id() const noexcept { return {.value = id_}; }

  /// A handle of this batch inside the transaction; see `queue`.
  [[nodiscard]] batch in(transaction& tx) const noexcept { return {through_.in(tx), id_}; }
  [[nodiscard]] batch in(const enlistment& joined) const noexcept {
    return {through_.in(joined), id_};
  }
  /// A handle of this batch for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] batch outside() const noexcept { return {through_.outside(), id_}; }

  /// All messages are added. An empty batch ends now; a sealed one stays as it is.
  /// @throws error errc::invalid_argument when there is no such batch.
  void seal();
  /// Seals the batch and removes its messages that wait, in several transactions; batches in it are
  /// cancelled too. The stop tokens of handlers that run are triggered when their worker extends
  /// the lease next; what they do with their messages counts. The batch ends as usual.
  /// @return false: it has ended, or there is no such batch.
  bool cancel();
  /// Empty: there is no such batch, or it ended over 30 days ago. Counts the members of an open
  /// batch that are not completed.
  [[nodiscard]] std::optional<batch_info> get() const;

 private:
  friend class claim_queue;
  friend class database;
  batch(claim_queue through, std::int64_t id) noexcept : through_(std::move(through)), id_(id) {}

  claim_queue through_;
  std::int64_t id_;
};

}  // namespace tableq::inline v0
