#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/seam/value.hpp"

namespace tableq::inline v0::core {

/// Adds a key column's value to the key of a receipt: `i17;` for a number, `t5:hello` for a text of
/// five bytes. Any bytes are possible.
/// @return false for NULL, which no key has.
bool append_key(std::string& key, const cell& column);

/// The values of a key. Borrows the text.
/// @throws error errc::invalid_argument unless `append_key` has made it of so many columns.
std::vector<value> read_key(std::string_view key, std::size_t columns);

}  // namespace tableq::inline v0::core
