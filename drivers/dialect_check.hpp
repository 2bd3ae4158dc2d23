#pragma once

#include <map>
#include <string>

#include <tableq/dialect.hpp>

namespace tableq::drivers {

/// Checks that a dialect has all that core needs.
/// @throws error errc::invalid_argument naming what is missing or wrong.
void check_dialect(const dialect& added,
                   const std::map<std::string, std::string, std::less<>>& statements);

}  // namespace tableq::drivers
