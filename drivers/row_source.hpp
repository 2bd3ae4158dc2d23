#pragma once

#include <soci/soci.h>

#include <ctime>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tableq/row.hpp>

namespace tableq::inline v0::drivers {

/// A value as SOCI's rows hold it; nothing for NULL.
using served_value =
    std::variant<std::monostate, std::string, long long, int, unsigned long long, double, std::tm>;

/// One column of a row that SOCI is to read.
struct served_column {
  std::string name;
  soci::data_type type = soci::dt_string;
  served_value value;  ///< Of that type, or NULL.
};

/// Lets SOCI read one row. The row lives in SOCI's own class, which only a statement can fill: so
/// this is a backend of SOCI without a database.
/// @throws whatever `read` throws, unchanged.
void serve_row(std::span<const served_column> columns,
               const std::function<void(const soci::values&)>& read);

/// The values that a to_base has set.
struct written_row {
  row named;               ///< Of the asked names, those that were set.
  std::size_t others = 0;  ///< The number of set values with another name, or without one.
};

/// Lets SOCI write one row: values are read and freed by a statement only.
/// @throws whatever `write` throws, unchanged; error errc::invalid_argument for a value of a type
///   that rows cannot hold.
written_row written_by(const std::function<void(soci::values&)>& write,
                       std::span<const std::string_view> names);

}  // namespace tableq::inline v0::drivers
