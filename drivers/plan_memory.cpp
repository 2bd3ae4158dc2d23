#include "drivers/plan_memory.hpp"

#include <algorithm>
#include <utility>

#include <boost/algorithm/string/erase.hpp>

#include <tableq/error.hpp>

#include "drivers/pieces.hpp"
#include "drivers/text.hpp"

namespace tableq::inline v0::drivers {

std::string with_hints(const dialect& definition, std::string text, hints kept) {
  const auto leave_out = [&text](const std::vector<std::string>& some) {
    for (const std::string& hint : some) boost::algorithm::erase_all(text, hint);
  };
  if (kept != hints::all) leave_out(definition.plan_hints);
  if (kept == hints::none) leave_out(definition.order_hints);
  return text;
}

text compiled(const dialect_texts& texts, const core::contract& contract,
              const core::table_names& names, const text_choice& which) {
  const auto& [clock, rows, with] = which;
  const dialect& definition = texts.definition;
  style as{.markers = texts.transport->markers,
           .batches = definition.batches,
           .arrays = texts.transport->arrays,
           .rows = rows};
  if (contract.texts != nullptr) {
    const core::table_text& made =
        clock == clock_source::given ? contract.texts->given_clock : contract.texts->own_clock;
    const bool one = rows == one_key && !made.one.empty();
    if (one) as.batches = batching::loop;
    return compile(one ? made.one : made.many, contract, as);
  }
  std::string_view base = contract.name;
  const blocks& statements = texts.of_queue(clock, names, columns_of(base));
  const std::string name = std::string(base) + ending_of(rows);
  const auto bare =
      texts.transport->bare ? statements.find(name + std::string(without_rows)) : statements.end();
  as.bare = bare != statements.end();
  const auto block = as.bare ? bare : statements.find(name);
  if (block == statements.end()) {
    throw error(errc::unsupported, advice::never, "this database has no such statement",
                {.backend = definition.name, .operation = std::string(contract.name)});
  }
  if (rows == one_key || rows == bare_item_key) as.batches = batching::loop;
  as.rows = rows_of(rows);
  return compile(fill_names(with_hints(definition, block->second, with), definition, names),
                 contract, as);
}

std::optional<hints> fewer_hints(const dialect_texts& texts, std::string_view name, hints now) {
  const auto block = texts.statements.find(name);
  if (block == texts.statements.end()) return std::nullopt;
  const std::string refused = with_hints(texts.definition, block->second, now);
  for (const hints less : {hints::order, hints::none}) {
    if (less > now && with_hints(texts.definition, block->second, less) != refused) return less;
  }
  return std::nullopt;
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

hints plan_memory::of(const planned_statement& asked, time_point now) const {
  if (!any_.load()) return hints::all;
  const std::lock_guard lock(guard_);
  const auto found = entries_.find(asked);
  return found == entries_.end() || now >= found->second.until ? hints::all : found->second.left;
}

void plan_memory::had_no_plan(const planned_statement& with_more, hints left, time_point now) {
  const std::lock_guard lock(guard_);
  if (entries_.size() >= most && !entries_.contains(with_more)) entries_.clear();
  entry& kept = entries_[with_more];
  const bool ended = now >= kept.until;
  kept = {.left = ended ? left : std::max(left, kept.left), .until = now + remembered};
  any_.store(true);
}

}  // namespace tableq::inline v0::drivers
