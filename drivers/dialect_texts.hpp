#pragma once

#include <bitset>
#include <string>
#include <string_view>

#include <tableq/dialect.hpp>

#include "core/seam/statement.hpp"
#include "drivers/blocks.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {

/// A dialect with its statements parsed, shared by all sessions of a database.
struct dialect_texts {
  dialect definition;
  const transport_kind* transport = nullptr;
  blocks statements;          ///< `{clock}` is the database's function.
  blocks given_clock;         ///< The same, with `{clock}` as the parameter `:now`.
  blocks tables;              ///< Templates for tables of applications, as `statements`.
  blocks tables_given_clock;  ///< The same, as `given_clock`.
  std::bitset<core::statement_count> for_one =
      {};  ///< By statement: whether there is a text for one message.
  std::bitset<core::statement_count> for_next =
      {};  ///< The same for a further item of a batch, without rows.

  /// Parses the texts of `definition`.
  void learn();

  /// The DDL of a kind, of `catalog` or `concurrency`, or of a step's part: `2/pending/2.alone`.
  /// @throws error errc::unsupported.
  [[nodiscard]] std::string ddl_of(std::string_view part) const;
};

}  // namespace tableq::inline v0::drivers
