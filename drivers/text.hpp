#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"

namespace tableq::inline v0::drivers {

/// How a transport writes a parameter.
enum class marker {
  numbered,           ///< `$1`: one place for each parameter, even if the text names it several
                      ///< times.
  numbered_question,  ///< `?1`: the same.
  question,           ///< `?`: one place each time that the text names it.
};

/// How a text is changed for a transport.
struct style {
  marker markers = marker::numbered;
  batching batches = batching::loop;
  bool arrays = true;    ///< Whether the transport binds arrays; otherwise they are sent as text.
  std::size_t rows = 1;  ///< The copies of `{items: ...}`.
  bool bare = false;     ///< The text returns no row; the transport reports the id.
};

/// A block whose name has one of these endings replaces the plain block where it is cheaper.
/// `.one`: if `:max` is 1, or if arrays would have one item; it takes the item as batching::loop
/// does.
inline constexpr std::string_view for_one = ".one";
/// For a batch that is sent item by item, after an earlier item has changed a row: the transaction
/// then holds the write lock, and the text need not read the catalogue again. It returns nothing,
/// as the transport reports the ids. With `{items: ...}` it takes several items at once; if it has
/// not changed a row for each, the batch is undone and sent item by item. A settlement outside a
/// transaction begins with it; it gets receipts of one fence, `.next.mixed` those of several.
inline constexpr std::string_view for_next = ".next";
/// After `.next`: a settlement whose receipts have several fences.
inline constexpr std::string_view for_mixed = ".mixed";
/// Finds the rows of a take; claim.lease then changes them in the same transaction. For takes that
/// free no keys, with transport_kind::bare.
inline constexpr std::string_view for_query = ".query";
/// For items that have nothing but payloads, since their other values are null or 0: a batch by
/// arrays, and one item, by arrays as `.one.payloads`. With `.next` there is `.next.payloads`.
inline constexpr std::string_view for_payloads = ".payloads";

/// One parameter, as a transport binds it.
struct parameter {
  core::value_type type = core::value_type::integer;
  std::size_t source = 0;  ///< Index into the shared values, or into one item's values.
  bool item = false;       ///< From the items.
  bool array = false;      ///< All items at once, as one array.
  std::size_t row = 0;     ///< The item's index; beyond the last item the value is NULL.
  // Set by the session, not part of a contract:
  bool clock = false;     ///< `:now`: if NULL, the transport supplies the database's time.
  bool identity = false;  ///< `:own_identity`.
};

/// A statement ready for a transport to prepare.
struct text {
  std::string_view name;  ///< The contract's.
  bool writes = false;    ///< The contract's.
  std::string sql;
  std::vector<parameter> parameters;      ///< In the order of their numbers or places.
  std::vector<core::value_type> columns;  ///< Of each row; empty: ignore the rows.
  /// Returns nothing. If it changed a row for each of its items, the result is a row with an id for
  /// each: the given ids, or the ids of the added rows. Otherwise it has no rows.
  bool bare = false;
  std::size_t rows = 1;                      ///< Its copies of `{items: ...}`, or one item.
  std::optional<std::size_t> given_id = {};  ///< The id's index into one item's values.
};

/// Fills `{table}`, `{table:suffix}`, `{index:suffix}` and the placeholders of
/// `core::shared_tables` with quoted names. Nothing else is substituted.
std::string fill_names(std::string_view text, const dialect& definition,
                       const core::table_names& names);

/// The same for a block of a dialect's roles, with `{schema}` and `{user}`. Ends with `;` unless it
/// is empty.
std::string fill_role(std::string_view text, const dialect& definition,
                      const core::table_names& names, std::string_view user);

/// Fills `{depth}` in the text of a savepoint.
std::string fill_depth(std::string_view text, int depth);

/// Turns `:name` into the transport's markers. Strings, quoted names and `::` stay unchanged.
/// `{items: ...}` becomes style::rows copies with commas between them, and `:item` in a copy
/// becomes its number.
/// @throws error errc::invalid_argument when the text names a parameter that the contract lacks.
text compile(std::string_view filled, const core::contract& contract, const style& target);

/// How many values each item of `{items: ...}` has in a text.
std::size_t values_of_item(std::string_view text);

/// The statements of a script, cut at each `;` outside strings, quoted names and comments.
std::vector<std::string> split_script(std::string_view script);

/// Writes values in place of parameters, as literals.
std::string with_literals(std::string_view filled, const core::contract& contract,
                          std::span<const core::value> shared);

}  // namespace tableq::inline v0::drivers
