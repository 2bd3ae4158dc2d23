#pragma once

#include <string>

#include <tableq/export.hpp>
#include <tableq/table_mapping.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// A table of the application and its mapping, as a file or the catalogue keeps them.
struct table_definition {
  std::string table;           ///< The table's name, as `database::table` takes it.
  table_mapping mapping = {};  ///< The meaning of its columns.
};

/// The definition as JSON, for a file. Members with their default are left out.
///
///     {
///       "table": "EmailRequests",
///       "key": ["Id"],
///       "waiting": {"flag": "IsProcessed"},
///       "order": ["CreatedAt", {"column": "Id", "descending": true}],
///       "lease_until": "LockedUntil",
///       "lease_ms": 30000,
///       "done": {"null_time": "SentAt"},
///       "completed": "mark"
///     }
///
/// The members have the names and meanings of `table_mapping`, `lease` in milliseconds as
/// `lease_ms`. A state is `{"flag": column}`, with numbers as `waiting` and `taken` if they are not
/// 0 and 1; `{"null_time": column}`; or `{"states": column, "waiting": ..., "taken": ...}`, with
/// `done` and `dead` if there are such states.
TABLEQ_EXPORT std::string to_json(const table_definition& definition);

/// Reads what `to_json` writes. The database is not asked: `database::table` checks the columns.
/// @throws error errc::invalid_argument for a text that is no JSON object, a member that a mapping
///   does not have, and a member of the wrong type; it names the member.
TABLEQ_EXPORT table_definition parse_table_definition(text_view json);

}  // namespace tableq::inline v0
