#include "cursor.hpp"

#include <cstdint>

namespace tool::web {

using tableq::message_state;
using tableq::stored_message;

std::string cursor_of(const stored_message& last) {
  const auto time = last.finished_at ? last.finished_at : last.due_at;
  return std::to_string(last.id.value) + "." + std::to_string(last.priority) + "." +
         std::to_string(time.value_or(tableq::timestamp()).time_since_epoch().count());
}

std::optional<stored_message> read_cursor(const std::string& text, message_state state) {
  if (text.empty()) return std::nullopt;
  const auto numbers = read_numbers<3>(text);
  if (numbers[1] < INT32_MIN || numbers[1] > INT32_MAX) {
    throw usage_error("This address is not whole.");
  }
  stored_message out;
  out.id.value = numbers[0];
  out.priority = static_cast<std::int32_t>(numbers[1]);
  const tableq::timestamp time{std::chrono::milliseconds{numbers[2]}};
  const bool finished = state == message_state::done || state == message_state::dead;
  (finished ? out.finished_at : out.due_at) = time;
  return out;
}

}  // namespace tool::web
