#include <tableq/table_definition.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tableq/error.hpp>
#include <tableq/text.hpp>

#include "core/base/enum_names.hpp"
#include "core/base/errors.hpp"

namespace tableq::inline v0 {
namespace {

using core::refuse;
// In the order in which a person writes it.
using json = nlohmann::ordered_json;
using form = table_state::form;

constexpr std::string_view descending = "descending";

/// The members that name one column, and `schema`.
struct name_member {
  std::string_view name;
  std::string table_mapping::*at;
};
constexpr std::array name_members{
    name_member{"schema", &table_mapping::schema},
    name_member{"taken_at", &table_mapping::taken_at},
    name_member{"lease_until", &table_mapping::lease_until},
    name_member{"fence", &table_mapping::fence},
    name_member{"attempts", &table_mapping::attempts},
    name_member{"last_error", &table_mapping::last_error},
    name_member{"errors", &table_mapping::errors},
    name_member{"due_at", &table_mapping::due_at},
    name_member{"priority", &table_mapping::priority},
};

constexpr std::array<std::pair<form, std::string_view>, 3> forms{
    {{form::flag, "flag"}, {form::time, "null_time"}, {form::states, "states"}}};

json to_json(const state_value& value) {
  return std::visit([](const auto& held) { return json(held); }, value);
}

json to_json(const table_state& state) {
  json out = json::object();
  for (const auto& [is, name] : forms) {
    if (state.is == is) out[std::string(name)] = state.column;
  }
  if (state.is == form::time) return out;
  const table_state otherwise;
  const bool all = state.is == form::states;
  if (all || state.waiting != otherwise.waiting) out["waiting"] = to_json(state.waiting);
  if (all || state.taken != otherwise.taken) out["taken"] = to_json(state.taken);
  if (state.done) out["done"] = to_json(*state.done);
  if (state.dead) out["dead"] = to_json(*state.dead);
  return out;
}

json to_json(const std::vector<order_by>& order) {
  json out = json::array();
  for (const order_by& each : order) {
    if (each.descending) {
      out.push_back(json{{"column", each.column}, {std::string(descending), true}});
    } else {
      out.push_back(each.column);
    }
  }
  return out;
}

json to_json(const table_mapping& mapping) {
  json out = json::object();
  if (!mapping.key.empty()) out["key"] = mapping.key;
  if (mapping.waiting.is != form::every_row) out["waiting"] = to_json(mapping.waiting);
  if (!mapping.order.empty()) out["order"] = to_json(mapping.order);
  if (!mapping.columns.empty()) out["columns"] = mapping.columns;
  for (const name_member& each : name_members) {
    if (!(mapping.*each.at).empty()) out[std::string(each.name)] = mapping.*each.at;
  }
  const table_mapping otherwise;
  if (mapping.done) out["done"] = to_json(*mapping.done);
  if (mapping.completed) out["completed"] = to_string(*mapping.completed);
  if (mapping.ordering != otherwise.ordering) out["ordering"] = to_string(mapping.ordering);
  if (mapping.max_attempts) out["max_attempts"] = *mapping.max_attempts;
  if (mapping.lease != otherwise.lease) out["lease_ms"] = mapping.lease.count();
  return out;
}

/// Reads one member. Its errors name it.
class member {
 public:
  member(std::string name, const json& value) : name_(std::move(name)), value_(value) {}

  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) wrong("text");
    return value_.get<std::string>();
  }
  [[nodiscard]] std::int64_t integer() const {
    const bool fits = value_.is_number_unsigned()
                          ? std::in_range<std::int64_t>(value_.get<std::uint64_t>())
                          : value_.is_number_integer();
    if (!fits) wrong("an integer of 64 bits");
    return value_.get<std::int64_t>();
  }
  [[nodiscard]] int small_integer() const {
    const std::int64_t found = integer();
    if (!std::in_range<int>(found)) wrong("an integer of 32 bits");
    return static_cast<int>(found);
  }
  [[nodiscard]] bool boolean() const {
    if (!value_.is_boolean()) wrong("true or false");
    return value_.get<bool>();
  }
  /// A text stands for a list of one.
  [[nodiscard]] std::vector<std::string> texts() const {
    if (value_.is_string()) return {text()};
    std::vector<std::string> out;
    for (const json& each : array("text")) out.push_back(member(name_, each).text());
    return out;
  }
  [[nodiscard]] state_value constant() const {
    if (value_.is_string()) return text();
    if (!value_.is_number_integer()) wrong("an integer or text");
    return integer();
  }
  template <class Value>
  [[nodiscard]] Value one_of(std::initializer_list<Value> values, std::string_view all) const {
    const auto found = core::named_among(values, text());
    if (!found) wrong(all);
    return *found;
  }
  [[nodiscard]] std::vector<order_by> order() const {
    if (value_.is_string()) return {{.column = text()}};
    std::vector<order_by> out;
    for (const json& each : array("columns")) {
      const member one(name_, each);
      out.push_back(each.is_string() ? order_by{.column = one.text()} : one.directed());
    }
    return out;
  }
  [[nodiscard]] table_state state() const {
    table_state out;
    if (!value_.is_object()) wrong("an object with flag, null_time or states");
    for (const auto& [key, value] : value_.items()) {
      for (const auto& [is, name] : forms) {
        if (key != name) continue;
        if (!out.column.empty()) wrong("one of flag, null_time and states");
        out.is = is;
        out.column = inside(key).text();
      }
    }
    if (out.column.empty()) wrong("an object with flag, null_time or states");
    read_values(out);
    return out;
  }

