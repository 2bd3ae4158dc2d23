#pragma once

#include <memory>
#include <utility>

#include <tableq/database.hpp>
#include <tableq/enlistment.hpp>
#include <tableq/handled.hpp>
#include <tableq/queue.hpp>
#include <tableq/table_queue.hpp>
#include <tableq/transaction.hpp>

namespace tableq::inline v0::core {

/// Gives core access to the handles of the public headers. Their only friend.
class access {
 public:
  [[nodiscard]] static database_state& state_of(const database& handle) noexcept {
    return *handle.state_;
  }
  [[nodiscard]] static database make(std::shared_ptr<database_state> state) noexcept {
    return database(std::move(state));
  }

  [[nodiscard]] static queue_state& state_of(const queue& handle) noexcept {
    return *handle.state_;
  }
  [[nodiscard]] static const std::shared_ptr<queue_state>& shared_state_of(
      const queue& handle) noexcept {
    return handle.state_;
  }
  [[nodiscard]] static claim_queue claims_of(std::shared_ptr<queue_state> state) noexcept {
    claim_queue out(std::move(state));
    return out;
  }
  /// Works where the other handle does.
  static void bind_as(queue& handle, const queue& other) noexcept {
    handle.in_ = other.in_;
    handle.outside_ = other.outside_;
  }
  /// The same rows with the operations of a worker.
  [[nodiscard]] static claim_queue claims_of(const table_queue& handle) noexcept {
    claim_queue out(handle.state_);
    out.in_ = handle.in_;
    out.outside_ = handle.outside_;
    return out;
  }
  [[nodiscard]] static bool is_bound(const queue& handle) noexcept {
    return handle.in_.has_value();
  }
  /// Whether the caller asked for work outside of the thread's transaction.
  [[nodiscard]] static bool is_outside(const queue& handle) noexcept { return handle.outside_; }
  /// The transaction to which a handle is bound; null when it has been destroyed.
  [[nodiscard]] static std::shared_ptr<transaction_state> transaction_of(const queue& handle) {
    return handle.in_->lock();
  }

  /// Null in a handle that was moved from.
  [[nodiscard]] static const std::shared_ptr<transaction_state>& state_of(
      const transaction& handle) noexcept {
    return handle.state_;
  }
  [[nodiscard]] static const std::shared_ptr<transaction_state>& state_of(
      const enlistment& handle) noexcept {
    return handle.joined_.state_;
  }
  [[nodiscard]] static transaction make(std::shared_ptr<transaction_state> state) noexcept {
    return transaction(std::move(state));
  }
  /// The keeper of the message. Null: the verdict is another one.
  [[nodiscard]] static const std::shared_ptr<kept_state>& keeper_of(
      const handled& verdict) noexcept {
    return verdict.keeper_;
  }
  [[nodiscard]] static enlistment join(transaction joined) noexcept {
    return enlistment(std::move(joined));
  }
};

}  // namespace tableq::inline v0::core
