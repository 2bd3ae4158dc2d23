#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tableq_test {

/// The mistakes that `with_mistake` knows.
std::vector<std::string> mistakes();

/// The statements of a dialect with a mistake in them; empty if they have no text for it.
std::optional<std::string> with_mistake(const std::string& statements, const std::string& mistake);

}  // namespace tableq_test
