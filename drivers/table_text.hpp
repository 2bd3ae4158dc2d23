#pragma once

#include <string>
#include <string_view>

#include "core/seam/table_form.hpp"
#include "drivers/blocks.hpp"

namespace tableq::inline v0::drivers {

/// Fills a template of a dialect's tables.sql with a statement on an application's table. Names are
/// quoted; everything else is the dialect's own text.
/// @param one the text is for one item, whose values are parameters; otherwise they are columns of
///   `given`.
/// @throws error errc::invalid_argument when the templates lack a block that the statement needs.
std::string fill_table(std::string_view text, const blocks& templates,
                       const core::table_form& statement, bool one);

}  // namespace tableq::inline v0::drivers
