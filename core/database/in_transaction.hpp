#pragma once

#include "core/database/transaction_state.hpp"
#include "core/session/retry.hpp"

namespace tableq::inline v0::core {

/// Runs `work(transaction_state&)` in the caller's transaction. If there is none, runs it in a new
/// transaction, which is repeated if that is safe.
template <class Work>
auto in_one_transaction(database_state& database, transaction_state* tx, Work work) {
  if (tx != nullptr) return tx->as_unit([&] { return work(*tx); });
  return database.observed({.name = "transact", .backend = database.name()},
                           [&](const observation& observing) {
                             return repeating(
                                 database.options().retry_for, contact::known,
                                 [&] {
                                   const auto own = begin_transaction(database.shared_from_this());
                                   auto result = work(*own);
                                   own->commit();
                                   return result;
                                 },
                                 &observing);
                           });
}

}  // namespace tableq::inline v0::core
