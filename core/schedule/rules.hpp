#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/schedules.hpp>
#include <tableq/schema.hpp>

#include "core/database/database_state.hpp"
#include "core/database/transaction_state.hpp"
#include "core/queue/queue_state.hpp"
#include "core/schedule/recurrence.hpp"
#include "core/seam/schedule_requests.hpp"

namespace tableq::inline v0::core {

/// When a rule is due.
struct timing {
  recurrence rule;
  time_zone zone;

  /// @throws error as both, and for neither or both of cron and interval.
  timing(const std::optional<std::string>& cron,
         const std::optional<std::chrono::milliseconds>& every, std::string_view in);

  /// The first time after this one; far in the future if there is none.
  [[nodiscard]] timestamp after(timestamp time) const;
};

/// The queue that a rule names.
/// @throws error errc::not_found, errc::unsupported for a table of the application.
std::shared_ptr<queue_state> target_of(database_state& database, std::string_view queue);

/// @throws error as schedules::add.
void check_rule(const schedule& rule, const queue_state& target);

/// Adds a rule's message, once for each time.
std::vector<enqueued> add_messages(const queue_state& queue, transaction_state& tx,
                                   std::string_view name, const periodic_row& message,
                                   std::span<const timestamp> times);

/// Follows the rules that are due, for `database_state::attended_by`.
upkeep make_rule_upkeep();

/// For doctor: rules that are not followed.
/// @param queues all of the catalogue.
std::vector<finding> inspect_rules(database_state& database, std::span<const queue_info> queues);

}  // namespace tableq::inline v0::core
