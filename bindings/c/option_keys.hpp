#pragma once

/// @file
/// How a key of options stores its value in a member of the C++ options.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "call.hpp"
#include "options.hpp"

namespace tableq_c {

/// A value for a key. Borrows its text.
struct value {
  int type = TQ_TYPE_NULL;
  std::int64_t number = 0;
  double real = 0;
  bool added = false;  ///< To a list.
  std::string_view text = {};
  std::string_view key = {};
};

/// A key of the options of one purpose.
struct option_key {
  std::size_t purpose;
  std::string_view name;
  int type;  ///< Of its value, or of the values of its list.
  bool list;
  bool nullable;
  void (*set)(tq_options&, const value&);
};

template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;

/// The type of a member's values.
template <class T>
constexpr int type_of() {
  if constexpr (requires(T optional) { optional.has_value(); } || is_list<T>) {
    return type_of<typename T::value_type>();
  }
  if constexpr (std::is_same_v<T, bool>) return TQ_TYPE_BOOL;
  if constexpr (std::is_same_v<T, double>) return TQ_TYPE_DOUBLE;
  if constexpr (std::is_same_v<T, tableq::timestamp>) return TQ_TYPE_TIME;
  if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) return TQ_TYPE_TEXT;
  if constexpr (std::is_same_v<T, tableq::retry_delays>) return TQ_TYPE_TEXT;
  return TQ_TYPE_INT;
}

/// Stores a value, whose type is that of the member.
template <class T>
void store(T& to, const value& given) {
  const std::chrono::milliseconds length(given.number);
  if constexpr (std::is_same_v<T, std::optional<tableq::lifetime>>) {
    to = given.type == TQ_TYPE_NULL ? tableq::lifetime::forever() : tableq::lifetime(length);
  } else if constexpr (requires { to.has_value(); } || is_list<T>) {
    typename T::value_type one = {};  // A refused value leaves the options as they are.
    store(one, given);
    if constexpr (is_list<T>) {
      to.push_back(std::move(one));
    } else {
      to = std::move(one);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    to = given.number != 0;
  } else if constexpr (std::is_same_v<T, double>) {
    to = given.real;
  } else if constexpr (std::is_same_v<T, std::chrono::milliseconds>) {
    to = length;
  } else if constexpr (std::is_same_v<T, tableq::timestamp>) {
    to = tableq::timestamp(length);
  } else if constexpr (std::is_same_v<T, std::string>) {
    to = given.text;
  } else if constexpr (std::is_enum_v<T>) {
    to = named<T>(given.text, given.key);
  } else if constexpr (std::is_same_v<T, tableq::retry_delays>) {
    if (given.text != "none" && given.text != "usual") {
      refuse("the value of retry must be one of: none, usual");
    }
    to = given.text == "none" ? tableq::retry_delays::none() : tableq::retry_delays::usual();
  } else if constexpr (std::is_same_v<T, std::size_t>) {
    to = size_of(given.number, given.key);
  } else {
    to = number_of<T>(given.number, given.key);
  }
}

/// The member at the end of a path. Makes what is missing on the way.
template <class From>
From& reached(From& from) {
  return from;
}
template <class From, class Member, class... More>
auto& reached(From& from, Member member, More... more) {
  if constexpr (requires { from.has_value(); }) {
    if (!from) from.emplace();
    return reached(*from, member, more...);
  } else {
    return reached(from.*member, more...);
  }
}

/// The key of the member to which a path of members leads.
template <std::size_t Purpose, auto... Path>
constexpr option_key key(std::string_view name) {
  using values = std::variant_alternative_t<Purpose - 1, decltype(tq_options::values)>;
  using member = std::remove_reference_t<decltype(reached(std::declval<values&>(), Path...))>;
  constexpr bool nullable = std::is_same_v<member, std::optional<tableq::lifetime>>;
  return {Purpose,
          name,
          type_of<member>(),
          is_list<member>,
          nullable,
          [](tq_options& to, const value& given) {
            store(reached(std::get<Purpose - 1>(to.values), Path...), given);
          }};
}

}  // namespace tableq_c
