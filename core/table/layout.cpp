#include "core/table/layout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"

namespace tableq::inline v0::core {
namespace {

std::string listed_columns(const std::vector<table_column>& columns) {
  std::string out;
  for (const table_column& each : columns) {
    if (!out.empty()) out += ", ";
    out += each.name;
  }
  return out;
}

/// Finds and checks the columns of one mapping.
class resolver {
 public:
  resolver(const table_description& found, const table_mapping& mapping)
      : found_(found), mapping_(mapping) {
    out_.schema = found.schema;
    out_.table = found.name;
    out_.columns = found.columns;
  }

  table_layout made() && {
    for (const table_column& each : found_.columns) check_name(each.name);
    check_name(found_.name);
    find_key();
    find_shown();
    find_state();
    find_roles();
    check_roles();
    find_order();
    check_ordering();
    check_whole();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const {
    refuse("the table " + found_.name + ": " + sentence);
  }

  /// Such signs have a meaning in templates.
  void check_name(const std::string& name) const {
    if (name.find_first_of(std::string_view("{}\0", 3)) == std::string::npos) return;
    fail("names with braces or NUL cannot be used");
  }

  [[nodiscard]] std::size_t column(std::string_view role, const std::string& name) const {
    if (name.empty()) fail("the mapping's " + std::string(role) + " names no column");
    if (const auto found = find_column(found_.columns, name)) return *found;
    fail("it has no column " + name + ", which the mapping names as " + std::string(role) +
         "; it has " + listed_columns(found_.columns));
  }

  [[nodiscard]] std::size_t column(std::string_view role, const std::string& name,
                                   std::initializer_list<column_type> fitting) const {
    const std::size_t at = column(role, name);
    const column_type type = type_of(found_.columns[at]);
    if (std::find(fitting.begin(), fitting.end(), type) != fitting.end()) return at;
    std::string needed;
    for (const column_type each : fitting) {
      if (!needed.empty()) needed += " or ";
      needed += to_string(each);
    }
    fail("the column " + found_.columns[at].name + " has the type " + found_.columns[at].declared +
         ", " + std::string(to_string(type)) + "; as " + std::string(role) + " it must be " +
         needed);
  }

  [[nodiscard]] std::optional<std::size_t> role(std::string_view name,
                                                const std::string& column_name,
                                                std::initializer_list<column_type> fitting) const {
    if (column_name.empty()) return std::nullopt;
    const std::size_t at = column(name, column_name, fitting);
    if (found_.columns[at].computed) {
      fail("the database computes the column " + found_.columns[at].name + "; as " +
           std::string(name) + " it must be writable");
    }
    return at;
  }

  void find_key() {
    using enum column_type;
    for (const std::string& each : mapping_.key) {
      const std::size_t at = column("key", each, {integer, text});
      if (std::find(out_.key.begin(), out_.key.end(), at) != out_.key.end()) {
        fail("the key names the column " + each + " twice");
      }
      out_.key.push_back(at);
    }
    if (out_.key.empty()) return;
    std::vector<std::string> names;
    for (const std::size_t at : out_.key) names.push_back(found_.columns[at].name);
    const bool unique = std::any_of(
        found_.unique.begin(), found_.unique.end(), [&](const std::vector<std::string>& index) {
          return !index.empty() && std::all_of(index.begin(), index.end(), [&](const auto& each) {
            return std::find(names.begin(), names.end(), each) != names.end();
          });
        });
    if (!unique) {
      fail("no unique index guards the key; make one, or name the columns of a primary key");
    }
  }

  void find_shown() {
    if (mapping_.columns.empty()) {
      for (std::size_t i = 0; i < found_.columns.size(); ++i) out_.shown.push_back(i);
    }
    for (const std::string& each : mapping_.columns) out_.shown.push_back(column("columns", each));
  }

  [[nodiscard]] state_column state(std::string_view name, const table_state& rules) const {
    using enum column_type;
    if (rules.is == table_state::form::time) {
      return {*role(name, rules.column, {time, integer, text}), rules};
    }
    const bool texts = std::holds_alternative<std::string>(rules.waiting);
    const auto same = [&](const std::optional<state_value>& each) {
      return !each || std::holds_alternative<std::string>(*each) == texts;
    };
    if (!same(rules.taken) || !same(rules.done) || !same(rules.dead)) {
      fail("the values of " + rules.column + " are numbers or texts, not both");
    }
    if (rules.waiting == rules.taken) {
      fail("rows that wait and rows that are taken have the same value in " + rules.column);
    }
    return texts ? state_column{*role(name, rules.column, {text}), rules}
                 : state_column{*role(name, rules.column, {integer, boolean}), rules};
  }

  void find_state() {
    if (mapping_.waiting.is != table_state::form::every_row) {
      out_.state = state("waiting", mapping_.waiting);
    }
    if (!mapping_.done) return;
    if (mapping_.done->is == table_state::form::every_row) fail("done names no column");
    out_.done = state("done", *mapping_.done);
  }

  void find_roles() {
    using enum column_type;
    out_.taken_at = role("taken_at", mapping_.taken_at, {time, integer, text});
    out_.lease_until = role("lease_until", mapping_.lease_until, {time, integer, text});
    out_.due_at = role("due_at", mapping_.due_at, {time, integer, text});
    out_.attempts = role("attempts", mapping_.attempts, {integer});
    out_.priority = role("priority", mapping_.priority, {integer});
    out_.last_error = role("last_error", mapping_.last_error, {text});
    out_.errors = role("errors", mapping_.errors, {text});
    out_.fence = role("fence", mapping_.fence, {integer});
    for (const auto& at : {out_.taken_at, out_.lease_until, out_.due_at}) as_time(at);
    if (out_.state && out_.state->rules.is == table_state::form::time) as_time(out_.state->column);
    if (out_.done && out_.done->rules.is == table_state::form::time) as_time(out_.done->column);
  }

  /// One column cannot serve two roles if a statement sets it. The time of a take may tell what
  /// waits, and so may the end of the lease.
  void check_roles() const {
    const std::optional<std::size_t> state =
        out_.state ? std::optional(out_.state->column) : std::nullopt;
    const std::optional<std::size_t> done =
        out_.done ? std::optional(out_.done->column) : std::nullopt;
    const std::array<std::pair<std::string_view, std::optional<std::size_t>>, 9> set{
        {{"waiting", state},
         {"taken_at", out_.taken_at},
         {"lease_until", out_.lease_until},
         {"done", done},
         {"due_at", out_.due_at},
         {"fence", out_.fence},
         {"attempts", out_.attempts},
         {"last_error", out_.last_error},
         {"errors", out_.errors}}};
    const bool timed = out_.state && out_.state->rules.is == table_state::form::time;
    for (std::size_t i = 0; i < set.size(); ++i) {
      const auto& [role, at] = set[i];
      if (!at) continue;
      if (at == out_.priority) two_roles(*at, role, "priority");
      const bool in_key = std::find(out_.key.begin(), out_.key.end(), *at) != out_.key.end();
      if (in_key && i > 0) two_roles(*at, role, "key");
      for (std::size_t k = i + 1; k < set.size(); ++k) {
        const bool may = i == 0 && timed && k <= 2;
        if (at == set[k].second && !may) two_roles(*at, role, set[k].first);
      }
    }
  }
  [[noreturn]] void two_roles(std::size_t at, std::string_view one, std::string_view other) const {
    fail("the column " + found_.columns[at].name + " cannot be both " + std::string(one) + " and " +
         std::string(other) + "; give each a column of its own");
  }

  /// A text can hold times where the database's functions work on texts, and an integer if it has
  /// 64 bits.
  void as_time(const std::optional<std::size_t>& at) {
    if (!at) return;
    table_column& column = out_.columns[*at];
    if (type_of(column) == column_type::integer && column.room != 8) {
      fail("the column " + column.name + " has the type " + column.declared +
           "; for a time in milliseconds an integer must have 64 bits");
    }
    if (type_of(column) != column_type::text) return;
    if (!has_trait(column, "timed")) {
      fail("the column " + column.name + " has the type " + column.declared +
           ", a text; for a time it must be a time or an integer");
    }
    column.form = has_trait(column, "zoned") ? "time.zoned" : "time";
  }

  void find_order() {
    if (out_.priority) out_.order.push_back({*out_.priority, true});
    for (const order_by& each : mapping_.order) {
      out_.order.push_back({column("order", each.column), each.descending});
    }
    if (!mapping_.order.empty()) return;
    for (const std::size_t at : out_.key) out_.order.push_back({at, false});
  }

  void check_ordering() {
    out_.ordering = mapping_.ordering;
    if (out_.ordering == ordering::strict && out_.order.empty()) {
      fail("strict ordering needs an order; name order, or the key");
    }
  }

  void check_whole() {
    check_lease(mapping_.lease);
    const bool markable = out_.done || (out_.state && out_.state->rules.done);
    out_.completed =
        mapping_.completed.value_or(markable ? on_complete::mark : on_complete::remove);
    out_.max_attempts = mapping_.max_attempts;
    out_.lease = mapping_.lease;
    if (out_.key.empty() && found_.keyless) {
      fail("the database gives its rows no address that is unique; name the key");
    }
    if (out_.removes()) return check_removing();
    if (out_.key.empty()) fail("without a key no taken row can be found again; name the key");
    if (out_.fence && found_.columns[*out_.fence].room != 8) {
      fail("the column " + found_.columns[*out_.fence].name + " has the type " +
           found_.columns[*out_.fence].declared + "; as fence it must be an integer of 64 bits");
    }
    if (mapping_.max_attempts && (!out_.attempts || *mapping_.max_attempts < 1)) {
      fail("max_attempts is at least 1, and needs attempts, a column that counts them");
    }
    if (out_.completed == on_complete::mark && !markable) {
      fail("completed=mark needs done, a column or a state that tells that a row is completed");
    }
    if (out_.lease_tells() && (out_.state->rules.is != table_state::form::time ||
                               (out_.completed != on_complete::remove && !out_.done))) {
      fail("the column " + found_.columns[out_.state->column].name +
           " tells what waits and when the lease ends; then complete must remove the row or mark "
           "it in a column done");
    }
    if (out_.lease_tells() && mapping_.max_attempts) {
      fail("the column " + found_.columns[out_.state->column].name +
           " tells what waits and when the lease ends, so nothing tells a dead row; for "
           "max_attempts give lease_until a column of its own");
    }
  }

  void check_removing() const {
    const bool more = out_.done || out_.taken_at || out_.lease_until || out_.fence ||
                      out_.attempts || out_.last_error || out_.errors || out_.max_attempts;
    if (more) {
      fail(
          "the mapping has no column that tells what waits, so a take deletes the row; nothing "
          "can be marked in it. Name waiting, or leave out taken_at, lease_until, fence, "
          "attempts, last_error, errors and done");
    }
  }

  const table_description& found_;
  const table_mapping& mapping_;
  table_layout out_;
};

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

column_type type_of(const table_column& column) noexcept {
  const std::string_view family = std::string_view(column.form).substr(0, column.form.find('.'));
  if (family == "integer") return column_type::integer;
  if (family == "boolean") return column_type::boolean;
  if (family == "number") return column_type::number;
  if (family == "bytes") return column_type::bytes;
  return family == "time" ? column_type::time : column_type::text;
}

bool has_trait(const table_column& column, std::string_view trait) {
  const std::string parts = column.form + ".";
  return parts.find("." + std::string(trait) + ".") != std::string::npos;
}

std::optional<std::size_t> find_column(const std::vector<table_column>& columns,
                                       std::string_view name) {
  std::optional<std::size_t> found;
  std::size_t alike = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
    if (!equal_but_for_case(columns[i].name, name)) continue;
    found = i;
    ++alike;
  }
  return alike == 1 ? found : std::nullopt;
}

table_layout resolve(const table_description& found, const table_mapping& mapping) {
  return resolver(found, mapping).made();
}

table_guarantee table_layout::guarantee() const {
  table_guarantee out{.at_least_once = lease_until.has_value(),
                      .fenced = fence.has_value(),
                      .ends = max_attempts.has_value(),
                      .settles = !removes()};
  if (removes()) {
    out.words = "At most once: a take deletes the row.";
    return out;
  }
  out.words = lease_until ? "At least once: a row comes back when its lease ends."
                          : "At most once: without lease_until a taken row stays taken until "
                            "requeue_older_than, fail or release.";
  out.words += fence ? " Settlements are fenced: a late one has no effect on a later take."
                     : " Settlements are not fenced: a late one may settle a later take.";
  out.words += max_attempts ? " A row that fails is dead after its last attempt."
                            : " A row that always fails has no last attempt.";
  out.words += completed == on_complete::remove ? " `complete` deletes the row."
               : completed == on_complete::mark ? " `complete` marks the row."
                                                : " `complete` leaves the row as taken.";
  return out;
}

void check_columns(const table_layout& layout) {
  column_checks(layout).all();
}

}  // namespace tableq::inline v0::core
