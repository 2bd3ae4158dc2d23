#pragma once

#include <string>
#include <string_view>

#include <tableq/queue_changes.hpp>
#include <tableq/schema.hpp>

namespace tableq::inline v0::core {

/// Checks settings against their kind, and sets empty ones to the documented defaults.
/// @throws error errc::invalid_argument.
queue_info settle_options(std::string_view name, const queue_settings& settings);

/// The text of the catalogue's column `options`: JSON for a table of the application; else
/// `lease_ms=30000 max_attempts=5 keep=0`, and with retry delays `retry_ms=1000,2000,4000
/// jitter=20`.
std::string encode_options(const queue_info& info);

/// Reads it back into `info`, whose kind must be set.
/// @throws error errc::schema_too_new for an option that this version does not know;
///   errc::schema_mismatch for the definition of a table that cannot be read.
void decode_options(std::string_view text, queue_info& info);

/// Whether reads of a queue with these options are occasions for the work of other rooms.
[[nodiscard]] inline bool needs_upkeep(const queue_info& info) noexcept {
  return info.schedules || info.group_limits || info.batches || info.batch_ends;
}

/// The options of a handle: the stored ones, except given ones.
/// @throws error errc::kind_mismatch for another kind, errc::options_mismatch for another value of
///   a fixed option.
queue_info merge_options(const queue_info& stored, const queue_settings& given);

/// The same without the checks, after another process has changed the stored ones.
queue_info with_given(const queue_info& stored, const queue_settings& given);

/// The stored options with these changes.
/// @throws error errc::invalid_argument; errc::options_mismatch for what a queue keeps for its
/// life.
queue_info changed_options(const queue_info& stored, const queue_changes& changes);

}  // namespace tableq::inline v0::core
