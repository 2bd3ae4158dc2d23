#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tableq/error.hpp>

namespace tableq::inline v0 {

/// A text of one call, from any string type.
///
/// Borrows it until the call returns: use it for parameters only. A null pointer makes the call
/// fail with errc::invalid_argument, before it changes anything.
class text_view {
 public:
  /// A string, string literal, std::string_view.
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view>
  constexpr text_view(const Text& text) noexcept {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_pointer_v<Text>) {
      null_ = text == nullptr;
      if (null_) return;
    }
    text_ = text;
  }
  text_view(std::nullptr_t) = delete;

  /// The text, borrowed.
  /// @throws error errc::invalid_argument when it was made of a null pointer.
  [[nodiscard]] constexpr std::string_view view() const {
    if (null_) {
      throw error(errc::invalid_argument, advice::never,
                  "a null pointer was given for a text; give \"\" for an empty one");
    }
    return text_;
  }

 private:
  std::string_view text_;
  bool null_ = false;
};

}  // namespace tableq::inline v0
