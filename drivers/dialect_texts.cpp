#include "drivers/dialect_texts.hpp"

#include <algorithm>
#include <string>

#include <boost/algorithm/string/erase.hpp>

#include <tableq/error.hpp>

#include "core/seam/contract.hpp"
#include "drivers/own_sessions.hpp"
#include "drivers/text.hpp"

namespace tableq::inline v0::drivers {
namespace {

/// Whether such a transport knows the id of the statement's row: it is given, or newly drawn.
bool has_known_id(const core::contract& contract) {
  return contract.columns.size() == 1 && contract.columns.front().name == "id" &&
         (contract.adds || core::place_among(contract.items, "id") != core::contract::no_place);
}

bool takes_items(const std::string& block) {
  return block.find("{items:") != std::string::npos;
}

}  // namespace

const blocks& text_variants::of(const dialect& definition, std::string dialect::*file,
                                const text_variant& wanted) {
  const std::pair key{file == &dialect::tables, wanted};
  const std::scoped_lock hold(mutex_);
  if (const auto found = parsed_.find(key); found != parsed_.end()) return found->second;
  return parsed_.emplace(key, split_blocks(definition.*file, wanted)).first->second;
}

const blocks& dialect_texts::of_queue(clock_source clock, const core::table_names& names,
                                      message_detail columns) const {
  const bool usual = columns == message_detail::all && !names.sharded && !names.by_turns;
  if (usual && clock == clock_source::database) return statements;
  return variants->of(definition, &dialect::statements,
                      {.clock = clock,
                       .order = names.by_turns ? take_order::turns : take_order::ids,
                       .place = names.sharded ? table_place::shard : table_place::server,
                       .columns = columns});
}

text dialect_texts::compiled(const core::contract& contract, const core::table_names& names,
                             const text_choice& which) const {
  const auto& [clock, form, hinted] = which;
  style as{.markers = transport->markers,
           .batches = batches_of(contract, form),
           .arrays = transport->arrays,
           .rows = form.rows};
  if (contract.texts != nullptr) {
    const core::table_text& made =
        clock == clock_source::given ? contract.texts->given_clock : contract.texts->own_clock;
    return compile(form.one ? made.one : made.many, contract, as);
  }
  const blocks& known = of_queue(clock, names, contract.detail);
  const auto block = known.find(std::string(core::text_name(contract)) + form.ending());
  if (block == known.end()) {
    throw error(errc::unsupported, advice::never, "this database has no such statement",
                {.backend = definition.name, .operation = std::string(contract.name)});
  }
  std::string sql = hinted ? block->second : without_hints(definition, block->second);
  if (transport->bare && has_known_id(contract)) {
    // The last line, which would only return the id.
    const std::size_t end = sql.rfind('\n');
    const bool returns = end != std::string::npos && sql.substr(end + 1).starts_with("RETURNING");
    if (returns) sql.erase(end);
    as.bare = returns || form.next;
  }
  return compile(fill_names(sql, definition, names), contract, as);
}

bool dialect_texts::takes_several(const core::contract& contract, bool payloads) const {
  const text_form form{.next = true, .payloads = payloads};
  const auto found = statements.find(std::string(contract.name) + form.ending());
  return found != statements.end() && takes_items(found->second);
}

batching dialect_texts::batches_of(const core::contract& contract, const text_form& form) const {
  if (form.one) return batching::loop;
  const bool rows = contract.texts == nullptr && further_of(contract).values != 0;
  return rows ? batching::rows : definition.batches;
}

void dialect_texts::learn() {
  if (!statements.empty()) return;
  statements = split_blocks(definition.statements);
  const auto learn_of = [this](const core::contract& of) {
    const auto has = [&](std::string_view ending) {
      return statements.contains(std::string(of.name).append(ending));
    };
    const auto block = statements.find(of.name);
    further.at(static_cast<std::size_t>(of.id)) = {
        .one = has(for_one),
        .next = has(for_next),
        .payloads = has(for_payloads),
        .query = has(for_query),
        .values = block == statements.end() ? 0 : values_of_item(block->second),
        .common = block != statements.end() && block->second.find("{table") == std::string::npos};
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

std::string without_hints(const dialect& definition, std::string text) {
  for (const std::string& hint : definition.plan_hints) boost::algorithm::erase_all(text, hint);
  return text;
}

bool has_no_plan(const dialect& definition, const native_failure& failure) {
  const auto says_so = [&](const native_error& record) {
    return std::ranges::find(definition.plan_failures, record.number) !=
           definition.plan_failures.end();
  };
  const auto says_more = [&](const native_error& record) {
    return record.number != 0 && !says_so(record);
  };
  return !failure.judged() && !says_more(failure.details()) &&
         std::ranges::none_of(failure.more(), says_more) &&
         (says_so(failure.details()) || std::ranges::any_of(failure.more(), says_so));
}

}  // namespace tableq::inline v0::drivers
