#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/schema.hpp>

#include "core/database/database_state.hpp"

namespace tableq::inline v0::core {

/// The layouts that this version reads and writes. Stored; a change of a table makes it one more.
inline constexpr int catalog_layout = 1;
inline constexpr int queue_layout = 1;

/// Random, so that no two queues of one name have the same.
std::int64_t new_identity();

/// Opens a queue, or creates it if the database's policy allows.
/// @return the stored options, except those that the settings give.
/// @throws error as database::fifo and its sisters document.
queue_info open_queue(database_state& in, std::string_view name, const queue_settings& settings);

/// When a database is opened: finds the schema of its catalogue, and looks at its layout.
/// @throws error errc::schema_too_new; errc::unsupported for a schema whose name is not to be
/// quoted.
void check_catalog(database_state& in);
std::vector<queue_info> list_queues(database_state& in);
std::optional<queue_info> find_queue(database_state& in, std::string_view name);
bool drop_queue(database_state& in, std::string_view name);
std::vector<finding> inspect(database_state& in);

}  // namespace tableq::inline v0::core
