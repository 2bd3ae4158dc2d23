#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/message.hpp>

#include "core/claim/operations.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/statement.hpp"

namespace tableq::inline v0::core {

/// A settlement that a take may join.
struct joint_settlement {
  statement id;           ///< claim_complete, claim_fail or claim_release.
  std::size_t given = 0;  ///< Receipts.
  /// Runs it in the transaction. May run again after a failure, and in another thread.
  std::function<std::vector<settle_result>(transaction_state&)> run;
};

/// The outcome of a settlement and a take in one unit of work.
struct settled_and_taken {
  std::vector<settle_result> settled = {};
  std::vector<delivery> taken = {};
  take_course course = {};
  /// Messages that cannot be delivered are leased, and could not be made dead.
  std::optional<error> trouble = {};
};

/// Settles, and takes messages that are ready, in one unit of work. Leaves due and expired messages
/// to `take`: if it is time to ask for them, it takes nothing while one is due. An observer sees
/// the settlement, with the time of both, and then the take.
/// @return empty: nothing was done, because the queue has limits, which only `take` respects.
std::optional<settled_and_taken> settle_and_take(const queue_state& queue,
                                                 const joint_settlement& settlement,
                                                 std::size_t max, std::chrono::milliseconds lease);

}  // namespace tableq::inline v0::core
