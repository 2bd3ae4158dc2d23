#include "drivers/dialect_texts.hpp"

#include <algorithm>
#include <iterator>
#include <regex>
#include <vector>

#include "core/base/errors.hpp"
#include "core/seam/contract.hpp"
#include "drivers/blocks.hpp"
#include "drivers/own_sessions.hpp"
#include "drivers/session.hpp"
#include "drivers/text.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {
namespace {

/// The first `{name}` that is left in a text; empty if there is none.
std::string unfilled(std::string_view text) {
  static const std::regex place(R"(\{[a-z_.]+\})");
  std::match_results<std::string_view::const_iterator> found;
  return std::regex_search(text.begin(), text.end(), found, place) ? found.str() : std::string();
}

void check_texts(const dialect& added, const transport_kind& transport, const blocks& texts) {
  const core::table_names some_names{.table = "queue"};
  std::vector<core::contract> all(core::contracts().begin(), core::contracts().end());
  if (added.own != nullptr) {
    std::ranges::transform(all, all.begin(), added.own->with_places);
    std::ranges::copy(added.own->contracts(), std::back_inserter(all));
  }
  for (const auto& block : texts) {
    std::string_view name = block.first;
    for (const std::string_view ending : {for_payloads, for_mixed, for_next, for_one, for_query}) {
      if (name.ends_with(ending)) name.remove_suffix(ending.size());
    }
    const auto found = std::ranges::find(all, name, &core::contract::name);
    if (found == all.end()) core::refuse("there is no such statement: " + block.first);
    const std::string filled = fill_names(block.second, added, some_names);
    if (const std::string place = unfilled(filled); !place.empty()) {
      core::refuse("the statement " + block.first + " names " + place + ", which no fragment is");
    }
    compile(filled, *found, {.markers = transport.markers, .batches = added.batches});
  }
}

void check_steps(const dialect& added) {
  static const std::regex part(R"([1-9]\.(transaction|alone))");
  const core::table_names some_names{.table = "queue"};
  for (const auto& [step, text] : added.steps) {
    const blocks parts = split_blocks(text);
    const bool good =
        !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const auto& each) {
          return std::regex_match(each.first, part);
        });
    if (!good)
      core::refuse("the step " + step + " has other blocks than N.transaction and N.alone");
    for (const auto& [name, block] : parts) {
      const std::string place = unfilled(fill_names(block, added, some_names));
      if (!place.empty()) core::refuse("the step " + step + " names " + place);
    }
  }
}

}  // namespace

void check_dialect(const dialect& added, const blocks& statements) {
  if (added.name.empty()) core::refuse("a dialect needs a name");
  if (added.schemes.empty()) core::refuse("a dialect needs at least one scheme");
  if (added.resolve == nullptr || added.classify == nullptr) {
    core::refuse("a dialect needs both functions, resolve and classify");
  }
  const transport_kind* transport = find_transport(added.transport);
  if (transport == nullptr) core::refuse("this build has no transport called " + added.transport);
  const auto& rows = added.row_counts;
  if (rows.empty() || rows.front() != 1 || !std::is_sorted(rows.begin(), rows.end()) ||
      rows.back() > most_rows) {
    core::refuse("row_counts rise from 1 to " + std::to_string(most_rows) + " at most");
  }
  for (const char* part :
       {"catalog", "heap", "fifo", "lifo", "pending", "claim", "turns", "concurrency"}) {
    if (!added.ddl.contains(part)) core::refuse(std::string("there is no DDL for ") + part);
  }
  const auto expect = [&](const core::contract& contract) {
    const bool own = static_cast<std::size_t>(contract.id) >= core::statement_count;
    if (statements.contains(core::text_name(contract)) ||
        (!own && !contract.needed_with(added.capabilities)))
      return;
    core::refuse("the statement " + std::string(contract.name) + " is missing");
  };
  std::ranges::for_each(core::contracts(), expect);
  if (added.own != nullptr) std::ranges::for_each(added.own->contracts(), expect);
  check_texts(added, *transport, statements);
  check_texts(added, *transport, split_blocks(added.statements, {.clock = clock_source::given}));
  for (const clock_source clock : {clock_source::database, clock_source::given}) {
    for (const message_detail columns :
         {message_detail::all, message_detail::outline, message_detail::seen}) {
      check_texts(added, *transport,
                  split_blocks(added.statements,
                               {.clock = clock, .order = take_order::turns, .columns = columns}));
    }
  }
  check_steps(added);
}

}  // namespace tableq::inline v0::drivers
