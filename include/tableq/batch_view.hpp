#pragma once

#include <concepts>
#include <initializer_list>
#include <ranges>
#include <span>

#include <tableq/export.hpp>

namespace tableq::inline v0 {

/// The items of one batch: any contiguous range of them, or `{first, second}`.
///
/// Borrows them until the call returns: use it for parameters only.
template <class Item>
class batch_view {
 public:
  /// A vector, array or span of items.
  template <std::ranges::contiguous_range Range>
  requires std::ranges::sized_range<Range> && std::same_as<std::ranges::range_value_t<Range>, Item>
  batch_view(const Range& range)  // NOLINT(google-explicit-constructor)
  noexcept : items_(std::ranges::data(range), std::ranges::size(range)) {}
  /// `{first, second}`.
  batch_view(std::initializer_list<Item> items) noexcept : items_(items.begin(), items.size()) {}

  /// The items, borrowed. A call with no items does nothing.
  [[nodiscard]] std::span<const Item> items() const noexcept { return items_; }

 private:
  std::span<const Item> items_;
};

}  // namespace tableq::inline v0
