#pragma once

#include <optional>
#include <string_view>

#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>

#define TABLEQ_CASE(unused, type, name) \
  case type::name:                      \
    return BOOST_PP_STRINGIZE(name);

/// Defines to_string. Followed by all enumerators; the compiler warns of a missing one.
#define TABLEQ_NAMES(type, ...)                                                       \
  std::string_view to_string(type value) noexcept {                                   \
    switch (value) {                                                                  \
      BOOST_PP_SEQ_FOR_EACH(TABLEQ_CASE, type, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__)) \
    }                                                                                 \
    return "unknown";                                                                 \
  }

namespace tableq::inline v0::core {

/// The one of `values` that has the name.
template <class Values>
auto named_among(const Values& values, std::string_view name)
    -> std::optional<typename Values::value_type> {
  for (const auto one : values) {
    if (to_string(one) == name) return one;
  }
  return std::nullopt;
}

}  // namespace tableq::inline v0::core
