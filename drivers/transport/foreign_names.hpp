#pragma once

#include <string_view>

#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers {

/// Takes the place of a sentence that may hold data.
inline constexpr std::string_view trigger_failed =
    "a trigger or function of the database failed; the database's log may have its words";

/// Throws if a failure names something that its statement does not name. Then a trigger's own
/// statement has failed, and the name may be data: `EXECUTE format('... %I', NEW.payload)`.
///
/// Names are what stands in quotation marks, what SQLite says to be missing, and functions. SQL
/// Server is left out: a table with triggers takes no statement of tableq.
/// @throws native_failure with trigger_failed.
void refuse_foreign_name(const native_error& failure, std::string_view statement);

}  // namespace tableq::inline v0::drivers
