#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string_view>

namespace tableq::inline v0::drivers {

/// Whether a database's sentence about a refused row names the index of a queue's keys, `mail_key`,
/// and the table, `mail`. The words between the names depend on the session's language.
[[nodiscard]] inline bool names_index_of_keys(std::string_view sentence) {
  constexpr std::string_view ending = "_key";
  const auto in_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  std::set<std::string_view> names;
  for (std::size_t at = 0; at < sentence.size();) {
    std::size_t end = at;
    while (end < sentence.size() && in_name(sentence[end])) ++end;
    names.insert(sentence.substr(at, end - at));
    at = end + 1;
  }
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return name.size() > ending.size() && name.ends_with(ending) &&
           names.contains(name.substr(0, name.size() - ending.size()));
  });
}

}  // namespace tableq::inline v0::drivers
