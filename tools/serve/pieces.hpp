#pragma once

#include <concepts>
#include <functional>

#include <tableq/tableq.hpp>

#include "html.hpp"
#include "watched.hpp"

namespace tool::web {

// Words.

/// `12,345`
std::string number(std::int64_t count);
template <std::unsigned_integral Count>
std::string number(Count count) {
  return number(static_cast<std::int64_t>(count));
}
/// `12,345`, `10,000+`, or a dash for what the queue does not have.
std::string count_words(const figure& of);
/// `0.4`, `12`, or a dash.
std::string rate_words(const std::optional<double>& rate);
/// `45 s`, `3 min`, `2 h`, `5 days`.
std::string span_words(std::chrono::milliseconds span);
/// `2026-11-28 09:30:00 UTC`
std::string time_words(tableq::timestamp time);
/// `1 message`, `12 messages`.
std::string messages_words(std::size_t count);
/// `3 at a time, 0.5 starts a second`
std::string limit_words(const tableq::group_limits& of);

/// `3 min ago` or `in 3 min`, with the exact time as a hint; nothing without a time.
html when(const std::optional<tableq::timestamp>& time, tableq::timestamp now);
/// `40%: page 12 of 30, 3 s ago`
html progress_words(const tableq::message_progress& of, tableq::timestamp now);
/// A text of a message, at most so many characters, kept apart from the text around it whatever its
/// direction.
html foreign(std::string_view text, std::size_t most = std::string::npos);

// Facts.

/// A line of a list of facts.
template <class Name, class Value>
void fact(html& out, const Name& name, const Value& value) {
  out.put("<dt>{}</dt><dd>{}</dd>", name, value);
}
html fact_list(const html& lines);
/// `Max attempts`, of `max_attempts`.
std::string label(std::string_view name);
/// The members of an object; null is `none`.
html facts(const json& of);
/// A quiet line.
template <class... Values>
html quiet(literal form, const Values&... values) {
  return html(R"(<p class="quiet">{}</p>)", html(form, values...));
}

// Tables.

/// A column of a table: its heading, and its cell of a row.
template <class Row>
struct column {
  literal name;
  std::function<html(const Row&)> cell;
  literal style = "";
  literal by = "";  ///< The table can be sorted by it: its name in the address.
};

/// More of a table.
template <class Row>
struct table_more {
  std::function<std::string(const Row&)> live = {};  ///< Names a row for the script.
  std::string by = {};                               ///< The column that it is sorted by.
  std::string link = {};                             ///< To the same sorted by another one.
};

/// A table whose first column names the rows. On narrow screens each row is a card, and each cell
/// has the heading of its column.
template <class Row>
html table(literal caption, const std::vector<column<Row>>& columns, const std::vector<Row>& rows,
           const table_more<Row>& more = {}) {
  if (rows.empty()) return quiet("None.");
  html out(R"(<table><caption class="unseen">{}</caption><thead><tr>)", caption);
  for (const column<Row>& each : columns) {
    const bool sorted = !each.by.view().empty() && each.by.view() == more.by;
    const bool first = &each == &columns.front();
    out.put(R"(<th scope="col" class="{}"{}>)", each.style,
            !sorted ? literal("")
            : first ? literal(R"( aria-sort="ascending")")
                    : literal(R"( aria-sort="descending")"));
    out.put(
        each.by.view().empty() ? literal("{}{}{}</th>") : literal(R"(<a href="{}{}">{}</a></th>)"),
        each.by.view().empty() ? std::string() : more.link, each.by, each.name);
  }
  out.put("</tr></thead><tbody>");
  for (const Row& row : rows) {
    out += more.live ? html(R"(<tr data-live="{}">)", more.live(row)) : html("<tr>");
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

// Pictures.

/// A small line of the ready messages, without axes.
html sparkline(const history* past);

/// One figure over time: a line, its highest value, and words for those who cannot see it.
/// @param second another line in the same picture, or null.
html chart(const history* past, std::chrono::milliseconds span, literal title, float sample::*first,
           literal first_name, float sample::*second = nullptr, literal second_name = "");

// Payloads.

/// The form that fits: `json` if it is an object or a list, `text` if it is UTF-8, otherwise `hex`.
literal fitting_form(std::string_view payload);

/// The payload in this form, at most 64 KiB of it.
html payload_block(std::string_view payload, std::string_view form, literal label);

}  // namespace tool::web