  [[noreturn]] void unknown() const {
    refuse(
        "a mapping has no member " + name_ +
        "; it has table, key, waiting (with flag, null_time or states, and waiting, taken, done, "
        "dead), order (with column, descending), ordering, columns, schema, taken_at, "
        "lease_until, lease_ms, fence, attempts, max_attempts, last_error, errors, due_at, "
        "priority, done, completed");
  }

 private:
  [[noreturn]] void wrong(std::string_view needed) const {
    refuse("the mapping's member " + name_ + " must be " + std::string(needed));
  }
  [[nodiscard]] const json& array(std::string_view items) const {
    if (!value_.is_array()) wrong("a list of " + std::string(items));
    return value_;
  }
  [[nodiscard]] member inside(const std::string& key) const {
    return {name_ + "." + key, value_.at(key)};
  }
  [[nodiscard]] order_by directed() const {
    if (!value_.is_object() || !value_.contains("column")) wrong("a list of columns");
    order_by out;
    for (const auto& [key, value] : value_.items()) {
      if (key == "column") {
        out.column = inside(key).text();
      } else if (key == descending) {
        out.descending = inside(key).boolean();
      } else {
        inside(key).unknown();
      }
    }
    return out;
  }
  void read_values(table_state& out) const {
    const bool all = out.is == form::states;
    bool waiting = false;
    bool taken = false;
    for (const auto& item : value_.items()) {
      const std::string& key = item.key();
      const bool is_form = std::any_of(forms.begin(), forms.end(),
                                       [&](const auto& each) { return each.second == key; });
      if (is_form) continue;
      if (out.is == form::time) inside(key).unknown();
      if (key == "waiting") {
        out.waiting = inside(key).constant();
        waiting = true;
      } else if (key == "taken") {
        out.taken = inside(key).constant();
        taken = true;
      } else if (key == "done") {
        out.done = inside(key).constant();
      } else if (key == "dead") {
        out.dead = inside(key).constant();
      } else {
        inside(key).unknown();
      }
    }
    if (all && !(waiting && taken)) wrong("an object with states, waiting and taken");
  }

  std::string name_;
  const json& value_;
};

/// @return false: a mapping has no such member.
bool read_name(std::string_view name, const member& from, table_mapping& into) {
  const auto* const found = std::find_if(name_members.begin(), name_members.end(),
                                         [&](const auto& each) { return each.name == name; });
  if (found == name_members.end()) return false;
  into.*found->at = from.text();
  return true;
}

void read_member(const std::string& name, const json& value, table_definition& out) {
  const member from(name, value);
  table_mapping& mapping = out.mapping;
  if (name == "table") {
    out.table = from.text();
  } else if (name == "key") {
    mapping.key = from.texts();
  } else if (name == "waiting") {
    mapping.waiting = from.state();
  } else if (name == "order") {
    mapping.order = from.order();
  } else if (name == "columns") {
    mapping.columns = from.texts();
  } else if (name == "done") {
    mapping.done = from.state();
  } else if (name == "completed") {
    mapping.completed = from.one_of({on_complete::remove, on_complete::mark, on_complete::leave},
                                    "remove, mark or leave");
  } else if (name == "ordering") {
    mapping.ordering = from.one_of({ordering::relaxed, ordering::strict}, "relaxed or strict");
  } else if (name == "max_attempts") {
    mapping.max_attempts = from.small_integer();
  } else if (name == "lease_ms") {
    mapping.lease = std::chrono::milliseconds(from.integer());
  } else if (!read_name(name, from, mapping)) {
    from.unknown();
  }
}

/// Refuses a member that stands twice in one object: JSON would silently use the last.
class member_names {
 public:
  bool operator()(int /*depth*/, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key) {
      const auto name = parsed.get<std::string>();
      if (!open_.back().insert(name).second)
        refuse("the mapping has the member " + name + " twice");
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
};

json parsed(std::string_view text) {
  try {
    member_names names;
    return json::parse(text, std::ref(names));
  } catch (const json::parse_error& wrong) {
    refuse("a mapping is a JSON object in UTF-8; this text is none at byte " +
           std::to_string(wrong.byte));
  } catch (const json::exception&) {
    refuse("a mapping is a JSON object in UTF-8; this one has a number out of range");
  }
}

}  // namespace

std::string to_json(const table_definition& definition) {
  json out = json::object();
  out["table"] = definition.table;
  out.update(to_json(definition.mapping));
  try {
    return out.dump();
  } catch (const json::type_error&) {
    throw error(errc::invalid_argument, advice::never,
                "a name or value of the mapping is not UTF-8", {.operation = "to_json"});
  }
}

table_definition parse_table_definition(text_view json) {
  return core::named({}, "parse_table_definition", [&] {
    const nlohmann::ordered_json members = parsed(json.view());
    if (!members.is_object()) refuse("a mapping is a JSON object in UTF-8");
    table_definition out;
    for (const auto& [name, value] : members.items()) read_member(name, value, out);
    if (out.table.empty()) refuse("the mapping has no member table, the table's name");
    return out;
  });
}

}  // namespace tableq::inline v0
