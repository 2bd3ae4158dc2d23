#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tableq/tableq.hpp>

#include "figures.hpp"
#include "html.hpp"

namespace tool::web {

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
/// `3 min ago` or `in 3 min`, with the exact time as a hint.
html when(tableq::timestamp time, tableq::timestamp now);
/// `40%: page 12 of 30, 3 s ago`
html progress_words(const tableq::message_progress& of, tableq::timestamp now);
/// A text of a message, kept apart from the text around it whatever its direction.
html foreign(std::string_view text);
/// The same, at most so many characters.
html foreign_start(std::string_view text, std::size_t most);
/// `1 message`, `12 messages`.
std::string messages_words(std::size_t count);

}  // namespace tool::web
