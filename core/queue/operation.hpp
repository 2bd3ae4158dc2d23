#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <tableq/queue.hpp>

#include "core/base/errors.hpp"
#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/contract.hpp"

namespace tableq::inline v0::core {

/// The transaction to which a handle is bound; null if there is none.
/// @throws error errc::invalid_argument when it is gone, in a child of the handle's process, or
///   when the thread is in a transaction of `transact` and the handle is not bound to it.
inline std::shared_ptr<transaction_state> transaction_of(const queue& handle, statement id,
                                                         beside work) {
  const database_state& database = access::state_of(handle).database();
  return named(database.name(), contract_of(id).name, [&]() -> std::shared_ptr<transaction_state> {
    database.check_here();
    if (!access::is_bound(handle)) {
      check_beside(database, work, access::is_outside(handle));
      return nullptr;
    }
    auto tx = access::transaction_of(handle);
    if (!tx)
      refuse(
          "the transaction or enlistment of this handle is gone: keep it as long as the handle, or "
          "make another handle with in(tx)");
    return tx;
  });
}

/// One operation of a queue. No other thread uses its transaction meanwhile.
class queue_operation {
 public:
  /// @param tx null: the operation has its own unit of work. @param id the statement that names the
  ///   operation.
  queue_operation(const queue_state& queue, transaction_state* tx, statement id)
      : queue_(queue), tx_(tx), id_(id) {}
  /// On a handle, in the transaction that it is bound to.
  queue_operation(const queue& handle, statement id)
      : queue_(access::state_of(handle)),
        bound_(transaction_of(handle, id, beside::operation)),
        tx_(bound_.get()),
        id_(id) {}

  /// @throws error when the handle's queue was dropped.
  const queue_state& begin() {
    if (tx_ != nullptr) {
      mine_.emplace(*tx_);
      tx_->check_open();
    }
    // Checks the queue if this process has not seen it for a while.
    if (tx_ == nullptr || !tx_->enlisted()) static_cast<void>(limits_now(queue_, tx_));
    return queue_.current(tx_ == nullptr);
  }
  [[nodiscard]] transaction_state* tx() const noexcept { return tx_; }
  /// Throws the failure that is being handled in the name of the operation.
  [[noreturn]] void fail(const error& failure) const {
    throw_explained(queue_, tx_, contract_of(id_).name, failure);
  }

 private:
  const queue_state& queue_;
  const std::shared_ptr<transaction_state> bound_;
  transaction_state* tx_;
  statement id_;
  std::optional<transaction_state::use> mine_;  // until the error, if any, has its name
};

/// Runs `work(const queue_state&, transaction_state*, given...)` as one operation.
template <class Work, class... Given>
auto operation(queue_operation one, Work work, const Given&... given) {
  try {
    const queue_state& queue = one.begin();
    return work(queue, one.tx(), given...);
  } catch (const error& failure) {
    one.fail(failure);
  }
}
template <class Work, class... Given>
auto operation(const queue& handle, statement id, Work work, const Given&... given) {
  return operation(queue_operation(handle, id), work, given...);
}

/// Refuses a handle that is bound to a transaction, or that the thread's transaction excludes.
inline const queue_state& outside(const queue& handle, statement id) {
  const queue_state& queue = access::state_of(handle);
  const beside sort = contract_of(id).writes ? beside::change : beside::read_only;
  const auto refused = [&] {
    if (transaction_of(handle, id, sort) == nullptr) return;
    refuse(
        "this is not done inside a transaction: call it before or after, or on queue.outside(), "
        "not on queue.in(tx)");
  };
  named(queue.database().name(), contract_of(id).name, refused);
  return queue;
}

/// The same for `work(const queue_state&, given...)`, which begins its own transactions, or needs
/// none.
template <class Work, class... Given>
auto operation_outside(const queue& handle, statement id, Work work, const Given&... given) {
  const queue_state& queue = outside(handle, id);
  return operation(queue_operation(queue, nullptr, id),
                   [&](const queue_state& now, transaction_state*) { return work(now, given...); });
}

/// Passes a message to the thread that stores messages of this handle. Asks the database nothing:
/// the caller does not wait for it.
/// @param prepare(queue, payload) checks the message, and returns its options.
/// @param store(queue, transaction, items) stores messages.
template <class Result, class Prepare, class Store>
void write_later(const queue& handle, statement id, std::string payload,
                 std::function<void(outcome<Result>)> done, Prepare prepare, Store store) {
  using writer =
      async_writer<std::invoke_result_t<Prepare&, const queue_state&, std::string_view>, Result>;
  const queue_state& queue = outside(handle, id);
  named(queue.database().name(), contract_of(id).name, [&] {
    auto options = prepare(queue, payload);
    const auto store_all = [&queue, id, store](std::span<const typename writer::item> items) {
      return operation(queue_operation(queue, nullptr, id), store, items);
    };
    queue.writing<writer>(store_all).add({std::move(payload), std::move(options), std::move(done)});
  });
}

}  // namespace tableq::inline v0::core
