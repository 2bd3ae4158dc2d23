#pragma once

#include <type_traits>

#include <tableq/error.hpp>

namespace tableq::inline v0::core {

class database_state;
class transaction_state;

/// If the call waited for a lock that another transaction of its own thread may hold, throws an
/// error that says so, and what to do.
/// @param tx the transaction of the call; null: none.
void explain_busy(const database_state& database, const transaction_state* tx,
                  const error& failure);

/// Runs `work()`, which uses a session of tableq, and calls `explain_busy` for its errors.
template <class Work>
auto with_busy_explained(const database_state& database, Work work) -> std::invoke_result_t<Work&> {
  try {
    return work();
  } catch (const error& failure) {
    explain_busy(database, nullptr, failure);
    throw;
  }
}

}  // namespace tableq::inline v0::core
