#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tableq/dialect.hpp>

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

/// Whether each item has a higher id, its first value, than the one before it.
bool rises(std::span<const core::value> items, std::size_t width);

/// The items in the order for core::contract::by_id: for each statement the numbers of its items.
/// An item that is equal to an earlier one in id and fence, its second value, is left out.
std::vector<std::vector<std::size_t>> rounds_by_id(std::span<const core::value> items,
                                                   std::size_t width);

}  // namespace tableq::inline v0::drivers
