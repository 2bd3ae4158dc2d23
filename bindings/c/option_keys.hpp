#pragma once

/// @file
/// How a key of options stores its value in a member of the C++ options.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "call.hpp"
#include "options.hpp"

namespace tableq_c {

using std::chrono::milliseconds;

/// A value for a key. Borrows its text.
struct value {
  int type = TQ_TYPE_NULL;
  std::int64_t number = 0;
  double real = 0;
  std::string_view text = {};
  bool added = false;  ///< To a list.
  std::string_view key = {};

  [[nodiscard]] bool null() const noexcept { return type == TQ_TYPE_NULL; }
  [[nodiscard]] milliseconds length() const noexcept { return milliseconds(number); }
  [[nodiscard]] tableq::timestamp time() const noexcept { return tableq::timestamp(length()); }
};

/// A key of options whose values are a Values.
template <class Values>
struct key_of {
  std::string_view name;
  int type;
  void (*set)(Values&, const value&);
  bool list = false;
  bool nullable = false;
};

/// All values of an enumeration that is an option.
template <class Enum>
constexpr std::initializer_list<Enum> all_of = {};
template <>
inline constexpr auto all_of<tableq::schema_policy> = {tableq::schema_policy::create_if_missing,
                                                       tableq::schema_policy::verify_only};
template <>
inline constexpr auto all_of<tableq::notifications> = {
    tableq::notifications::automatic, tableq::notifications::send_only, tableq::notifications::off};
template <>
inline constexpr auto all_of<tableq::ordering> = {tableq::ordering::relaxed,
                                                  tableq::ordering::strict};
template <>
inline constexpr auto all_of<tableq::message_state> = {
    tableq::message_state::ready, tableq::message_state::leased, tableq::message_state::delayed,
    tableq::message_state::done,  tableq::message_state::dead,   tableq::message_state::held};
template <>
inline constexpr auto all_of<tableq::message_detail> = {
    tableq::message_detail::all, tableq::message_detail::outline, tableq::message_detail::seen};
template <>
inline constexpr auto all_of<tableq::key_scope> = {tableq::key_scope::active,
                                                   tableq::key_scope::waiting};
template <>
inline constexpr auto all_of<tableq::group_policy> = {tableq::group_policy::hold,
                                                      tableq::group_policy::pass};
template <>
inline constexpr auto all_of<tableq::on_duplicate> = {
    tableq::on_duplicate::keep_first, tableq::on_duplicate::reject, tableq::on_duplicate::replace,
    tableq::on_duplicate::postpone};

/// The enumerator that the text names.
template <class Enum>
Enum named(const value& given) {
  std::string names;
  for (const Enum each : all_of<Enum>) {
    if (to_string(each) == given.text) return each;
    names += (names.empty() ? "" : ", ") + std::string(to_string(each));
  }
  refuse("the value of " + std::string(given.key) + " is none of: " + names);
}

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

/// The type of a member's values.
template <class T>
constexpr int type_of() {
  if constexpr (is_optional<T>) return type_of<typename T::value_type>();
  if constexpr (std::is_same_v<T, bool>) return TQ_TYPE_BOOL;
  if constexpr (std::is_same_v<T, double>) return TQ_TYPE_DOUBLE;
  if constexpr (std::is_same_v<T, tableq::timestamp>) return TQ_TYPE_TIME;
  if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) return TQ_TYPE_TEXT;
  return TQ_TYPE_INT;
}

/// Stores a value, whose type is that of the member.
template <class T>
void store(T& to, const value& given) {
  if constexpr (is_optional<T>) {
    if constexpr (std::is_same_v<T, std::optional<tableq::lifetime>>) {
      to = given.null() ? tableq::lifetime::forever() : tableq::lifetime(given.length());
    } else {
      store(to.emplace(), given);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    to = given.number != 0;
  } else if constexpr (std::is_same_v<T, double>) {
    to = given.real;
  } else if constexpr (std::is_same_v<T, milliseconds>) {
    to = given.length();
  } else if constexpr (std::is_same_v<T, tableq::timestamp>) {
    to = given.time();
  } else if constexpr (std::is_same_v<T, std::string>) {
    to = given.text;
  } else if constexpr (std::is_enum_v<T>) {
    to = named<T>(given);
  } else if constexpr (std::is_same_v<T, std::size_t>) {
    to = size_of(given.number, given.key);
  } else {
    to = number_of<T>(given.number, given.key);
  }
}

/// The key of a member.
template <class Values, auto Member>
constexpr key_of<Values> key(std::string_view name) {
  using member = std::remove_reference_t<decltype(std::declval<Values&>().*Member)>;
  return {name, type_of<member>(), [](Values& to, const value& given) { store(to.*Member, given); },
          false, std::is_same_v<member, std::optional<tableq::lifetime>>};
}
/// The key of what a list by filter reads.
template <auto Member>
constexpr key_of<filter_values> looked(std::string_view name) {
  using member = std::remove_reference_t<decltype(std::declval<tableq::look_options&>().*Member)>;
  return {name, type_of<member>(),
          [](filter_values& to, const value& given) { store(to.with.*Member, given); }};
}
/// The key of an optimization.
template <auto Member>
constexpr key_of<open_values> shortcut(std::string_view name) {
  return {name, TQ_TYPE_BOOL,
          [](open_values& to, const value& given) { store(to.shortcuts.*Member, given); }};
}
/// A key that gives the queue groups.
template <auto Member>
constexpr key_of<queue_values> group(std::string_view name) {
  using member = std::remove_reference_t<decltype(std::declval<tableq::group_options&>().*Member)>;
  return {name, type_of<member>(), [](queue_values& to, const value& given) {
            to.groups.enabled = true;
            store(to.groups.*Member, given);
          }};
}
/// A key of the retention of finished messages.
template <auto Member>
constexpr key_of<queue_values> retained(std::string_view name) {
  return {name, TQ_TYPE_INT,
          [](queue_values& to, const value& given) {
            if (!to.retention) to.retention.emplace();
            if (!given.null()) store((*to.retention).*Member, given);
          },
          false, true};
}
/// Delays after failed attempts.
template <class Values>
constexpr std::array<key_of<Values>, 3> retry_keys() {
  return {{{"retry", TQ_TYPE_TEXT,
            [](Values& to, const value& given) {
              if (given.text != "none" && given.text != "usual") {
                refuse("the value of retry is none of: none, usual");
              }
              to.retry_given.delays = given.text == "none" ? tableq::retry_delays::none()
                                                           : tableq::retry_delays::usual();
            }},
           {"retry_ms", TQ_TYPE_INT,
            [](Values& to, const value& given) {
              if (!to.retry_given.delays) to.retry_given.delays.emplace();
              to.retry_given.delays->after.push_back(given.length());
            },
            true},
           {"retry_jitter", TQ_TYPE_INT,
            [](Values& to, const value& given) { store(to.retry_given.jitter, given); }}}};
}

}  // namespace tableq_c
