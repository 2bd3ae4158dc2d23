#pragma once

#include <cstddef>

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

}  // namespace tableq::inline v0::drivers
