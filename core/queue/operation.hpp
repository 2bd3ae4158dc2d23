#pragma once

#include <memory>
#include <optional>
#include <type_traits>

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

/// Runs `work(const queue_state&, transaction_state*)` as one operation of a queue. No other thread
/// uses the transaction meanwhile, and errors name the operation. If the handle's queue was
/// dropped, `work` is not called.
/// @param tx null: the operation has its own unit of work. @param id the statement that names the
///   operation.
template <class Work>
auto operation(const queue_state& queue, transaction_state* tx, statement id, Work work)
    -> std::invoke_result_t<Work&, const queue_state&, transaction_state*> {
  std::optional<transaction_state::use> mine;  // until the error, if any, has its name
  try {
    if (tx != nullptr) {
      mine.emplace(*tx);
      tx->check_open();
    }
    // Checks the queue if this process has not seen it for a while.
    if (tx == nullptr || !tx->enlisted()) static_cast<void>(limits_now(queue, tx));
    return work(queue.current(tx == nullptr), tx);
  } catch (const error& failure) {
    throw_explained(queue, tx, contract_of(id).name, failure);
  }
}

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

/// The same on a handle, in the transaction that it is bound to.
template <class Work>
auto operation(const queue& handle, statement id, Work work)
    -> std::invoke_result_t<Work&, const queue_state&, transaction_state*> {
  const queue_state& queue = access::state_of(handle);
  const std::shared_ptr<transaction_state> tx = transaction_of(handle, id, beside::operation);
  return operation(queue, tx.get(), id, work);
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

/// The same for `work(const queue_state&)`, which begins its own transactions, or needs none.
template <class Work>
auto operation_outside(const queue& handle, statement id, Work work)
    -> std::invoke_result_t<Work&, const queue_state&> {
  const queue_state& queue = outside(handle, id);
  return operation(queue, nullptr, id,
                   [&](const queue_state& now, transaction_state*) { return work(now); });
}

}  // namespace tableq::inline v0::core
