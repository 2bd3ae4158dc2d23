#pragma once

#include <string>

#include <tableq/message.hpp>
#include <tableq/row.hpp>

namespace tool {

/// A row of an application's table as one JSON object on one line, its columns in their order.
///
/// Integers and booleans are JSON's own. A number has all its digits; one that JSON does not have,
/// such as NaN, is text. Times are ISO 8601 in UTC. Bytes, and text that is not UTF-8, are base64
/// in a member with `_base64` after the column's name.
std::string row_json(const tableq::row& row);

/// A message that was taken, as one JSON object on one line: its receipt, its payload as
/// `with_payload` has it, and all else; or `row` for a row of an application's table.
/// @param from its queue; empty: not shown.
std::string delivery_json(const tableq::delivery& taken, const std::string& from = {});

}  // namespace tool
