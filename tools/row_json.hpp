#pragma once

#include <string>

#include <tableq/row.hpp>

namespace tool {

/// A row of an application's table as one JSON object on one line, its columns in their order.
///
/// Integers and booleans are JSON's own. A number has all its digits; one that JSON does not have,
/// such as NaN, is text. Times are ISO 8601 in UTC. Bytes, and text that is not UTF-8, are base64
/// in a member with `_base64` after the column's name.
std::string row_json(const tableq::row& row);

}  // namespace tool
