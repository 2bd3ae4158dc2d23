#pragma once

#include <type_traits>

#include <tableq/transaction.hpp>

#include "core/database/transaction_state.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/named.hpp"

namespace tableq::core {

/// Runs `work()` as one operation of a queue: it has the transaction to itself, and what it throws
/// names it. A handle whose queue was dropped does nothing.
/// @param tx null: a unit of work of our own. @param as what it is called.
template <class Work>
auto operation(const queue_state& of, transaction* tx, statement as, Work work)
    -> std::invoke_result_t<Work&> {
  return named(of.database().name(), contract_of(as).name, [&] {
    const auto checked = [&] {
      return explained(of, tx, [&] {
        confirm(of, tx, as);
        return work();
      });
    };
    if (tx == nullptr) return checked();
    const transaction_state::use mine(tx->state());
    return checked();
  });
}

}  // namespace tableq::core
