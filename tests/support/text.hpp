#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tableq_test {

/// Percent-encodes all characters except letters, digits, `-`, `.`, `_` and `~`.
std::string percent_encoded(std::string_view plain);
/// Two lower-case digits for each byte.
std::string hex(std::string_view bytes);
/// Letters and digits that no other call on this machine returns: process, counter, random.
std::string unique_name();
std::string replaced(std::string text, std::string_view from, std::string_view to);
/// Puts `marker(name)` in place of each `:name`; strings, quoted names and `::` stay unchanged.
std::string with_markers(std::string_view text,
                         const std::function<std::string(const std::string&)>& marker);
bool contains(std::string_view text, std::string_view part);

}  // namespace tableq_test
