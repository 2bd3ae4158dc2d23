#pragma once

/// @file
/// The names of tableq's enumerations, for logs and tests: `std::cout << jobs.complete(taken)`
/// prints `applied`. Names are lower-case, the same as in C++, and stable. The name of any other
/// value is `unknown`.

#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

#include <tableq/claim_options.hpp>
#include <tableq/error.hpp>
#include <tableq/export.hpp>
#include <tableq/handled.hpp>
#include <tableq/keeper.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/schema.hpp>
#include <tableq/table_mapping.hpp>
#include <tableq/worker_event.hpp>

namespace tableq::inline v0 {

/// The number, in decimal.
[[nodiscard]] TABLEQ_EXPORT std::string to_string(message_id id);

/// The enumerator's name. error.hpp and schema.hpp have those of errc, advice, kind and role.
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(ordering value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(schema_policy value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(notifications value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(on_complete value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(key_scope value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(on_duplicate value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(group_policy value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(message_state value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(message_detail value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(settle_result value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(change_result value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(enqueue_result value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(awaited::ending value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(handled::how value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(worker_event::kind value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(finding::level value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(lost_lease::cause value) noexcept;

/// An enumeration of tableq with a name for each value.
template <class Value>
concept named_value = std::is_enum_v<Value> && requires(Value value) {
  { to_string(value) } -> std::same_as<std::string_view>;
};

/// Writes the enumerator's name. Needs the header `ostream` where it is used.
template <class Traits, named_value Value>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Value value) {
  return out << to_string(value);
}

/// Writes the number.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const message_id& id) {
  return out << id.value;
}

}  // namespace tableq::inline v0
