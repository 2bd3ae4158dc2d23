#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/message.hpp>

#include "core/seam/contract.hpp"
#include "core/seam/value.hpp"
#include "core/table/layout.hpp"

namespace tableq::inline v0::core {

/// One statement on a table of the application: its contract, made when the table is opened, and
/// the texts that the contract refers to.
class mapped_statement {
 public:
  /// @param dialect the database's. @param block the template's name.
  /// @param shared further parameters that are given once. @param columns further ones of each row.
  /// @param constants values for the last of `shared`, texts of the mapping; borrowed.
  mapped_statement(std::string_view dialect, std::string_view block, statement id,
                   const table_form& form, std::span<const field> shared,
                   std::span<const field> columns, std::vector<value> constants);
  mapped_statement(const mapped_statement&) = delete;
  mapped_statement& operator=(const mapped_statement&) = delete;

  [[nodiscard]] const contract& what() const noexcept { return contract_; }
  /// The shared values of a run: the given ones, then the constants.
  [[nodiscard]] std::vector<value> shared(std::span<const value> given) const;

 private:
  std::vector<field> shared_;
  std::vector<field> items_;
  std::vector<field> columns_;
  std::vector<value> constants_;
  table_texts texts_;
  contract contract_;
};

/// All statements on one mapped table. A statement that the mapping cannot carry is null.
///
/// @par Thread safety
/// Shared objects: safe; it does not change.
class mapped_statements {
 public:
  mapped_statements(std::string dialect, table_layout layout);
  mapped_statements(const mapped_statements&) = delete;
  mapped_statements& operator=(const mapped_statements&) = delete;

  using one = std::unique_ptr<const mapped_statement>;

  [[nodiscard]] const table_layout& layout() const noexcept { return layout_; }
  /// Where a column stands among those that reads return, the shown ones first.
  [[nodiscard]] std::size_t place_of(std::size_t column) const;

  // The requests are in core/seam/table_requests.hpp. An item begins with the values of the key.
  one take;      ///< take_request.
  one complete;  ///< held_row_item, as release, extend, keep and lost.
  one fail;      ///< failed_row_item.
  one release;
  one extend;
  one keep;  ///< A heartbeat.
  one lost;
  one expire;   ///< expire_rows_request: leases have ended.
  one requeue;  ///< requeue_rows_request.
  one peek;
  one next_lease;  ///< How long until the first lease ends.
  one next_due;    ///< How long until the first row is due.
  one ready;       ///< Counts rows, as the next ones.
  one delayed;
  one leased;
  one expired;  ///< Their leases have ended.
  one done;
  one dead;

  /// An insert of values for these columns, as parameters `v0`, `v1`, and so on.
  [[nodiscard]] one insert(std::vector<std::size_t> columns) const;

 private:
  friend class statement_maker;
  std::string dialect_;
  table_layout layout_;
  std::vector<std::size_t> read_;
};

}  // namespace tableq::inline v0::core
