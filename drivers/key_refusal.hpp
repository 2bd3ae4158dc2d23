#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers {

/// The names in a database's sentence, between the dots. The words between them depend on the
/// session's language.
[[nodiscard]] inline std::set<std::string_view> names_in(std::string_view sentence) {
  const auto in_name = [](char c) {
    return c == '_' || c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  std::set<std::string_view> names;
  for (std::size_t at = 0; at < sentence.size();) {
    std::size_t end = at;
    while (end < sentence.size() && in_name(sentence[end])) ++end;
    names.insert(sentence.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

/// Whether a database's sentence about a refused row names the index of a queue's keys, `mail_key`,
/// and the table, `mail`.
[[nodiscard]] inline bool names_index_of_keys(std::string_view sentence) {
  constexpr std::string_view ending = "_key";
  const auto names = names_in(sentence);
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    if (!name.ends_with(ending)) return false;
    if (name.size() > ending.size()) {
      return names.contains(name.substr(0, name.size() - ending.size()));
    }
    return sentence.find("._key") != std::string_view::npos;  // Of a queue `mail.`.
  });
}

/// Whether a database's sentence about a refused row names the queue's table, or its primary key
/// `mail_pkey`: no other constraint of the table forbids equal values.
[[nodiscard]] inline bool names_id(const native_error& failure) {
  if (failure.link_lost || failure.table.empty()) return false;
  const auto names = names_in(failure.sentence);
  const std::string last = failure.table.substr(failure.table.rfind('.') + 1);
  return names.contains(last) || names.contains(last + "_pkey");
}

/// A row whose id the database has drawn itself.
inline constexpr verdict id_is_taken{
    errc::constraint_violated, advice::never,
    "the database drew an id that a message has, as after logical replication or INSERTs with ids; "
    "`tableq doctor` prints the statement that sets the next id"};

}  // namespace tableq::inline v0::drivers
