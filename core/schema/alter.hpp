#pragma once

#include <string_view>
#include <vector>

#include <tableq/queue_changes.hpp>

#include "core/database/database_state.hpp"

namespace tableq::inline v0::core {

/// Changes the stored options of a queue; database.hpp documents it. The dead-letter queue must be
/// there.
std::vector<option_change> alter_queue(database_state& database, std::string_view name,
                                       const queue_changes& changes, const alter_options& options);

}  // namespace tableq::inline v0::core
