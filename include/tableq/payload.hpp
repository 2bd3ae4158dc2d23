#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// The payload of one call: any bytes, from a string type or from std::byte.
///
/// Borrows them until the call returns: use it for parameters, not to keep a payload. A null
/// pointer makes the call fail with errc::invalid_argument, before it changes anything.
class payload_view {
 public:
  /// No bytes.
  constexpr payload_view() noexcept = default;
  /// A string, string literal, std::string_view.
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view>
  constexpr payload_view(const Text& text) noexcept  // NOLINT(google-explicit-constructor)
      : bytes_(text) {}
  /// A vector, array or span of std::byte.
  template <class Bytes>  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::convertible_to<const Bytes&, std::span<const std::byte>> payload_view(
      const Bytes& bytes)
  noexcept {
    const std::span<const std::byte> given(bytes);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): char may look at any object
    bytes_ = std::string_view(reinterpret_cast<const char*>(given.data()), given.size());
  }
  payload_view(std::nullptr_t) = delete;

  /// The bytes, borrowed.
  /// @throws error errc::invalid_argument when it was made of a null pointer.
  [[nodiscard]] constexpr std::string_view view() const { return bytes_.view(); }
  /// A copy to keep, for instance in a new_message.
  /// @throws error errc::invalid_argument when it was made of a null pointer.
  [[nodiscard]] std::string str() const { return std::string(view()); }

 private:
  text_view bytes_ = std::string_view();
};

}  // namespace tableq::inline v0
