#pragma once

#include <functional>
#include <optional>
#include <string>

#include <tableq/claim_queue.hpp>
#include <tableq/limits.hpp>

#include "format.hpp"

namespace tool {

/// The text that was given for a limit, by its name; empty: the limit stays. `none` removes it.
using given_limits = std::function<std::optional<std::string>(const std::string& name)>;

/// Given limits replace stored ones; removing a rate removes its burst.
/// @param prefix of the names in errors: `--`.
/// @throws usage_error
tableq::queue_limits changed(tableq::queue_limits limits, const std::string& prefix,
                             const given_limits& given);
tableq::group_limits changed(tableq::group_limits limits, const std::string& prefix,
                             const given_limits& given);

/// The group's own limits; none if it has those of the others.
tableq::group_limits limits_of(const tableq::claim_queue& queue, const std::string& group);

/// Null: no limit.
json limits_json(const tableq::queue_limits& limits);
json limits_json(const tableq::group_limits& limits);

}  // namespace tool
