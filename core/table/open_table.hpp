#pragma once

#include <memory>
#include <string_view>

#include <tableq/table_mapping.hpp>

#include "core/queue/queue_state.hpp"

namespace tableq::inline v0::core {

/// Finds a table of the application and checks its mapping. Changes nothing.
/// @param queue_name of the queue; empty: that of the table.
/// @throws error as database::table.
std::shared_ptr<queue_state> open_table(const std::shared_ptr<database_state>& database,
                                        std::string_view name, const table_mapping& mapping,
                                        std::string_view queue_name = {});

}  // namespace tableq::inline v0::core
