#include "drivers/dialect_check.hpp"

#include <algorithm>

#include <tableq/error.hpp>

#include "core/seam/contract.hpp"
#include "drivers/session.hpp"
#include "drivers/text.hpp"
#include "drivers/transport.hpp"

namespace tableq::drivers {
namespace {

[[noreturn]] void refuse(const dialect& added, const std::string& sentence) {
  throw error(errc::invalid_argument, advice::never, sentence,
              {.backend = added.name, .operation = "register"});
}

/// Removes the ending.
/// @return whether it was there.
bool without_ending(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

bool returns_only_id(const core::contract& of) {
  return of.columns.size() == 1 && of.columns.front().name == "id";
}

bool takes_max(const core::contract& of) {
  return std::any_of(of.shared.begin(), of.shared.end(),
                     [](const core::field& each) { return each.name == "max"; });
}

}  // namespace

void check_dialect(const dialect& added,
                   const std::map<std::string, std::string, std::less<>>& statements) {
  if (added.name.empty()) refuse(added, "a dialect needs a name");
  if (added.schemes.empty()) refuse(added, "a dialect needs at least one scheme");
  if (added.resolve == nullptr || added.classify == nullptr) {
    refuse(added, "a dialect needs both functions, resolve and classify");
  }
  const transport_kind* by = find_transport(added.transport);
  if (by == nullptr) refuse(added, "this build has no transport called " + added.transport);
  const auto& rows = added.row_counts;
  if (rows.empty() || rows.front() != 1 || !std::is_sorted(rows.begin(), rows.end()) ||
      rows.back() > most_rows) {
    refuse(added, "row_counts rise from 1 to " + std::to_string(most_rows) + " at most");
  }
  for (const char* part : {"catalog", "heap", "fifo", "lifo", "pending", "claim"}) {
    if (!added.ddl.contains(part)) refuse(added, std::string("there is no DDL for ") + part);
  }
  const core::table_names some_names{.table = "queue", .catalog = "catalogue", .limits = "limits"};
  for (const core::contract& of : core::contracts()) {
    if (!statements.contains(of.name) && !core::optional(of.id, added.able)) {
      refuse(added, "the statement " + std::string(of.name) + " is missing");
    }
  }
  const auto all = core::contracts();
  for (const auto& block : statements) {
    std::string_view name = block.first;
    const bool bare = without_ending(name, without_rows);
    const bool one = without_ending(name, for_one);
    const auto of = std::find_if(all.begin(), all.end(),
                                 [&](const core::contract& each) { return each.name == name; });
    const bool singles = added.batches == batching::arrays && of != all.end() && !of->items.empty();
    if (of == all.end() || (bare && !returns_only_id(*of)) ||
        (one && !takes_max(*of) && !singles)) {
      refuse(added, "there is no such statement: " + block.first);
    }
    compile(fill_names(block.second, added, some_names), *of,
            {.markers = by->markers, .batches = one ? batching::loop : added.batches});
  }
}

}  // namespace tableq::drivers
