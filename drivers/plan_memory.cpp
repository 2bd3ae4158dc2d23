#include "drivers/plan_memory.hpp"

#include <algorithm>
#include <utility>

#include <boost/algorithm/string/erase.hpp>

namespace tableq::inline v0::drivers {

std::string with_hints(const dialect& definition, std::string text, hints kept) {
  const auto leave_out = [&text](const std::vector<std::string>& some) {
    for (const std::string& hint : some) boost::algorithm::erase_all(text, hint);
  };
  if (kept != hints::all) leave_out(definition.plan_hints);
  if (kept == hints::none) leave_out(definition.order_hints);
  return text;
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
