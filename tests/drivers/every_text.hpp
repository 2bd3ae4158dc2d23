#pragma once

#include <string>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "drivers/blocks.hpp"
#include "drivers/text.hpp"

namespace tableq_test {

/// A text with the names of the table that it is for.
struct named_text {
  std::string name;
  std::string filled;
};

/// Makes the tables of `every_text`.
inline void define_all(const std::string& url) {
  const auto driver = tableq::core::make_driver(url);
  const auto session = driver->connect();
  for (const char* kind : {"heap", "fifo", "lifo", "pending", "claim"}) {
    session->define(kind, tableq::core::names_for({}, kind));
  }
  session->define("claim", tableq::core::names_for({}, "turns"));
  session->define("turns", tableq::core::names_for({}, "turns"));
  session->define("catalog", tableq::core::names_for({}, {}));
}

/// Every text of the dialect, on a table of its kind, on `fifo`, or on `turns`, a claim queue whose
/// groups take turns.
inline std::vector<named_text> every_text(const tableq::dialect& definition) {
  using tableq::drivers::take_order;
  std::vector<named_text> out;
  for (const take_order order : {take_order::ids, take_order::turns}) {
    for (const auto& [name, text] :
         tableq::drivers::split_blocks(definition.statements, {.order = order})) {
      if (order == take_order::turns && !name.starts_with("claim.")) continue;
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
