#pragma once

#include "html.hpp"
#include "site.hpp"
#include "words.hpp"

namespace tool::web {

/// A value with its name: a fact, a tile, or a cell of a table.
struct item {
  html name;
  html value;
  std::string_view style = {};
  std::string link = {};        ///< The tile's page; of a cell: to the table sorted by its column.
  std::string_view order = {};  ///< Of a cell: how the table is sorted by its column.
};
/// The first cell names the row.
struct row {
  std::vector<item> cells = {};
  std::string live = {};  ///< Names it for the script.
};

html facts(const std::vector<item>& all);
html tiles(const std::vector<item>& all, std::string_view style = "");
/// On narrow screens each row is a card, and each cell has the heading of its column.
html table(std::string_view caption, const std::vector<row>& rows);
html section(std::string_view title, const html& content);
html quiet(const html& words);
html link(const std::string& target, const html& words);
/// ` name="value"`, if it has a value.
html attribute(std::string_view name, std::string_view value);

/// `3 min ago` or `in 3 min`, with the exact time as a hint; nothing without a time.
html when(const std::optional<tableq::timestamp>& time, tableq::timestamp now);
/// `40%: page 12 of 30, 3 s ago`
html progress_words(const std::optional<tableq::message_progress>& of, tableq::timestamp now);
/// A text of a message, at most so many characters, kept apart from the text around it whatever its
/// direction.
html foreign(std::string_view text, std::size_t most = std::string::npos);
template <class Text>
html foreign(const std::optional<Text>& text, std::size_t most = std::string::npos) {
  return text ? foreign(*text, most) : html();
}

/// A field of a form that nobody sees.
html hidden(std::string_view name, std::string_view value);
/// A button that sends a form to an action of this queue: `/pause`.
html button(const call& asked, const std::string& act, std::string_view words,
            const html& inputs = {}, std::string_view style = "");
/// A form behind a click, for what cannot be undone.
html danger(const call& asked, const std::string& act, std::string_view summary,
            std::string_view words, const html& more = {});
/// A way to the actions on this queue, if there were some.
html actions_link(const call& asked);

/// A line that says that the user may not read it.
html no_right(std::string_view what);
/// Why it was not found.
html unread(const not_found& why, std::string_view what);
/// A banner when the database is away.
html trouble_banner(const database_view& all, const std::string& label);

/// A line of a picture.
struct chart_line {
  std::string_view name;
  std::string_view style;
  float sample::*value;
};
/// The ready messages, without axes.
html sparkline(const history* past);
/// Figures over time: their lines, the highest value, and words for those who cannot see them.
html chart(const history* past, std::chrono::milliseconds span, std::string_view title,
           const std::vector<chart_line>& lines);

html payload_block(std::string_view payload, std::string_view form, std::string_view label);

}  // namespace tool::web
