#pragma once

#include <string>
#include <vector>

#include <tableq/schema.hpp>

#include "core/database/database_state.hpp"
#include "core/table/mapped_table.hpp"

namespace tableq::inline v0::core {

/// The SQL of the indexes that a mapping needs and its table lacks, as `table_queue::ddl`.
std::string missing_indexes(database_state& database, const mapped_table& table);

/// As `table_queue::inspect`.
std::vector<finding> inspect(database_state& database, const mapped_table& table);

}  // namespace tableq::inline v0::core
