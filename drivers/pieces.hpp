#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/contract.hpp"
#include "core/seam/value.hpp"

namespace tableq::inline v0::drivers {

/// The most copies of `{items: ...}` in a text.
inline constexpr std::size_t most_rows = 1000;

/// Replace the number of rows in the key of a text: for one message, and for a batch in which an id
/// comes twice.
inline constexpr std::size_t one_key = 0;
inline constexpr std::size_t mixed_key = most_rows + 1;
/// The same for items of which only the payloads are given, and for one such item.
inline constexpr std::size_t bare_items_key = most_rows + 2;
inline constexpr std::size_t bare_item_key = most_rows + 3;
/// Added to the number of rows: for further items, and for those that have only payloads.
inline constexpr std::size_t next_key = 1024;
inline constexpr std::size_t bare_next_key = 2048;

/// The number of rows in a text's key.
[[nodiscard]] constexpr std::size_t rows_of(std::size_t key) noexcept {
  const std::size_t rows = key % next_key;
  return rows > most_rows || rows == one_key ? 1 : rows;
}

/// The ending of the text's name, for its key.
[[nodiscard]] std::string ending_of(std::size_t key);

/// Whether the values of the items are null or 0, but for payloads.
[[nodiscard]] bool nothing_but_payloads(const core::contract& contract,
                                        std::span<const core::value> items);

/// The number of the `left` items that go into the next text, which is made for `rows`.
struct piece {
  std::size_t count;
  std::size_t rows;
};

/// @param width values of each item.
piece next_piece(std::size_t left, const dialect& definition, std::size_t width);

/// The most rows of a text in which each has one of the `left` items.
std::size_t most_full_rows(std::size_t left, const dialect& definition);

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

/// Arrays as text, for transports that cannot bind them: PostgreSQL's form `{1,NULL}` or
/// `{"a","\\x00ff"}`, which the statement casts. The SQL standard has no such form.
///
/// Owns the texts; one for each item parameter.
class array_texts {
 public:
  /// @param items item by item, each with the values of `fields`.
  array_texts(std::span<const core::value> items, std::span<const core::field> fields);
  array_texts(const array_texts&) = delete;
  array_texts& operator=(const array_texts&) = delete;

  /// Arrays of one item.
  [[nodiscard]] std::span<const core::value> values() const noexcept { return values_; }

 private:
  std::vector<std::string> texts_;
  std::vector<core::value> values_;
};

}  // namespace tableq::inline v0::drivers
