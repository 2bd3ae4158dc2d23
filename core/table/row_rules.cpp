#include "core/table/row_rules.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/process.hpp"

namespace tableq::inline v0::core {
namespace {

using condition = table_condition::kind;
using term = table_term::kind;

/// The parameter of a state whose value is a text.
std::string_view parameter_of(bool of_done, row_state which) {
  constexpr std::array names{"waiting_value", "taken_value", "done_value", "dead_value"};
  if (of_done) return which == row_state::done ? "is_done_value" : "not_done_value";
  return names.at(static_cast<std::size_t>(which));
}

const state_value& value_for(const table_state& rules, row_state which) {
  switch (which) {
    case row_state::waiting:
      return rules.waiting;
    case row_state::done:
      return rules.done ? *rules.done : rules.taken;
    case row_state::dead:
      return rules.dead ? *rules.dead : rules.taken;
    case row_state::taken:
      break;
  }
  return rules.taken;
}

}  // namespace

std::string_view numbered_name(std::string_view stem, std::size_t number) {
  const std::string name = std::string(stem) + std::to_string(number);
  const std::scoped_lock hold(process_wide());
  static std::map<std::string, std::unique_ptr<std::string>> known;  // process_wide() guards it
  auto& kept = known[name];
  if (kept == nullptr) kept = std::make_unique<std::string>(name);
  return *kept;
}

table_term from_now(std::string_view parameter) {
  return {.is = term::clock, .parameter = parameter};
}

table_term row_rules::constant(bool of_done, const table_state& rules, row_state which) {
  const state_value& wanted = value_for(rules, which);
  if (const auto* number = std::get_if<std::int64_t>(&wanted)) {
    return {.is = term::number, .number = *number};
  }
  const std::string_view name = parameter_of(of_done, which);
  texts_[name] = std::get<std::string>(wanted);
  return {.is = term::given, .parameter = name};
}

table_condition row_rules::is(const state_column& column, bool of_done, row_state which) {
  if (column.rules.is == table_state::form::time) {
    return {column.column, which == row_state::waiting ? condition::null : condition::not_null};
  }
  return {column.column, condition::equals, constant(of_done, column.rules, which)};
}

table_term row_rules::to(const state_column& column, bool of_done, row_state which) {
  if (column.rules.is != table_state::form::time) return constant(of_done, column.rules, which);
  return {.is = which == row_state::waiting ? term::null : term::clock};
}

row_rules::conditions row_rules::in_state(row_state which) {
  conditions out;
  if (layout_.state) out.push_back(is(*layout_.state, false, which));
  if (layout_.done) out.push_back(is(*layout_.done, true, row_state::waiting));
  // A row with NULL in its key could be found, but never changed by its key.
  for (const std::size_t each : layout_.key) {
    if (!layout_.columns[each].required) out.push_back({each, condition::not_null});
  }
  return out;
}

row_rules::conditions row_rules::ready() {
  conditions out = in_state(row_state::waiting);
  if (layout_.due_at) {
    out.push_back({*layout_.due_at, condition::null_or_at_most, {.is = term::clock}});
  }
  return out;
}

row_rules::conditions row_rules::delayed() {
  conditions out = in_state(row_state::waiting);
  out.push_back({*layout_.due_at, condition::above, {.is = term::clock}});
  return out;
}

row_rules::conditions row_rules::leased() {
  conditions out = taken();
  if (layout_.lease_until) out.push_back({*layout_.lease_until, condition::not_null});
  return out;
}

row_rules::conditions row_rules::expired() {
  conditions out = taken();
  out.push_back({*layout_.lease_until, condition::at_most, {.is = term::clock}});
  return out;
}

row_rules::conditions row_rules::running() {
  conditions out = taken();
  out.push_back({*layout_.lease_until, condition::above, {.is = term::clock}});
  return out;
}

row_rules::conditions row_rules::done() {
  if (layout_.done) return {is(*layout_.done, true, row_state::done)};
  return {is(*layout_.state, false, row_state::done)};
}

row_rules::conditions row_rules::exhausted() const {
  if (!layout_.max_attempts) return {};
  return {{*layout_.attempts,
           condition::above,
           {.is = term::number, .number = *layout_.max_attempts - 1}}};
}

row_rules::conditions row_rules::dead() {
  if (layout_.state->rules.dead) return {is(*layout_.state, false, row_state::dead)};
  conditions out = taken();
  // A row that was given up keeps attempts, so only the ended lease tells that it is dead.
  if (layout_.lease_until) {
    out.push_back({*layout_.lease_until, condition::null});
    return out;
  }
  const conditions last = exhausted();
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

row_rules::conditions row_rules::stuck() {
  return layout_.completed == on_complete::leave ? leased() : taken();
}

row_rules::conditions row_rules::held() {
  conditions out;
  for (std::size_t i = 0; i < layout_.key.size(); ++i) {
    out.push_back({layout_.key[i],
                   condition::equals,
                   {.is = term::given, .parameter = numbered_name("key_", i)}});
  }
  if (layout_.fence) {
    out.push_back({*layout_.fence, condition::equals, {.is = term::given, .parameter = "fence"}});
  }
  const conditions state = leased();
  out.insert(out.end(), state.begin(), state.end());
  return out;
}

void row_rules::set(assignments& in, const table_assignment& more) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const table_assignment& each) {
    return each.column == more.column;
  });
  if (found == in.end()) {
    in.push_back(more);
  } else {
    *found = more;
  }
}

row_rules::assignments row_rules::take() {
  assignments out;
  set(out, {layout_.state->column, to(*layout_.state, false, row_state::taken)});
  if (layout_.taken_at) set(out, {*layout_.taken_at, {.is = term::clock}});
  if (layout_.lease_until) set(out, {*layout_.lease_until, from_now("lease")});
  if (layout_.attempts) set(out, {*layout_.attempts, {.is = term::changed, .number = 1}});
  if (layout_.fence) set(out, {*layout_.fence, {.is = term::fence, .parameter = "token"}});
  return out;
}

row_rules::assignments row_rules::complete() {
  assignments out;
  if (layout_.lease_until) set(out, {*layout_.lease_until, {}});
  if (layout_.completed == on_complete::mark) {
    if (layout_.done) set(out, {layout_.done->column, to(*layout_.done, true, row_state::done)});
    if (layout_.state->rules.done) {
      set(out, {layout_.state->column, to(*layout_.state, false, row_state::done)});
    }
  }
  end_hold(out);
  // An UPDATE must set something.
  if (out.empty()) out.push_back({layout_.state->column, {.is = term::changed}});
  return out;
}

row_rules::assignments row_rules::back(bool may_die) {
  assignments out;
  table_assignment state{layout_.state->column, to(*layout_.state, false, row_state::waiting)};
  if (may_die) {
    const bool time = layout_.state->rules.is == table_state::form::time;
    state.differs_if_dead = true;
    state.if_dead =
        time ? table_term{.is = term::changed} : to(*layout_.state, false, row_state::dead);
  }
  if (layout_.lease_until) set(out, {*layout_.lease_until, {}});
  end_hold(out);
  set(out, state);
  return out;
}

void row_rules::end_hold(assignments& in) const {
  if (layout_.fence) set(in, {*layout_.fence, {.is = term::changed, .number = 1}});
}

}  // namespace tableq::inline v0::core
