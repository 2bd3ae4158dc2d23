#pragma once

#include <array>
#include <concepts>

#include <tableq/tableq.hpp>

#include "watched.hpp"

namespace tool::web {

/// Counts of a queue in the order of a message's life: those of its states, and of dead ones
/// elsewhere.
inline constexpr std::array figures_shown{"ready", "leased", "delayed",     "held",
                                          "done",  "dead",   "dead_letters"};

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
/// `Max attempts`, of `max_attempts`.
std::string label(std::string_view name);

/// The highest value, and the points as an SVG path in a box; a value that is not known is a gap.
/// The newest is at the right edge.
float highest(const history& past, float sample::*which);
std::string path_of(const history& past, float sample::*which, float most, float width,
                    float height);

/// The form that fits: `json` if it is an object or a list, `text` if it is UTF-8, otherwise `hex`.
std::string fitting_form(std::string_view payload);
/// The most bytes of a payload that a page shows in this form.
std::size_t most_shown(std::string_view form);
std::string payload_words(std::string_view payload, std::string_view form);

}  // namespace tool::web
