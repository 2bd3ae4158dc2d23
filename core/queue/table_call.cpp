#include "core/queue/table_call.hpp"

#include <utility>
#include <vector>

namespace tableq::inline v0::core {
namespace {

const table_call& first_of(const call_group& group) {
  return static_cast<const table_call&>(group.first());
}

}  // namespace

row_set run_alone(const queue_table& table, const contract& what, std::span<const value> shared,
                  std::span<const value> items, const observation* watched) {
  const auto work = [&](connection& session) { return table.run(session, what, shared, items); };
  return table.needs_lock(what) ? table.database().in_transaction(work, watched)
                                : table.database().on_session(work, watched);
}

void run_together(std::span<combined_call* const> all) {
  auto& first = static_cast<table_call&>(*all.front());
  const queue_table& table = first.table();
  if (all.size() == 1 && first.one_statement()) {
    first.set_rows(run_alone(table, first.what(), first.shared(), first.items(), first.watched()));
    return;
  }
  const std::vector<call_group> groups = call_group::of(all);
  const auto work = [&](connection& session) {
    std::vector<row_set> results;
    results.reserve(groups.size());
    for (const call_group& group : groups) {
      results.push_back(group.run([&](std::span<const value> shared, std::span<const value> items) {
        return first_of(group).run(session, shared, items);
      }));
    }
    return results;
  };
  const bool one_statement = groups.size() == 1 && first.one_statement();
  std::vector<row_set> results = one_statement
                                     ? table.database().on_session(work, first.watched())
                                     : table.database().in_transaction(work, first.watched());
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].share_out(std::move(results[i]));
}

}  // namespace tableq::inline v0::core
