#include "core/claim/groups.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/stable_hash.hpp"
#include "core/claim/operations.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// The lock of a group.
std::uint64_t slot_of(std::string_view group) noexcept {
  constexpr std::uint64_t locks_of_a_queue = 256;
  const std::uint64_t hash = stable_hash(group);
  return (hash ^ (hash >> 32)) % locks_of_a_queue;
}

identity_request lock_of(const queue_state& queue, std::uint64_t slot) noexcept {
  // The identity is random, so another lock has the same number only by chance.
  return {static_cast<std::int64_t>((static_cast<std::uint64_t>(queue.info().identity) + 1 + slot) &
                                    0x7FFFFFFFFFFFFFFFULL)};
}

std::vector<identity_request> locks_of(const queue_state& queue, const group_set& groups) {
  // Sorted, so that two transactions that lock several groups cannot deadlock.
  std::set<std::uint64_t> slots;
  for (const std::string& group : groups) slots.insert(slot_of(group));
  std::vector<identity_request> out;
  out.reserve(slots.size());
  for (const std::uint64_t slot : slots) out.push_back(lock_of(queue, slot));
  return out;
}

advance_request request_to_advance(const queue_state& queue) {
  const group_options& rules = *queue.info().groups;
  return {
      .queue = queue.name(), .limit = rules.limit, .hold = rules.on_failure == group_policy::hold};
}

/// The most messages of a group that are ready at once.
constexpr int most_starts = 1000;

std::vector<group_item> items_of(const group_set& groups) {
  std::vector<group_item> out;
  out.reserve(groups.size());
  for (const std::string& group : groups) out.push_back({.group = group, .starts = most_starts});
  return out;
}

template <class Row>
std::size_t count_advanced(const std::vector<Row>& rows) {
  // A reader that waits must hear of a new due time, too.
  return rows.size() -
         static_cast<std::size_t>(std::ranges::count(rows, message_state::held, &Row::state));
}

/// The starts of a group: a bucket of tokens as the time at which it is full.
class start_meter {
 public:
  start_meter(const tokens_row& row, std::int64_t rate)
      : interval_((rate_unit * second + rate - 1) / rate),
        burst_(row.burst.value_or(static_cast<int>(default_burst(rate)))),
        now_(row.clock.time_since_epoch().count() * millisecond),
        // A clock that was set back does not stop the group for longer than an empty bucket.
        full_at_(std::clamp(row.full_at.value_or(now_), now_, now_ + burst_ * interval_)),
        cut_(row.full_at.value_or(now_) > full_at_) {}

  /// Whether the stored time was too late, from before a change: the row must be written, or each
  /// look would find an empty bucket.
  [[nodiscard]] bool cut() const noexcept { return cut_; }

  [[nodiscard]] int free() const noexcept {
    return static_cast<int>(burst_ - (full_at_ - now_ + interval_ - 1) / interval_);
  }
  /// When one is free, after so many starts now.
  [[nodiscard]] timestamp next_after(int starts) const noexcept {
    const std::int64_t at = full_at_ + (starts - burst_ + 1) * interval_;
    return timestamp(std::chrono::milliseconds((at + millisecond - 1) / millisecond));
  }
  /// When all are, after so many starts now.
  [[nodiscard]] std::int64_t full_after(int starts) const noexcept {
    return full_at_ + starts * interval_;
  }

 private:
  static constexpr std::int64_t millisecond = 1000;
  static constexpr std::int64_t second = 1'000'000;

  std::int64_t interval_;
  std::int64_t burst_;
  std::int64_t now_;
  std::int64_t full_at_;
  bool cut_;
};

/// A group with a rate, as it is advanced.
struct metered_group {
  std::size_t item = 0;
  start_meter meter;
  timestamp clock;
  bool changed = false;  ///< Its row is to be written.
  int starts = 0;
  std::optional<advanced_row> alarm = {};
};

/// Decides how many messages of each group may start. The last message that waits for a start is
/// held again if its time has changed.
/// @param items get what was decided. @param held gets such messages.
std::vector<metered_group> meter(const queue_state& queue, transaction_state& tx,
                                 const group_set& groups, std::vector<group_item>& items,
                                 std::vector<message_id>& held) {
  std::vector<metered_group> out;
  for (const auto& row :
       queue.execute(&tx, statements::claim_tokens, {.queue = queue.name()}, items_of(groups))) {
    if (!row.rate) {  // The message waits from before a change.
      held.push_back(*row.alarm);
      continue;
    }
    metered_group one{.item = row.item, .meter = start_meter(row, *row.rate), .clock = row.clock};
    group_item& item = items[row.item];
    item.starts = std::max(one.meter.free(), 0);
    const timestamp next = one.meter.next_after(item.starts);
    one.changed = row.alarm || one.meter.cut();
    if (row.alarm && item.starts == 0 && *row.alarm_at <= next) {  // It waits for this start.
      if (!one.meter.cut()) continue;
      one.alarm = {.id = *row.alarm, .state = message_state::delayed, .due_at = row.alarm_at};
    } else {
      if (row.alarm) held.push_back(*row.alarm);
      item.alarm_at = next;
    }
    out.push_back(one);
  }
  return out;
}

