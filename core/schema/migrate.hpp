#pragma once

#include <vector>

#include <tableq/schema.hpp>

#include "core/database/database_state.hpp"

namespace tableq::inline v0::core {

/// @throws error as documented at database::migrate.
std::vector<migration_step> migrate(database_state& database, const migrate_options& options);

}  // namespace tableq::inline v0::core
