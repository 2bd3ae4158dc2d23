#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tableq::inline v0::core {

/// A parameter's value. Borrows text and bytes: they must outlive the call.
struct value {
  enum class shape : std::uint8_t { null, integer, text };  ///< `text` also means bytes.

  value() noexcept = default;
  explicit value(std::int64_t integer) noexcept : is(shape::integer), number(integer) {}
  explicit value(std::string_view bytes) noexcept : is(shape::text), data(bytes) {}

  shape is = shape::null;
  std::int64_t number = 0;
  std::string_view data;
};

/// Of texts and bytes.
[[nodiscard]] inline std::size_t bytes_of(std::span<const value> values) noexcept {
  std::size_t out = 0;
  for (const value& each : values) out += each.data.size();
  return out;
}

/// One field of a result: null, integer, or text and bytes.
using cell = std::variant<std::monostate, std::int64_t, std::string>;

/// The rows of a result, owned, complete: the statement behind them has ended.
class row_set {
 public:
  /// @param width columns of each row; zero for statements whose rows are ignored.
  explicit row_set(std::size_t width = 0) noexcept : width_(width) {}

  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] std::size_t size() const noexcept {
    return width_ == 0 ? 0 : cells_.size() / width_;
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Adds the next field, row by row.
  void add(cell field) {
    if (cells_.size() == next_numbered_) {
      cells_.emplace_back(number_);
      next_numbered_ += width_;
    }
    cells_.push_back(std::move(field));
  }
  void reserve(std::size_t rows) { cells_.reserve(rows * width_); }

  /// Rows added from now on belong to this item of a batch. The function adds its number as the
  /// first field of each row.
  void number_rows(std::int64_t item) noexcept {
    number_ = item;
    next_numbered_ = cells_.size();
  }

  /// Adds the rows of a later part of a batch, with their item numbers increased.
  void append_shifted(row_set rows, std::int64_t shift) {
    for (std::size_t i = 0; i < rows.cells_.size(); ++i) {
      if (i % rows.width_ == 0) std::get<std::int64_t>(rows.cells_[i]) += shift;
      cells_.push_back(std::move(rows.cells_[i]));
    }
  }

  /// Moves a row of another result to the end, from one of its columns on.
  void append_row(row_set& from, std::size_t row, std::size_t first = 0) {
    for (std::size_t i = first; i < from.width_; ++i) add(std::move(from.at(row, i)));
  }

  [[nodiscard]] cell& at(std::size_t row, std::size_t column) {
    return cells_[row * width_ + column];
  }
  [[nodiscard]] const cell& at(std::size_t row, std::size_t column) const {
    return cells_[row * width_ + column];
  }
  /// A column that is never null. A value of another type, from plain SQL, reads as zero.
  [[nodiscard]] std::int64_t integer(std::size_t row, std::size_t column) const {
    return maybe_integer(row, column).value_or(0);
  }
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(std::size_t row,
                                                          std::size_t column) const {
    const auto* found = std::get_if<std::int64_t>(&at(row, column));
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  /// The item of a batch to which the row belongs: its first field.
  [[nodiscard]] std::size_t item(std::size_t row) const {
    return static_cast<std::size_t>(integer(row, 0));
  }

 private:
  std::size_t width_;
  std::vector<cell> cells_;
  std::int64_t number_ = 0;
  std::size_t next_numbered_ = std::numeric_limits<std::size_t>::max();  // where the next item
                                                                         // number goes
};

}  // namespace tableq::inline v0::core