std::size_t advance_limited(const queue_state& queue, transaction_state& tx,
                            const group_set& groups, std::span<const message_id> returned,
                            bool metering) {
  std::vector<group_item> items = items_of(groups);
  std::vector<metered_group> metered;
  if (metering) {
    std::vector<message_id> held(returned.begin(), returned.end());
    metered = meter(queue, tx, groups, items, held);
    queue.execute(&tx, statements::claim_hold, {}, held);
  }
  const auto rows =
      queue.execute(&tx, statements::claim_advance_limited, request_to_advance(queue), items);
  std::vector<metered_group*> by_item(items.size());
  for (metered_group& one : metered) by_item[one.item] = &one;
  for (const auto& row : rows) {
    metered_group* const one = by_item[row.item];
    if (one == nullptr || row.state == message_state::held) continue;
    one->changed = true;
    if (row.state == message_state::ready) ++one->starts;
    if (row.state == message_state::delayed) one->alarm = row;
  }
  std::vector<start_item> started;
  for (const metered_group& one : metered) {
    if (!one.changed) continue;
    started.push_back(
        {.group = items[one.item].group, .full_at = one.meter.full_after(one.starts)});
    if (!one.alarm) continue;
    started.back().alarm = one.alarm->id;
    started.back().alarm_at = one.alarm->due_at;
    queue.shared().watched.due.expect(std::chrono::steady_clock::now(),
                                      *one.alarm->due_at - one.clock);
  }
  queue.execute(&tx, statements::group_start, {.queue = queue.name()}, started);
  return count_advanced(rows);
}

/// The statement that locks groups.
const auto& lock_statement(const queue_state& queue) noexcept {
  return brief_locks::on_this_thread() && passes_groups(queue) ? statements::queue_lock_briefly
                                                               : statements::queue_lock;
}

}  // namespace

group_set groups_of(const queue_state& queue, transaction_state* tx,
                    std::span<const message_id> ids) {
  group_set out;
  for (auto& row : queue.execute(tx, statements::claim_group_of, {}, ids)) {
    out.insert(std::move(row.group_key));
  }
  return out;
}

void lock_groups(const queue_state& queue, transaction_state& tx, const group_set& groups) {
  if (queue.database().capabilities().one_writer) return;  // Its transaction locks all of them.
  queue.execute(&tx, lock_statement(queue), {}, locks_of(queue, groups));
}

bool passes_groups(const queue_state& queue) noexcept {
  return queue.info().groups && !queue.database().capabilities().one_writer;
}

group_set lock_free_groups(const queue_state& queue, transaction_state& tx, group_set groups) {
  const std::vector<identity_request> locks = locks_of(queue, groups);
  std::set<std::int64_t> held;
  for (const auto& row : queue.execute(&tx, statements::queue_try_lock, {}, locks)) {
    if (row.held) held.insert(locks[row.item].identity);
  }
  std::erase_if(groups, [&](const std::string& group) {
    return !held.contains(lock_of(queue, slot_of(group)).identity);
  });
  return groups;
}

std::set<std::size_t> pass_locked_groups(const queue_state& queue, transaction_state& tx,
                                         std::span<const message_id> ids) {
  const auto rows = queue.execute(&tx, statements::claim_group_of, {}, ids);
  group_set groups;
  for (const auto& row : rows) groups.insert(row.group_key);
  groups = lock_free_groups(queue, tx, std::move(groups));
  std::set<std::size_t> out;
  for (const auto& row : rows) {
    if (!groups.contains(row.group_key)) out.insert(row.item);
  }
  return out;
}

bool fills_idle_groups(const queue_state& queue, const transaction_state& tx) noexcept {
  return queue.database().capabilities().one_writer && !tx.enlisted() && !queue.info().group_limits;
}

groups_before groups_in_use(const queue_state& queue, transaction_state& tx,
                            const group_set& groups) {
  groups_before out;
  const std::vector<group_item> items = items_of(groups);
  for (const auto& row :
       queue.execute(&tx, statements::claim_groups_in_use, request_to_advance(queue), items)) {
    if (row.running == 0 && !row.held) {
      out.idle.emplace(items[row.item].group);
    } else if (row.running < queue.info().groups->limit) {
      out.open.emplace(items[row.item].group);
    }
  }
  return out;
}

std::size_t advance_groups(const queue_state& queue, transaction_state& tx, const group_set& groups,
                           std::span<const message_id> returned) {
  if (groups.empty()) return 0;
  if (queue.info().group_limits)
    return advance_limited(queue, tx, groups, returned, queue.info().group_rates);
  return queue.execute(&tx, statements::claim_advance, request_to_advance(queue), items_of(groups))
      .size();
}

std::size_t move_groups(const queue_state& queue, transaction_state& tx, const group_set& groups) {
  return advance_limited(queue, tx, groups, {}, true);
}

std::vector<message_id> open_groups(const queue_state& queue, transaction_state& tx,
                                    const group_set& groups, std::size_t max) {
  advance_request all = request_to_advance(queue);
  all.limit = static_cast<int>(max);
  std::vector<message_id> out;
  for (const auto& row : queue.execute(&tx, statements::claim_advance, all, items_of(groups)))
    out.push_back(row.id);
  std::ranges::sort(out);
  return out;
}

std::optional<work_in_groups> in_locked_groups(const queue_state& queue, const group_set& groups,
                                               const kept_call& work) {
  // The free starts of a group are known only under its lock.
  if (queue.info().group_rates) return std::nullopt;
  const bool limited = queue.info().group_limits;
  const kept_call lock = call_of(lock_statement(queue), {}, locks_of(queue, groups));
  kept_call advance =
      call_of(statements::claim_advance, request_to_advance(queue), items_of(groups));
  if (limited) advance.what = &contract_of(statement::claim_advance_limited);
  std::array all{lock.call(), work.call(), advance.call()};
  if (!queue.execute_together(all, 1)) return std::nullopt;
  row_set& advanced = all.back().rows;
  const std::size_t readable =
      limited ? count_advanced(rows_of<advanced_row, group_item>(std::move(advanced)))
              : advanced.size();
  return work_in_groups{.rows = std::move(all[1].rows), .readable = readable};
}

}  // namespace tableq::inline v0::core
