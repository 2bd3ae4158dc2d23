#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <tableq/table_mapping.hpp>

#include "core/database/database_state.hpp"
#include "core/queue/queue_state.hpp"
#include "core/table/indexes.hpp"
#include "core/table/layout.hpp"

namespace tableq::inline v0::core {

/// Asks the database for a table of the application.
/// @param schema empty: where the session looks.
/// @throws error errc::not_found, errc::invalid_argument for a view, or when several tables have
///   names that differ in case; errc::unsupported when the database cannot return changed rows.
table_description describe(database_state& database, std::string_view schema,
                           std::string_view table);

/// Asks the database for the indexes of a table that it has described.
std::vector<table_index> indexes_of(database_state& database, const table_description& table);

/// Finds a table of the application and checks its mapping. Changes nothing.
/// @param queue_name of the queue; empty: that of the table.
/// @throws error as database::table.
std::shared_ptr<queue_state> open_table(const std::shared_ptr<database_state>& database,
                                        std::string_view name, const table_mapping& mapping,
                                        std::string_view queue_name = {});

}  // namespace tableq::inline v0::core
