#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/contract.hpp"
#include "core/seam/value.hpp"

namespace tableq::inline v0::drivers {

/// The most copies of `{items: ...}` in a text.
inline constexpr std::size_t most_rows = 1000;

/// Which of a statement's texts. Each flag is an ending of the text's name: drivers/text.hpp.
struct text_form {
  std::size_t rows = 1;  ///< The copies of `{items: ...}`.
  bool one = false;
  bool next = false;
  bool mixed = false;
  bool payloads = false;
  bool query = false;

  [[nodiscard]] std::string ending() const;
  /// Another number below 2^15 for each form.
  [[nodiscard]] constexpr std::uint64_t key() const noexcept {
    return rows << 5U | (query ? 16U : 0U) | (one ? 8U : 0U) | (next ? 4U : 0U) |
           (mixed ? 2U : 0U) | (payloads ? 1U : 0U);
  }
};

/// Whether the values of the items are null or 0, but for payloads.
[[nodiscard]] bool nothing_but_payloads(const core::contract& contract,
                                        std::span<const core::value> items);

/// Whether one of the items has a key, which another message may hold.
[[nodiscard]] bool have_keys(const core::contract& contract, std::span<const core::value> items);

/// Whether the fences of receipts differ: several takes have given them.
/// @param width values of each receipt.
[[nodiscard]] bool of_several_takes(std::span<const core::value> receipts, std::size_t width);

/// The number of the `left` items that go into the next text, which is made for `rows`.
struct piece {
  std::size_t count;
  std::size_t rows;
};

/// @param values of each item in the text.
piece next_piece(std::size_t left, const dialect& definition, std::size_t values);

/// The most rows of a text in which each has one of the `left` items.
std::size_t most_full_rows(std::size_t left, const dialect& definition);

/// Numbers the rows of an INSERT that could not return the items' numbers: ids rise with the items.
void number_by_id(core::row_set& rows);

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
