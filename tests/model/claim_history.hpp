#pragma once

#include <chrono>
#include <vector>

#include <tableq/tableq.hpp>

#include "model/history.hpp"

namespace tableq_test {

enum class claim_deed { put, take, complete, fail, release, extend };

/// One message in one call on a `claim` queue.
struct claim_event {
  claim_deed what = claim_deed::put;
  tableq::message_id id = {};
  std::int64_t fence = 0;  ///< Of the receipt that was given or got; nothing for a put.
  int attempt = 0;         ///< As a take told it.
  int group = 0;           ///< Of a put; zero: none.
  /// Of a take or extend: how long from some moment within the call.
  std::chrono::milliseconds lease{0};
  tableq::settle_result result = tableq::settle_result::applied;
  span when = {};
};
using claim_history = std::vector<claim_event>;

/// Holds a history against the promises about fences and leases, for queues whose messages do not
/// die: never two live leases on one message; receipts settle once, and only until a later take;
/// what is completed never comes again; attempts rise with each take, but for one that was
/// released; no settlement is refused without a reason. What was taken and rolled back is left out.
/// @param complete each message that was put was completed
[[nodiscard]] complaint check_claims(const claim_history& all, bool complete);

/// Messages of one group are handed out one after the other, and in the order of their ids, for
/// groups whose limit is one and that are held back by a failure: none is handed out before an
/// earlier one was completed. Of two that were put at the same time neither is the earlier one.
[[nodiscard]] complaint check_groups(const claim_history& all);

}  // namespace tableq_test
