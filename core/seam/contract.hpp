#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tableq/message.hpp>
#include <tableq/unstable/dialect.hpp>

#include "core/seam/statement.hpp"
#include "core/seam/table_form.hpp"

namespace tableq::inline v0::core {

/// A column of an order of rows. NULL counts as zero.
struct sorted_by {
  std::size_t column;
  bool descending = false;
};

/// The parameters and columns of a statement, the same for every database.
///
/// A text may use each parameter any number of times, or not at all. A statement with items is a
/// batch: see `batching`. Its rows then begin with an extra column before `columns`: `item`, the
/// item's number from 0.
struct contract {  // NOLINT(clang-analyzer-optin.performance.Padding): read by people
  statement id;
  std::string_view name;          ///< `fifo.dequeue`; also the operation in errors.
  bool writes;                    ///< If the session is lost meanwhile, the outcome is unknown.
  bool changes_messages = false;  ///< A strict queue is locked first.

  // Written in the list.
  core::lane lane = core::lane::none;     ///< For claim.enqueue without keys.
  std::span<const sorted_by> order = {};  ///< Of the rows; no database promises one for a change.
  /// As errors and observers name it: the statements of one operation have one name, whatever the
  /// queue's options. Unless listed: `name`.
  std::string_view operation = {};
  /// The columns that it reads. With others than all it has the text of the statement with all.
  message_detail detail = message_detail::all;
  /// Names the operation on tables of applications. Unless listed: the statement itself.
  statement in_tables = id;
  bool tells = false;       ///< A row without an id is no message, but says why there is none.
  bool finds_lost = false;  ///< Rows are the items that hold no lease.
  bool once = false;        ///< Asked when a queue is opened: no session keeps its text.
  bool adds = false;        ///< Part of adding: a plan for an empty table suits a full one.
  bool capabilities::*needs = nullptr;   ///< Without it core does not use the statement.
  bool capabilities::*unless = nullptr;  ///< With it core does not use the statement.
  bool optional = false;                 ///< Core does without it, whatever the database.

  // From the types.
  std::span<const field> shared = {};   ///< Given once.
  std::span<const field> items = {};    ///< Given for each item; empty: not a batch.
  std::span<const field> columns = {};  ///< Of each row; empty: returned rows are ignored.
  bool counts_messages = false;         ///< Each row is a message.
  std::size_t max_at = no_place;        ///< Where in `shared` the number of messages stands.
  std::size_t token_at = no_place;      ///< Where in `shared` an arbitrary number stands.
  std::size_t key_at = no_place;        ///< Where in an item the key stands.
  std::size_t fence_at = no_place;      ///< The same of a receipt's fence, after the message's key.
  bool exact = false;  ///< Each call has rows of its own run: a shared run could mix their order.

  /// The texts of a statement on a table of the application; null: the dialect's own.
  const table_texts* texts = nullptr;
  std::uint64_t slot = 0;  ///< With `texts`: takes the place of table_names::slot.

  static constexpr std::size_t no_place = static_cast<std::size_t>(-1);

  /// Whether rows are the items whose lease was held.
  [[nodiscard]] constexpr bool settles() const noexcept {
    return lane >= core::lane::complete && lane != core::lane::none;
  }
  /// Whether a dialect with these capabilities must have it.
  [[nodiscard]] bool needed_with(const capabilities& features) const noexcept {
    return !optional && (needs == nullptr || features.*needs) &&
           (unless == nullptr || !(features.*unless));
  }
};

/// Where a field stands; contract::no_place if there is none with the name.
constexpr std::size_t place_among(std::span<const field> fields, std::string_view name) noexcept {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
  }
  return contract::no_place;
}

/// All contracts, in the order of the enumeration.
std::span<const contract> contracts() noexcept;

const contract& contract_of(statement id) noexcept;

/// The name of its text.
[[nodiscard]] std::string_view text_name(const contract& of) noexcept;

}  // namespace tableq::inline v0::core
