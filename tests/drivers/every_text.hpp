#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/input/identifier.hpp"
#include "drivers/blocks.hpp"
#include "drivers/text.hpp"

namespace tableq_test {

/// A text with the names of the table that it is for.
struct named_text {
  std::string name;
  std::string filled;
};

/// Whether a queue in this order has no use for the statement, or no text of its own for it.
inline bool unused_in(tableq::drivers::take_order order, std::string_view name) {
  const bool takes_turns = name.starts_with("claim.take_turns");
  if (order == tableq::drivers::take_order::ids) return takes_turns;
  return !name.starts_with("claim.") || name == "claim.take" || name.starts_with("claim.take.");
}

/// Every text of the dialect, on a table of its kind, on `fifo`, or on `turns`, a claim queue whose
/// groups take turns.
inline std::vector<named_text> every_text(const tableq::dialect& definition) {
  using tableq::drivers::take_order;
  std::vector<named_text> out;
  for (const take_order order : {take_order::ids, take_order::turns}) {
    for (const auto& [name, text] : tableq::drivers::split_blocks(
             definition.statements, tableq::drivers::clock_source::database, order)) {
      if (unused_in(order, name)) continue;
      std::string table = name.substr(0, name.find('.'));
      if (table == "catalog" || table == "table" || table == "queue" || table == "doctor") {
        table = "fifo";
      }
      if (table == "batch") table = "claim";
      if (order == take_order::turns) table = "turns";
      out.push_back({.name = name,
                     .filled = tableq::drivers::fill_names(text, definition,
                                                           tableq::core::names_for({}, table))});
    }
  }
  return out;
}

}  // namespace tableq_test
