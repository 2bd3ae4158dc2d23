#include "core/queue/combined_statement.hpp"

#include "core/seam/contract.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "core/seam/claim_statements.hpp"
#include "core/seam/queue_statements.hpp"

namespace tableq::inline v0::core {
namespace {

// A combined statement stays well below the limits of one statement, so that no call waits long for
// the items of other calls.
constexpr std::size_t most_items = 1000;
constexpr std::size_t most_bytes = std::size_t{4} * 1024 * 1024;

bool same(const value& a, const value& b) {
  return a.is == b.is && a.number == b.number && a.data == b.data;
}

class statement_call final : public combined_call {
 public:
  statement_call(const queue_table& table, statement id, lane call_lane,
                 std::span<const value> shared, std::span<const value> items,
                 const observation* watched)
      : table_(table),
        contract_(contract_of(id)),
        lane_(call_lane),
        shared_(shared),
        items_(items),
        watched_(watched) {
    count_ = call_lane == lane::read ? static_cast<std::size_t>(shared[contract_.max_at].number)
             : items.empty()         ? 1
                                     : items.size() / contract_.items.size();
    for (const value& each : items) bytes_ += each.data.size();
  }

  [[nodiscard]] bool joins(std::span<combined_call* const> others) const override {
    const bool one_writer = table_.database().capabilities().one_writer;
    std::size_t items = count_;
    std::size_t bytes = bytes_;
    for (const combined_call* const each : others) {
      const statement_call& other = downcast(*each);
      items += other.count_;
      bytes += other.bytes_;
      if (!one_writer && lane_ == lane::extend && shares_message(other)) return false;
    }
    return items <= most_items && bytes <= most_bytes &&
           (one_writer || fuses_with(downcast(*others.front())));
  }

  /// Whether one statement can do the work of both calls.
  [[nodiscard]] bool fuses_with(const statement_call& other) const {
    if (contract_.id != other.contract_.id || table_.names().slot != other.table_.names().slot ||
        table_.names().identity != other.table_.names().identity) {
      return false;
    }
    if (lane_ == lane::extend && shares_message(other)) return false;
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      // The counts of reads add up, and any token is valid.
      if (lane_ == lane::read && (i == contract_.max_at || i == contract_.token_at)) continue;
      if (!same(shared_[i], other.shared_[i])) return false;
    }
    return true;
  }

  static statement_call& downcast(combined_call& call) {
    return static_cast<statement_call&>(call);
  }
  static const statement_call& downcast(const combined_call& call) {
    return static_cast<const statement_call&>(call);
  }

  /// Two extensions of the same lease in one statement would count as one.
  [[nodiscard]] bool shares_message(const statement_call& other) const {
    const std::size_t width = contract_.items.size();
    for (std::size_t i = 0; i < items_.size(); i += width) {
      for (std::size_t j = 0; j < other.items_.size(); j += width) {
        if (same(items_[i], other.items_[j])) return true;
      }
    }
    return false;
  }

