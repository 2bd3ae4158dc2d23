#pragma once

#include <memory>
#include <type_traits>

#include <tableq/queue.hpp>

#include "core/database/access.hpp"
#include "core/database/transact_scope.hpp"
#include "core/database/transaction_state.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/named.hpp"

namespace tableq::inline v0::core {

/// Runs `work()` as one operation of a queue: it has the transaction to itself, and what it throws
/// names it. A handle whose queue was dropped does nothing.
/// @param tx null: a unit of work of our own. @param as what it is called.
template <class Work>
auto operation(const queue_state& of, transaction_state* tx, statement as, Work work)
    -> std::invoke_result_t<Work&> {
  return named(of.database().name(), contract_of(as).name, [&] {
    const auto checked = [&] {
      return explained(of, tx, [&] {
        confirm(of, tx, as);
        return work();
      });
    };
    if (tx == nullptr) return checked();
    const transaction_state::use mine(*tx);
    tx->check_open();
    return checked();
  });
}

/// The transaction that a handle is bound to. Null: none.
/// @throws error errc::invalid_argument when it is gone, in a child of the handle's process, or
///   where none is forgotten in a transaction of the thread.
inline std::shared_ptr<transaction_state> transaction_of(const queue& on, statement as,
                                                         beside work) {
  const database_state& in = access::state_of(on).database();
  return named(in.name(), contract_of(as).name, [&]() -> std::shared_ptr<transaction_state> {
    in.check_here();
    if (!access::is_bound(on)) {
      check_beside(in, work, access::is_outside(on));
      return nullptr;
    }
    auto tx = access::transaction_of(on);
    if (!tx) refuse("the transaction of this handle is gone: make another handle with in(tx)");
    return tx;
  });
}

/// Runs `work(const queue_state&, transaction_state*)` as one operation on a handle, in the
/// transaction that it is bound to.
template <class Work>
auto operation(const queue& on, statement as, Work work)
    -> std::invoke_result_t<Work&, const queue_state&, transaction_state*> {
  const queue_state& of = access::state_of(on);
  const std::shared_ptr<transaction_state> tx = transaction_of(on, as, beside::operation);
  return operation(of, tx.get(), as, [&] { return work(of, tx.get()); });
}

/// The same for `work(const queue_state&)`, which has transactions of its own, or needs none.
template <class Work>
auto operation_outside(const queue& on, statement as, Work work)
    -> std::invoke_result_t<Work&, const queue_state&> {
  const queue_state& of = access::state_of(on);
  const beside sort = contract_of(as).writes ? beside::change : beside::look;
  const auto refused = [&] {
    if (transaction_of(on, as, sort) == nullptr) return;
    refuse(
        "this is not done inside a transaction: call it before or after, or on queue.outside(), "
        "not on queue.in(tx)");
  };
  named(of.database().name(), contract_of(as).name, refused);
  return operation(of, nullptr, as, [&] { return work(of); });
}

}  // namespace tableq::inline v0::core
