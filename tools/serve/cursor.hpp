#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tableq/tableq.hpp>

#include "exit_status.hpp"

namespace tool::web {

/// Where a page of `list` ended, as a part of an address: `17.0.1700000000000`.
std::string cursor_of(const tableq::stored_message& last);

/// The same, read; usage_error if it is not whole.
std::optional<tableq::stored_message> read_cursor(const std::string& text,
                                                  tableq::message_state state);

/// Whole numbers with dots between them; usage_error for another text.
template <std::size_t Count>
std::array<std::int64_t, Count> read_numbers(const std::string& text) {
  std::array<std::int64_t, Count> out{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < Count; ++i) {
    const auto [next, wrong] = std::from_chars(at, end, out[i]);
    const bool last = i + 1 == Count;
    if (wrong != std::errc() || (last ? next != end : next == end || *next != '.')) {
      throw usage_error("This address is not whole.");
    }
    at = last ? next : next + 1;
  }
  return out;
}

}  // namespace tool::web
