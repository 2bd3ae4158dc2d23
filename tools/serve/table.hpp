#pragma once

#include <functional>
#include <vector>

#include "html.hpp"

namespace tool::web {

/// A column of a table: its heading, and its cell of a row.
template <class Row>
struct column {
  literal name;
  std::function<html(const Row&)> cell;
  literal style = "";
};

/// A table whose first column names the rows. On narrow screens each row is a card, and each cell
/// has the heading of its column.
template <class Row>
html table(literal caption, const std::vector<column<Row>>& columns, const std::vector<Row>& rows) {
  if (rows.empty()) return html(R"(<p class="quiet">None.</p>)");
  html out(R"(<table><caption class="unseen">{}</caption><thead><tr>)", caption);
  for (const column<Row>& each : columns) {
    out.put(R"(<th scope="col" class="{}">{}</th>)", each.style, each.name);
  }
  out.put("</tr></thead><tbody>");
  for (const Row& row : rows) {
    out.put("<tr>");
    for (const column<Row>& each : columns) {
      if (&each == &columns.front()) {
        out.put(R"(<th scope="row">{}</th>)", each.cell(row));
      } else {
        out.put(R"(<td class="{}" data-label="{}">{}</td>)", each.style, each.name, each.cell(row));
      }
    }
    out.put("</tr>");
  }
  out.put("</tbody></table>");
  return out;
}

}  // namespace tool::web
