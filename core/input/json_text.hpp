#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tableq::inline v0::core {

/// A value of a JSON text.
struct json_value {
  bool is_string = false;
  /// The content of a string. For any other value its JSON: without blanks, numbers as written, of
  /// any size.
  std::string text;
};

using json_members = std::vector<std::pair<std::string, json_value>>;

// Both read JSON as in RFC 8259, without recursion: any depth is allowed.

/// The members of an object in their order; a name may occur several times. Nothing unless the text
/// is exactly one object in UTF-8. Half of a surrogate pair in a name or a string is also refused.
std::optional<json_members> members_of(std::string_view json);

/// The elements of an array, each as its JSON without blanks; nothing unless the text is exactly
/// one array. Does not check for UTF-8.
std::optional<std::vector<std::string>> elements_of(std::string_view json);

}  // namespace tableq::inline v0::core
