#include "drivers/dialect_texts.hpp"

#include <algorithm>
#include <string>

#include <tableq/error.hpp>

#include "core/seam/contract.hpp"
#include "drivers/own_sessions.hpp"
#include "drivers/text.hpp"

namespace tableq::inline v0::drivers {

const blocks& variant_texts::of(const dialect& definition, clock_source clock) {
  std::call_once(parsed_, [&] {
    statements_ =
        split_blocks(definition.statements, clock_source::database, order_, place_, columns_);
    given_clock_ =
        split_blocks(definition.statements, clock_source::given, order_, place_, columns_);
  });
  return clock == clock_source::given ? given_clock_ : statements_;
}

std::array<std::shared_ptr<variant_texts>, 12> all_variants() {
  std::array<std::shared_ptr<variant_texts>, 12> out;
  auto* at = out.begin();
  for (const auto columns :
       {message_columns::all, message_columns::outline, message_columns::seen}) {
    for (const auto place : {table_place::server, table_place::shard}) {
      for (const auto order : {take_order::ids, take_order::turns}) {
        *at++ = std::make_shared<variant_texts>(order, place, columns);
      }
    }
  }
  return out;
}

message_columns columns_of(std::string_view& name) {
  const auto ends = [&](std::string_view ending) {
    if (!name.ends_with(ending)) return false;
    name.remove_suffix(ending.size());
    return true;
  };
  if (ends("_outline")) return message_columns::outline;
  if (ends("_seen")) return message_columns::seen;
  return message_columns::all;
}

const blocks& dialect_texts::of_queue(clock_source clock, const core::table_names& names,
                                      message_columns columns) const {
  const std::size_t variant = static_cast<std::size_t>(columns) * 4 + (names.sharded ? 2U : 0U) +
                              (names.by_turns ? 1U : 0U);
  if (variant != 0) return variants.at(variant)->of(definition, clock);
  return clock == clock_source::given ? given_clock : statements;
}

bool dialect_texts::takes_several(const core::contract& contract, bool payloads) const {
  std::string name = std::string(contract.name).append(drivers::for_next);
  if (payloads) name.append(drivers::for_payloads);
  const auto found = statements.find(name.append(without_rows));
  return found != statements.end() && found->second.find("{items:") != std::string::npos;
}

void dialect_texts::learn() {
  statements = split_blocks(definition.statements);
  given_clock = split_blocks(definition.statements, clock_source::given);
  tables = split_blocks(definition.tables);
  tables_given_clock = split_blocks(definition.tables, clock_source::given);
  const auto names_no_table = [this](std::string_view name) {
    const auto block = statements.find(name);
    return block != statements.end() && block->second.find("{table") == std::string::npos;
  };
  const auto learn_of = [&](const core::contract& of) {
    common.set(static_cast<std::size_t>(of.id), names_no_table(of.name));
    for_one.set(static_cast<std::size_t>(of.id),
                statements.contains(std::string(of.name).append(drivers::for_one)));
    for_mixed.set(static_cast<std::size_t>(of.id),
                  statements.contains(std::string(of.name).append(drivers::for_mixed)));
    for_payloads.set(static_cast<std::size_t>(of.id),
                     statements.contains(std::string(of.name).append(drivers::for_payloads)));
    for_next.set(
        static_cast<std::size_t>(of.id),
        statements.contains(std::string(of.name).append(drivers::for_next).append(without_rows)));
  };
  std::ranges::for_each(core::contracts(), learn_of);
  if (definition.own != nullptr) std::ranges::for_each(definition.own->contracts(), learn_of);
}

std::string dialect_texts::ddl_of(std::string_view part) const {
  const auto found = definition.ddl.find(std::string(part));
  if (found != definition.ddl.end()) return found->second;
  const std::size_t end = part.rfind('/');
  const auto step = definition.steps.find(std::string(part.substr(0, end)));
  if (end != std::string_view::npos && step != definition.steps.end()) {
    const blocks parts = split_blocks(step->second);
    if (const auto of = parts.find(part.substr(end + 1)); of != parts.end()) return of->second;
  }
  throw error(errc::unsupported, advice::never,
              "this database has no queues of the kind " + std::string(part),
              {.backend = definition.name, .operation = "create"});
}

}  // namespace tableq::inline v0::drivers
