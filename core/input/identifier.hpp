#pragma once

#include <cstdint>
#include <string_view>

#include <tableq/options.hpp>
#include <tableq/schema.hpp>

#include "core/seam/driver.hpp"

namespace tableq::inline v0::core {

/// @throws error errc::invalid_argument unless the name satisfies the rules of database.hpp, also
///   with the prefix.
void check_queue_name(std::string_view name, std::string_view prefix = {});

/// The same, as a result.
bool good_queue_name(std::string_view name, std::string_view prefix) noexcept;

/// Checks table_prefix and schema_name.
/// @param schemas whether the database has schemas.
/// @throws error errc::invalid_argument, errc::unsupported.
void check_places(const open_options& options, bool schemas);

/// Checks a schema name that the database returned: texts put it in quotes, also within literals.
/// @throws error errc::unsupported.
void check_found_schema(std::string_view name);

/// The names of a queue's tables.
/// @param queue empty: the catalogue's own statements.
/// @param identity of the queue; zero: any queue with that name.
table_names names_for(const open_options& options, std::string_view queue,
                      std::int64_t identity = 0);

/// The names of a queue's tables, for its own statements and its DDL.
table_names names_of(const open_options& options, const queue_info& queue);

}  // namespace tableq::inline v0::core
