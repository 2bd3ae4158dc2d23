#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/driver.hpp"
#include "core/seam/statement.hpp"
#include "drivers/blocks.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {

/// The statements of queues whose groups take turns or whose tables are shards, and of looks that
/// leave columns out. Few processes need them: the first use parses them.
///
/// @par Thread safety
/// Shared objects: safe.
class variant_texts {
 public:
  variant_texts(take_order order, table_place place, message_columns columns)
      : order_(order), place_(place), columns_(columns) {}
  const blocks& of(const dialect& definition, clock_source clock);

 private:
  take_order order_;
  table_place place_;
  message_columns columns_;
  std::once_flag parsed_;
  blocks statements_;
  blocks given_clock_;
};

/// The most statements of core and of one driver together.
inline constexpr std::size_t most_statements = 256;

/// One for each combination.
std::array<std::shared_ptr<variant_texts>, 12> all_variants();

/// The columns that a statement of this name reads. A statement with fewer columns has the text of
/// the one with all: the ending is removed from the name.
message_columns columns_of(std::string_view& name);

/// A dialect with its statements parsed, shared by all sessions of a database.
struct dialect_texts {
  dialect definition;
  const transport_kind* transport = nullptr;
  blocks statements;          ///< `{clock}` is the database's function.
  blocks given_clock;         ///< The same, with `{clock}` as the parameter `:now`.
  blocks tables;              ///< Templates for tables of applications, as `statements`.
  blocks tables_given_clock;  ///< The same, as `given_clock`.
  std::bitset<most_statements> for_one =
      {};  ///< By statement: whether there is a text for one message.
  std::bitset<most_statements> for_next =
      {};  ///< The same for a further item of a batch, without rows.
  std::bitset<most_statements> for_mixed = {};  ///< The same for several receipts of one message.
  /// The same for a batch of which only the payloads are given.
  std::bitset<most_statements> for_payloads = {};
  std::bitset<most_statements> common =
      {};  ///< Whether the text names no table of a queue, so that queues can share it.

  /// By columns, place and order; the first one stays empty.
  std::array<std::shared_ptr<variant_texts>, 12> variants = all_variants();

  /// The statements on the queue of these tables.
  [[nodiscard]] const blocks& of_queue(clock_source clock, const core::table_names& names,
                                       message_columns columns = message_columns::all) const;

  /// Whether the text for a further item of a batch takes several of them.
  /// @param payloads whether the items have nothing but payloads.
  [[nodiscard]] bool takes_several(const core::contract& contract, bool payloads) const;

  /// Parses the texts of `definition`.
  void learn();

  /// The DDL of a kind, of `catalog` or `concurrency`, or of a step's part: `2/pending/2.alone`.
  /// @throws error errc::unsupported.
  [[nodiscard]] std::string ddl_of(std::string_view part) const;
};

}  // namespace tableq::inline v0::drivers
