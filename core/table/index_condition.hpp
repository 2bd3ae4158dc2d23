#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/seam/table_form.hpp"

namespace tableq::inline v0::core {

/// Takes the condition of an index apart, as the database prints it: terms that AND joins.
/// @return each term as the column's number and `=0`, `=false`, ` is null` or ` is not null`; empty
///   when a part of the condition has another form.
std::optional<std::set<std::string>> condition_terms(std::string_view text,
                                                     const std::vector<table_column>& columns);

/// The term that a column is not NULL.
std::string not_null_term(std::size_t column);

}  // namespace tableq::inline v0::core
