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
  std::int64_t fence = 0;  ///< Of the given or returned receipt; none for a put.
  int attempt = 0;         ///< As returned by a take.
  int group = 0;           ///< Of a put; zero: none.
  /// Of a take or extend: how long from some moment within the call.
  std::chrono::milliseconds lease{0};
  tableq::settle_result result = tableq::settle_result::applied;
  span when = {};
};
using claim_history = std::vector<claim_event>;

/// Checks a history against the promises about fences and leases, for queues whose messages do not
/// die. There are never two live leases on one message. Receipts settle once, and only until a
/// later take. A completed message never comes again. Attempts grow with each take, except after a
/// release. No settlement is refused without a reason. Takes that were rolled back are ignored.
/// @param complete each message that was put was completed
[[nodiscard]] complaint check_claims(const claim_history& all, bool complete);

/// Messages of one group are handed out one after the other, in the order of their ids, for groups
/// with the limit one and group_policy::hold: none is handed out before an earlier one was
/// completed. Of two messages that were put at the same time neither is earlier.
[[nodiscard]] complaint check_groups(const claim_history& all);

/// Groups take turns: of two messages the one that became ready earlier is handed out first. For
/// messages of one priority, of which nobody takes some and returns them, and groups of which each
/// message was put after the one before.
[[nodiscard]] complaint check_turns(const claim_history& all);

}  // namespace tableq_test
