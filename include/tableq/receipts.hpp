#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <span>
#include <string>

#include <tableq/export.hpp>
#include <tableq/message.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// The receipt as a text of ASCII without blanks, to be stored or sent to another process, in any
/// language: the C interface has receipts as such texts.
[[nodiscard]] TABLEQ_EXPORT std::string to_string(const receipt& value);

/// Reads what `to_string` writes.
/// @throws error errc::invalid_argument for another text.
[[nodiscard]] TABLEQ_EXPORT receipt parse_receipt(text_view text);

/// The receipts of one call: any contiguous range of receipts or deliveries.
///
/// Borrows them until the call returns.
class receipts_view {
 public:
  /// A vector, array or span of receipts or deliveries.
  template <std::ranges::contiguous_range Range>
  requires std::ranges::sized_range<Range> &&
      (std::derived_from<std::ranges::range_value_t<Range>, receipt> ||
       std::derived_from<std::ranges::range_value_t<Range>, delivery>)
          receipts_view(const Range& range) noexcept  // NOLINT(google-explicit-constructor)
      : first_(std::ranges::data(range)),
        size_(std::ranges::size(range)),
        at_(at<std::ranges::range_value_t<Range>>) {}
  /// `{first, second}`; a delivery is written as its receipt.
  receipts_view(std::initializer_list<receipt> receipts) noexcept
      : receipts_view(std::span(receipts.begin(), receipts.size())) {}

  /// How many.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// True: there are no receipts, and a call with them does nothing.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// @param place below size().
  [[nodiscard]] const receipt& operator[](std::size_t place) const { return at_(first_, place); }

 private:
  template <class Element>
  static const receipt& at(const void* first, std::size_t place) {
    return *std::next(static_cast<const Element*>(first), static_cast<std::ptrdiff_t>(place));
  }

  const void* first_;
  std::size_t size_;
  const receipt& (*at_)(const void*, std::size_t);
};

}  // namespace tableq::inline v0
