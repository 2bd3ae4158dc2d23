#pragma once

#include "core/database/transaction_state.hpp"
#include "core/session/retry.hpp"

namespace tableq::inline v0::core {

/// Runs `work(transaction_state&)`: in the caller's transaction, or in one of ours, that is begun
/// anew and repeated as far as that is safe.
template <class Work>
auto in_one_transaction(database_state& in, transaction_state* tx, Work work) {
  if (tx != nullptr) return work(*tx);
  return in.observed({.name = "transact", .backend = in.name()}, [&](const observation& told) {
    return repeating(
        in.options().retry_for, contact::known,
        [&] {
          const auto own = begin_transaction(in.shared_from_this());
          auto result = work(*own);
          own->commit();
          return result;
        },
        &told);
  });
}

}  // namespace tableq::inline v0::core
