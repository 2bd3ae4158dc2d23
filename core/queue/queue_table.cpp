#include "core/queue/queue_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

#include "core/database/database_state.hpp"
#include "core/input/identifier.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

poll_plan::timing timing_of(kind queue_kind) {
  if (queue_kind == kind::claim || queue_kind == kind::table) return poll_plan::timing::leases;
  return queue_kind == kind::pending ? poll_plan::timing::announced : poll_plan::timing::none;
}

table_names placed(table_names names, const database_state& database) {
  names.sharded = database.sharded();
  return names;
}

struct sorted_by {
  std::size_t column;
  bool descending = false;
};

/// NULL counts as zero.
void sort_rows(row_set& rows, std::initializer_list<sorted_by> columns) {
  const auto before = [&](std::size_t a, std::size_t b) {
    for (const sorted_by& each : columns) {
      const std::int64_t left = rows.integer(a, each.column);
      const std::int64_t right = rows.integer(b, each.column);
      if (left != right) return each.descending ? left > right : left < right;
    }
    return false;
  };
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (std::ranges::is_sorted(order, before)) return;
  std::ranges::stable_sort(order, before);
  row_set sorted(rows.width());
  sorted.reserve(order.size());
  for (const std::size_t row : order) sorted.append_row(rows, row);
  rows = std::move(sorted);
}

row_set take_picked(connection& session, const table_names& names, std::span<const value> shared) {
  const auto picked =
      rows_of<pick_row>(session.execute(contract_of(statement::claim_pick), names, shared, {}));
  std::vector<value> ids;
  ids.reserve(picked.size());
  for (const pick_row& each : picked) ids.push_back(to_value(each.id));
  row_set out(field_count<delivery_row>);
  if (ids.empty()) return out;
  session.execute(contract_of(statement::claim_lease), names, shared, ids);
  out.reserve(ids.size());
  // A trigger of the application may have kept a message from being leased: it is not there.
  const std::array now{shared[contract_of(statement::claim_take).now_at]};
  row_set taken = session.execute(contract_of(statement::claim_taken), names, now, ids);
  sort_rows(taken, {{.column = 0}});
  for (std::size_t row = 0; row < taken.size(); ++row) out.append_row(taken, row, 1);
  return out;
}

bool any_lengthy(connection& session, const table_names& names, std::span<const value> shared) {
  return std::ranges::any_of(
      rows_of<pick_row>(session.execute(contract_of(statement::claim_pick), names, shared, {})),
      &pick_row::lengthy);
}

/// Locks the limits of the queue, and then takes within them: the take must see what was committed
/// before the lock.
row_set take_limited(connection& session, const table_names& names, const contract& what,
                     std::span<const value> shared) {
  const std::array queue{shared[place_of<limited_take_request>("queue")],
                         shared[place_of<limited_take_request>("now")]};
  std::array both{statement_call{.what = &contract_of(statement::limits_lock), .shared = queue},
                  statement_call{.what = &what, .shared = shared}};
  session.run(what.name, names, both);
  return std::move(both.back().rows);
}

}  // namespace

queue_table::queue_table(database_state& database, const queue_info& info)
    : queue_table(database, info, names_of(database.options(), info)) {}

queue_table::queue_table(database_state& database, const queue_info& info, table_names names)
    : database_(database),
      ordering_(info.ordering),
      identity_(info.identity),
      names_(placed(std::move(names), database)),
      shared_(database.shared(names_, timing_of(info.kind))) {}

bool queue_table::needs_lock(const contract& what) const noexcept {
  return ordering_ == ordering::strict && database_.capabilities().strict_needs_lock &&
         what.changes_messages;
}

row_set queue_table::run(connection& session, const contract& what, std::span<const value> shared,
                         std::span<const value> items) const {
  if (needs_lock(what)) {
    core::run(session, names_, statements::queue_lock, {}, std::array{lock_item{identity_}});
  }
  row_set rows = what.id == statement::claim_take_limited
                     ? take_limited(session, names_, what, shared)
                     : session.execute(what, names_, shared, items);
  if (what.id == statement::claim_take && rows.empty() &&
      database_.capabilities().changes_copy_rows &&
      shared[place_of<take_request>("guard")].number == 0) {
    return take_lengthy(session, names_, shared);
  }
  put_in_order(rows, what.id);
  return rows;
}

void put_in_order(row_set& rows, statement id) {
  if (rows.size() < 2) return;
  using enum statement;
  switch (id) {
    case heap_dequeue:
    case heap_peek:
    case fifo_dequeue:
    case fifo_dequeue_strict:
    case fifo_peek:
    case pending_dequeue:
    case pending_peek:
      return sort_rows(rows, {{place_of<message_row>("due_at")}, {place_of<message_row>("id")}});
    case lifo_dequeue:
    case lifo_dequeue_strict:
    case lifo_peek:
      return sort_rows(rows, {{place_of<message_row>("id"), true}});
    case claim_take:
    case claim_look:
    case claim_take_limited:
      return sort_rows(rows, {{place_of<delivery_row>("priority"), true},
                              {place_of<delivery_row>("ready_at")},
                              {place_of<delivery_row>("id")}});
    case table_take:
      return sort_rows(rows, {{place_of<placed_row>("place")}});
    default:
      return;
  }
}

row_set take_lengthy(connection& session, const table_names& names, std::span<const value> shared) {
  // Outside a transaction most takes that find nothing end here, without the write lock.
  if (!any_lengthy(session, names, shared)) return row_set(field_count<delivery_row>);
  if (session.transaction(asking::server) != transaction_status::none)
    return take_picked(session, names, shared);
  unit_of_work unit(session);
  row_set out = take_picked(session, names, shared);
  unit.commit();
  return out;
}

}  // namespace tableq::inline v0::core