  const queue_table& table_;
  const contract& contract_;
  lane lane_;
  std::span<const value> shared_;
  std::span<const value> items_;
  const observation* watched_;
  std::size_t count_ = 0;  // number of items, or of the messages that a read wants
  std::size_t bytes_ = 0;
  row_set rows_;
};

using calls = std::vector<statement_call*>;

/// Groups of calls that one statement can serve, in the order of their arrival.
std::vector<calls> grouped(std::span<combined_call* const> all) {
  std::vector<calls> out;
  for (combined_call* const each : all) {
    auto* const call = &statement_call::downcast(*each);
    const auto match = std::ranges::find_if(out, [call](const calls& group) {
      return std::ranges::all_of(
          group, [call](const statement_call* other) { return call->fuses_with(*other); });
    });
    if (match == out.end()) {
      out.push_back({call});
    } else {
      match->push_back(call);
    }
  }
  return out;
}

row_set run_group(connection& session, const calls& group) {
  const statement_call& first = *group.front();
  const statement id = first.contract_.id;
  if (group.size() == 1) return first.table_.run(session, id, first.shared_, first.items_);
  if (first.lane_ == lane::promote) return first.table_.run(session, id, first.shared_, {});
  if (first.lane_ == lane::read) {
    std::vector<value> shared(first.shared_.begin(), first.shared_.end());
    std::int64_t most = 0;
    for (const statement_call* const each : group) most += static_cast<std::int64_t>(each->count_);
    shared[first.contract_.max_at] = value(most);
    return first.table_.run(session, id, shared, {});
  }
  std::vector<value> items;
  for (const statement_call* const each : group) {
    items.insert(items.end(), each->items_.begin(), each->items_.end());
  }
  return first.table_.run(session, id, first.shared_, items);
}

row_set cut(row_set& rows, std::span<const std::size_t> selected) {
  row_set out(rows.width());
  for (const std::size_t row : selected) {
    for (std::size_t i = 0; i < rows.width(); ++i) out.add(rows.take(row, i));
  }
  return out;
}

/// The rows of a read in the queue's order.
std::vector<std::size_t> in_order(const row_set& rows, statement id) {
  std::vector<std::size_t> out(rows.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  const bool newest_first = id == statement::lifo_dequeue || id == statement::lifo_dequeue_strict;
  // ~ reverses the order for every number.
  std::ranges::sort(out, std::less<>(), [&](std::size_t row) {
    if (id == statement::claim_take) {
      return std::pair(~rows.integer(row, place_of<delivery_row>("priority")),
                       rows.integer(row, place_of<delivery_row>("id")));
    }
    const std::int64_t place = rows.integer(row, place_of<message_row>("id"));
    return std::pair(rows.maybe_integer(row, place_of<message_row>("due_at")).value_or(0),
                     newest_first ? ~place : place);
  });
  return out;
}

/// Gives each call its rows.
void share_out(const calls& group, row_set rows) {
  const statement_call& first = *group.front();
  if (group.size() == 1 || first.lane_ == lane::promote) {
    group.front()->rows_ = std::move(rows);
    return;
  }
  if (first.lane_ == lane::read) {
    const std::vector<std::size_t> order = in_order(rows, first.contract_.id);
    std::span<const std::size_t> rest = order;
    for (statement_call* const each : group) {
      const auto mine = rest.first(std::min(each->count_, rest.size()));
      each->rows_ = cut(rows, mine);
      rest = rest.subspan(mine.size());
    }
    return;
  }
  std::vector<std::size_t> ends;
  std::vector<row_set> parts(group.size(), row_set(rows.width()));
  for (const statement_call* const each : group) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + each->count_);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto item = static_cast<std::size_t>(rows.integer(row, 0));
    const auto part = static_cast<std::size_t>(std::ranges::upper_bound(ends, item) - ends.begin());
    const std::size_t begin = part == 0 ? 0 : ends[part - 1];
    parts[part].add(static_cast<std::int64_t>(item - begin));
    for (std::size_t i = 1; i < rows.width(); ++i) parts[part].add(rows.take(row, i));
  }
  for (std::size_t i = 0; i < group.size(); ++i) group[i]->rows_ = std::move(parts[i]);
}

void run_together(std::span<combined_call* const> all) {
  if (all.size() == 1) {
    statement_call& call = statement_call::downcast(*all.front());
    call.rows_ =
        run_alone(call.table_, call.contract_.id, call.shared_, call.items_, call.watched_);
    return;
  }
  const std::vector<calls> groups = grouped(all);
  const statement_call& first = *groups.front().front();
  database_state& database = first.table_.database();
  const auto work = [&](connection& session) {
    std::vector<row_set> results;
    results.reserve(groups.size());
    for (const calls& group : groups) results.push_back(run_group(session, group));
    return results;
  };
  const bool single = groups.size() == 1 && !first.table_.needs_lock(first.contract_.id);
  std::vector<row_set> results = single ? database.on_session(work, first.watched_)
                                        : database.in_transaction(work, first.watched_);
  for (std::size_t i = 0; i < groups.size(); ++i) share_out(groups[i], std::move(results[i]));
}

}  // namespace

lane lane_of(statement id, std::span<const value> items) noexcept {
  using enum statement;
  switch (id) {
    case heap_enqueue:
    case fifo_enqueue:
    case lifo_enqueue:
    case pending_enqueue:
      return lane::add;
    case claim_enqueue: {
      const contract& contract = contract_of(id);
      for (std::size_t i = contract.key_at; i < items.size(); i += contract.items.size()) {
        if (items[i].is != value::shape::null) return lane::add_keyed;
      }
      return lane::add;
    }
    case heap_dequeue:
    case fifo_dequeue:
    case fifo_dequeue_strict:
    case lifo_dequeue:
    case lifo_dequeue_strict:
    case pending_dequeue:
    case claim_take:
      return lane::read;
    case claim_promote:
      return lane::promote;
    case claim_complete:
    case claim_keep:
      return lane::complete;
    case claim_fail:
      return lane::fail;
    case claim_release:
      return lane::release;
    case claim_extend:
      return lane::extend;
    default:
      return lane::none;
  }
}

row_set run_alone(const queue_table& table, statement id, std::span<const value> shared,
                  std::span<const value> items, const observation* watched) {
  const auto work = [&](connection& session) { return table.run(session, id, shared, items); };
  return table.needs_lock(id) ? table.database().in_transaction(work, watched)
                              : table.database().on_session(work, watched);
}

row_set run_combined(const queue_table& table, statement id, lane call_lane,
                     std::span<const value> shared, std::span<const value> items,
                     const observation* watched) {
  statement_call call(table, id, call_lane, shared, items, watched);
  database_state& database = table.database();
  combiner& shared_combiner = database.capabilities().one_writer
                                  ? database.writing()
                                  : table.shared().calls.for_lane(call_lane);
  shared_combiner.run(call, run_together);
  return std::move(call.rows_);
}

}  // namespace tableq::inline v0::core
