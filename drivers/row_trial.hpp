#pragma once

#include <soci/soci.h>

#include <array>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <tableq/row.hpp>

#include "drivers/row_source.hpp"

namespace tableq::inline v0::drivers {

/// The types that rows of SOCI hold; the first is the one to begin with.
using candidate_types = std::array<soci::data_type, 6>;

/// The order in which they are tried for a column.
candidate_types candidates_of(column_type type) noexcept;

/// The value of a column, as a row of SOCI holds it.
/// @throws error errc::invalid_argument when it is not of the type.
served_value value_as(const row& source, std::string_view column, soci::data_type type);

/// For a trial with a type that the value does not have.
served_value empty_value(soci::data_type type);

/// How a from_base ended.
struct ending {
  enum class kind {
    done,
    wrong_type,       ///< It asks for a column as another type than SOCI's row holds.
    no_such_name,     ///< It asks for a column that SOCI's row has not.
    no_such_place,    ///< The same, by position.
    refused_by_soci,  ///< SOCI refuses a value, such as a NULL.
    foreign           ///< It threw an exception of its own.
  };
  kind how = kind::done;
  std::string name;           ///< For no_such_name.
  std::exception_ptr thrown;  ///< But for done.
};

using from_base_function = std::function<void(const soci::values&)>;

/// Lets from_base read the columns.
ending try_columns(std::span<const served_column> columns, const from_base_function& from_base);

}  // namespace tableq::inline v0::drivers
