#include "core/table/column_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

/// In UTF-8.
std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

/// Whether a list of lines has that line.
bool has_line(const std::string& lines, const std::string& line) {
  return ("\n" + lines + "\n").find("\n" + line + "\n") != std::string::npos;
}

/// An integer of one byte has no sign.
bool fits(std::int64_t number, std::int64_t bytes) {
  if (bytes == 0 || bytes >= 8) return true;
  const std::int64_t end = std::int64_t{1} << (8 * bytes - (bytes == 1 ? 0 : 1));
  return number < end && number >= (bytes == 1 ? 0 : -end);
}

class column_checks {
 public:
  explicit column_checks(const table_layout& layout) : layout_(layout) {}

  void all() const {
    check_nulls();
    check_times();
    check_texts();
    check_order();
    if (layout_.state) check_values(*layout_.state);
    if (layout_.done) check_values(*layout_.done);
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& sentence) const {
    refuse("the table " + layout_.table + ": the column " + layout_.columns[at].name + sentence);
  }
  [[nodiscard]] std::string typed(std::size_t at) const {
    return " has the type " + layout_.columns[at].declared;
  }

  void check_nulls() const {
    const auto needs = [&](std::optional<std::size_t> at, const std::string& meaning) {
      if (at && layout_.columns[*at].required) fail(*at, " must not be NULL, but " + meaning);
    };
    const auto needs_time = [&](const std::optional<state_column>& state, const char* meaning) {
      if (state && state->rules.is == table_state::form::time) needs(state->column, meaning);
    };
    needs_time(layout_.state, "NULL is what tells that a row waits");
    needs_time(layout_.done, "NULL is what tells that a row is not completed");
    needs(layout_.lease_until, "as lease_until it is NULL while a row has no lease");
  }

  void check_times() const {
    for (const auto& at : {layout_.lease_until, layout_.due_at, layout_.taken_at}) {
      if (!at || !has_trait(layout_.columns[*at], "coarse")) continue;
      fail(*at, typed(*at) +
                    "; as lease_until, due_at or taken_at it must hold times to the millisecond");
    }
  }

  void check_texts() const {
    for (const auto& at : {layout_.last_error, layout_.errors}) {
      if (!at || !has_trait(layout_.columns[*at], "typed")) continue;
      fail(*at, typed(*at) + "; as last_error or errors it must take any text");
    }
  }

  void check_order() const {
    const auto needs = [&](std::size_t at, const std::string& role) {
      if (!has_trait(layout_.columns[at], "unordered")) return;
      fail(at, typed(at) + ", which cannot be sorted and compared; " + role + " needs that");
    };
    for (const std::size_t at : layout_.key) needs(at, "key");
    for (const table_order& each : layout_.order) needs(each.column, "order");
    if (layout_.state) needs(layout_.state->column, "waiting");
    if (layout_.done) needs(layout_.done->column, "done");
  }

  void check_values(const state_column& state) const {
    if (state.rules.is == table_state::form::time) return;
    check_value(state.column, state.rules.waiting);
    check_value(state.column, state.rules.taken);
    for (const auto& each : {state.rules.done, state.rules.dead}) {
      if (!each) continue;
      check_value(state.column, *each);
      if (*each == state.rules.waiting) {
        fail(state.column, ": rows that wait and rows that are done or dead have the same value");
      }
    }
  }

  void check_value(std::size_t at, const state_value& wanted) const {
    const table_column& column = layout_.columns[at];
    if (const auto* number = std::get_if<std::int64_t>(&wanted)) {
      const bool boolean = type_of(column) == column_type::boolean;
      if (boolean ? *number == 0 || *number == 1 : fits(*number, column.room)) return;
      fail(at, typed(at) + ", which cannot hold the value " + std::to_string(*number));
    }
    const auto& text = std::get<std::string>(wanted);
    const auto room = static_cast<std::size_t>(column.room);
    if (room > 0 && characters_of(text) > room) {
      fail(at, typed(at) + ", which is too short for the value " + text);
    }
    if (!column.labels.empty() && !has_line(column.labels, text)) {
      fail(at, typed(at) + ", which has no value " + text);
    }
  }

  const table_layout& layout_;
};

}  // namespace

void check_columns(const table_layout& layout) {
  column_checks(layout).all();
}

}  // namespace tableq::inline v0::core
