#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/value.hpp"

namespace tableq::inline v0::drivers {

/// The number of the `left` items that go into the next text, which is made for `rows`.
struct piece {
  std::size_t count;
  std::size_t rows;
};

/// @param width values of each item.
piece next_piece(std::size_t left, const dialect& definition, std::size_t width);

/// Numbers the rows of an INSERT that could not return the items' numbers: ids rise with the items.
void number_by_id(core::row_set& rows);

/// Receipts by rising ids, their first value. Borrows them.
class items_by_id {
 public:
  /// @param width values of each item.
  items_by_id(std::span<const core::value> items, std::size_t width);

  /// Whether no id comes twice. Otherwise the items stay as they were.
  [[nodiscard]] bool distinct() const noexcept { return distinct_; }
  /// By rising ids if they are distinct.
  [[nodiscard]] std::span<const core::value> values() const noexcept { return sorted_; }
  /// Gives the rows of a statement with `values` the numbers of the original items.
  void number(core::row_set& rows) const;

 private:
  bool distinct_ = true;
  std::vector<std::size_t> places_;  // Empty if the items stay as they were.
  std::vector<core::value> moved_;
  std::span<const core::value> sorted_;
};

}  // namespace tableq::inline v0::drivers
