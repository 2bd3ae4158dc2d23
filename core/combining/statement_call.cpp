#include "core/combining/statement_call.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "core/seam/claim_statements.hpp"
#include "core/seam/queue_statements.hpp"
#include "core/seam/table_statements.hpp"

namespace tableq::inline v0::core {
namespace {

// A combined statement stays well below the limits of one statement, so that no call waits long for
// the items of other calls.
constexpr std::size_t most_items = 1000;
constexpr std::size_t most_bytes = std::size_t{4} * 1024 * 1024;

bool same(const value& a, const value& b) {
  return a.is == b.is && a.number == b.number && a.data == b.data;
}

const statement_call& downcast(const combined_call& call) {
  return static_cast<const statement_call&>(call);
}

row_set cut(row_set& rows, std::span<const std::size_t> selected) {
  row_set out(rows.width());
  for (const std::size_t row : selected) {
    for (std::size_t i = 0; i < rows.width(); ++i) out.add(rows.take(row, i));
  }
  return out;
}

/// The rows of a read in the queue's order.
/// @param by_turns table_names::by_turns: a take returns them in that order.
std::vector<std::size_t> in_order(const row_set& rows, statement id, bool by_turns) {
  std::vector<std::size_t> out(rows.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  const bool take = id == statement::claim_take || id == statement::claim_look;
  if (by_turns && take) return out;
  const bool newest_first = id == statement::lifo_dequeue || id == statement::lifo_dequeue_strict;
  // ~ reverses the order for every number.
  std::ranges::sort(out, std::less<>(), [&](std::size_t row) {
    if (id == statement::table_take) {
      return std::pair(rows.integer(row, place_of<placed_row>("place")),
                       static_cast<std::int64_t>(row));
    }
    if (take) {
      return std::pair(~rows.integer(row, place_of<delivery_row>("priority")),
                       rows.integer(row, place_of<delivery_row>("id")));
    }
    const std::int64_t place = rows.integer(row, place_of<message_row>("id"));
    return std::pair(rows.maybe_integer(row, place_of<message_row>("due_at")).value_or(0),
                     newest_first ? ~place : place);
  });
  return out;
}

}  // namespace

lane lane_of(const contract& what, std::span<const value> items) noexcept {
  using enum statement;
  switch (what.id) {
    case heap_enqueue:
    case fifo_enqueue:
    case lifo_enqueue:
    case pending_enqueue:
      return lane::add;
    case claim_enqueue: {
      for (std::size_t i = what.key_at; i < items.size(); i += what.items.size()) {
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
    case claim_look:
    case table_take:
      return lane::read;
    case claim_promote:
    case table_return:
      return lane::promote;
    case claim_complete:
    case claim_keep:
    case table_complete:
      return lane::complete;
    case claim_fail:
    case table_fail:
      return lane::fail;
    case claim_release:
    case table_release:
      return lane::release;
    case claim_extend:
    case table_extend:
      return lane::extend;
    default:
      return lane::none;
  }
}

statement_call::statement_call(const table_names& names, const contract& what, lane call_lane,
                               std::span<const value> shared, std::span<const value> items,
                               bool one_writer)
    : names_(names),
      contract_(what),
      lane_(call_lane),
      shared_(shared),
      items_(items),
      one_writer_(one_writer) {
  count_ = call_lane == lane::read ? static_cast<std::size_t>(shared[contract_.max_at].number)
           : items.empty()         ? 1
                                   : items.size() / contract_.items.size();
  for (const value& each : items) bytes_ += each.data.size();
}

bool statement_call::joins(std::span<combined_call* const> others) const {
  std::size_t items = count_;
  std::size_t bytes = bytes_;
  for (const combined_call* const each : others) {
    const statement_call& other = downcast(*each);
    items += other.count_;
    bytes += other.bytes_;
    if (!one_writer_ && lane_ == lane::extend && shares_message(other)) return false;
  }
  return items <= most_items && bytes <= most_bytes &&
         (one_writer_ || combines_with(downcast(*others.front())));
}

bool statement_call::combines_with(const statement_call& other) const {
  if (contract_.id != other.contract_.id || contract_.slot != other.contract_.slot ||
      !names_.same_tables(other.names_) || names_.identity != other.names_.identity) {
    return false;
  }
  if (contract_.exact) return false;
  if (lane_ == lane::extend && shares_message(other)) return false;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    // The counts of reads add up, and any token is valid.
    if (lane_ == lane::read && (i == contract_.max_at || i == contract_.token_at)) continue;
    if (!same(shared_[i], other.shared_[i])) return false;
  }
  return true;
}

// Two extensions of the same lease in one statement would count as one.
bool statement_call::shares_message(const statement_call& other) const {
  const std::size_t width = contract_.items.size();
  for (std::size_t i = 0; i < items_.size(); i += width) {
    for (std::size_t j = 0; j < other.items_.size(); j += width) {
      if (same(items_[i], other.items_[j])) return true;
    }
  }
  return false;
}

std::vector<call_group> call_group::of(std::span<combined_call* const> calls) {
  std::vector<call_group> out;
  for (combined_call* const each : calls) {
    auto* const call = static_cast<statement_call*>(each);
    const auto match = std::ranges::find_if(out, [call](const call_group& group) {
      return std::ranges::all_of(group.calls_, [call](const statement_call* other) {
        return call->combines_with(*other);
      });
    });
    call_group& group = match == out.end() ? out.emplace_back() : *match;
    group.calls_.push_back(call);
  }
  return out;
}

std::vector<value> call_group::all_shared() const {
  std::vector<value> out(first().shared_.begin(), first().shared_.end());
  std::int64_t most = 0;
  for (const statement_call* const each : calls_) most += static_cast<std::int64_t>(each->count_);
  out[first().contract_.max_at] = to_value(most);
  return out;
}

std::vector<value> call_group::all_items() const {
  std::vector<value> out;
  for (const statement_call* const each : calls_) {
    out.insert(out.end(), each->items_.begin(), each->items_.end());
  }
  return out;
}

void call_group::share_out(row_set rows) const {
  if (calls_.size() == 1 || first().lane_ == lane::promote) {
    calls_.front()->set_rows(std::move(rows));
  } else if (first().lane_ == lane::read) {
    share_out_read(std::move(rows));
  } else {
    share_out_items(std::move(rows));
  }
}

void call_group::share_out_read(row_set rows) const {
  if (is_told(first().what().id, rows)) {
    for (statement_call* const each : calls_) each->set_rows(rows);
    return;
  }
  const std::vector<std::size_t> order = in_order(rows, first().what().id, first().names_.by_turns);
  std::span<const std::size_t> rest = order;
  for (statement_call* const each : calls_) {
    const auto mine = rest.first(std::min(each->count_, rest.size()));
    each->set_rows(cut(rows, mine));
    rest = rest.subspan(mine.size());
  }
}

void call_group::share_out_items(row_set rows) const {
  std::vector<std::size_t> ends;
  std::vector<row_set> parts(calls_.size(), row_set(rows.width()));
  for (const statement_call* const each : calls_) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + each->count_);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t item = rows.item(row);
    const auto part = static_cast<std::size_t>(std::ranges::upper_bound(ends, item) - ends.begin());
    const std::size_t begin = part == 0 ? 0 : ends[part - 1];
    parts[part].add(static_cast<std::int64_t>(item - begin));
    for (std::size_t i = 1; i < rows.width(); ++i) parts[part].add(rows.take(row, i));
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i]->set_rows(std::move(parts[i]));
}

}  // namespace tableq::inline v0::core
