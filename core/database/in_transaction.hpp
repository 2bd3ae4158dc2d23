#pragma once

#include <memory>
#include <utility>

#include <tableq/transaction.hpp>

#include "core/database/transaction_state.hpp"
#include "core/session/retry.hpp"

namespace tableq::core {

/// Runs `work(transaction&)`: in the caller's transaction, or in one of ours, that is begun anew
/// and repeated as far as that is safe.
template <class Work>
auto in_one_transaction(database_state& in, transaction* tx, Work work) {
  if (tx != nullptr) return work(*tx);
  return in.observed({.name = "transact", .backend = in.name()}, [&](const observation& told) {
    return repeating(
        in.options().retry_for, contact::known,
        [&] {
          transaction own(std::make_unique<transaction_state>(in.shared_from_this()));
          auto result = work(own);
          own.commit();
          return result;
        },
        &told);
  });
}

}  // namespace tableq::core
