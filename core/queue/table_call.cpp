#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/observe/observation.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/fields.hpp"
#include "core/session/combiner.hpp"
#include "core/session/retry.hpp"

namespace tableq::inline v0::core {
namespace {

// A combined statement stays well below the limits of one statement, so that no call waits long for
// the items of other calls.
constexpr std::size_t most_items = 1000;
constexpr std::size_t most_bytes = std::size_t{4} * 1024 * 1024;

bool same(const value& a, const value& b) {
  return a.is == b.is && a.number == b.number && a.data == b.data;
}

bool has_key(const contract& what, std::span<const value> items) noexcept {
  for (std::size_t i = what.key_at; i < items.size(); i += what.items.size()) {
    if (items[i].is != value::shape::null) return true;
  }
  return false;
}

/// A call of a queue's statement, outside a transaction.
///
/// Borrows all its arguments, which outlive it.
class table_call final : public combined_call {
 public:
  /// @param call_lane of this statement and these items.
  /// @param watched notified of each repetition, if not null.
  table_call(const queue_state& queue, const contract& what, lane call_lane,
             std::span<const value> shared, std::span<const value> items,
             const observation* watched);
  /// A call of several statements. No other joins its statement, but its unit of work.
  /// @param several runs them in that unit; after a failure of the unit again.
  table_call(const queue_state& queue, const std::function<void(connection&)>& several)
      : queue_(queue), several_(&several) {}

  /// On a database with one writer at a time calls of all queues and of different statements share
  /// a unit of work.
  [[nodiscard]] bool joins(std::span<combined_call* const> others) const override;

  /// Set when the call has run, then taken by its caller.
  [[nodiscard]] row_set take_rows() noexcept { return std::move(rows_); }

 private:
  friend class call_group;
  friend void run_together(std::span<combined_call* const> all);

  /// Whether it needs no transaction.
  [[nodiscard]] bool one_statement() const noexcept {
    return several_ == nullptr && !queue_.needs_lock(*what_);
  }
  /// Whether one statement can do the work of both calls.
  [[nodiscard]] bool combines_with(const table_call& other) const;

  const queue_state& queue_;
  const std::function<void(connection&)>* several_ = nullptr;
  const contract* what_ = nullptr;  // null: several statements
  lane lane_ = lane::complete;
  std::span<const value> shared_ = {};
  std::span<const value> items_ = {};
  const observation* watched_ = nullptr;
  std::size_t count_ = 1;  // number of items, or of the messages that a read wants
  std::size_t bytes_ = 0;
  row_set rows_;
};

/// Calls that one statement serves, in the order of their arrival.
class call_group {
 public:
  explicit call_group(table_call& first) : calls_{&first} {}

  [[nodiscard]] bool takes(const table_call& call) const {
    return std::ranges::all_of(calls_,
                               [&](const table_call* other) { return call.combines_with(*other); });
  }
  void add(table_call& call) { calls_.push_back(&call); }

  /// Keys are added in one order: two processes would deadlock over the same ones.
  void put_keys_in_order() {
    if (calls_.front()->lane_ != lane::add_keyed) return;
    const auto key = [](const table_call* call) { return call->items_[call->what_->key_at].data; };
    std::ranges::stable_sort(calls_, {}, key);
  }

  /// Runs their statement once, with the values of all.
  void run(connection& session) const {
    table_call& first = *calls_.front();
    if (first.several_ != nullptr) return (*first.several_)(session);
    const bool reads = first.lane_ == lane::read;
    const std::vector<value> of_all = reads ? sum_of_reads() : all_items();
    first.rows_ = reads ? first.queue_.run_on(session, *first.what_, of_all, {})
                        : first.queue_.run_on(session, *first.what_, first.shared_, of_all);
  }

  /// Gives each call the rows of its own items. A read gets as many rows as it asked for; earlier
  /// calls get earlier rows.
  void share_out() const {
    table_call& first = *calls_.front();
    if (calls_.size() == 1 || first.lane_ == lane::promote) return;
    if (first.lane_ == lane::read) return share_out_read(std::move(first.rows_));
    share_out_items(std::move(first.rows_));
  }

 private:
  [[nodiscard]] std::vector<value> sum_of_reads() const {
    const table_call& first = *calls_.front();
    std::vector<value> out(first.shared_.begin(), first.shared_.end());
    std::size_t most = 0;
    for (const table_call* const each : calls_) most += each->count_;
    out[first.what_->max_at] = to_value(most);
    return out;
  }
  [[nodiscard]] std::vector<value> all_items() const {
    std::vector<value> out;
    for (const table_call* const each : calls_) {
      out.insert(out.end(), each->items_.begin(), each->items_.end());
    }
    return out;
  }
  void share_out_read(row_set rows) const {
    const auto told = told_row(*calls_.front()->what_, rows);
    row_set for_all(rows.width());
    if (told) for_all.append_row(rows, *told);
    std::size_t next = 0;
    for (table_call* const each : calls_) {
      row_set mine(rows.width());
      while (next < rows.size() && mine.size() < each->count_) {
        if (next != told) mine.append_row(rows, next);
        ++next;
      }
      if (told && mine.size() < each->count_) {
        row_set copied = for_all;
        mine.append_row(copied, 0);
      }
      each->rows_ = std::move(mine);
    }
  }
  void share_out_items(row_set rows) const {
    std::vector<std::size_t> ends;
    std::vector<row_set> parts(calls_.size(), row_set(rows.width()));
    for (const table_call* const each : calls_) {
      ends.push_back((ends.empty() ? 0 : ends.back()) + each->count_);
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::size_t item = rows.item(row);
      const auto part =
          static_cast<std::size_t>(std::ranges::upper_bound(ends, item) - ends.begin());
      const std::size_t begin = part == 0 ? 0 : ends[part - 1];
      parts[part].add(static_cast<std::int64_t>(item - begin));
      parts[part].append_row(rows, row, 1);
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i]->rows_ = std::move(parts[i]);
  }

  std::vector<table_call*> calls_;
};

table_call::table_call(const queue_state& queue, const contract& what, lane call_lane,
                       std::span<const value> shared, std::span<const value> items,
                       const observation* watched)
    : queue_(queue),
      what_(&what),
      lane_(call_lane),
      shared_(shared),
      items_(items),
      watched_(watched),
      bytes_(bytes_of(items)) {
  if (call_lane == lane::read) count_ = static_cast<std::size_t>(shared[what.max_at].number);
  if (!items.empty()) count_ = items.size() / what.items.size();
}

bool table_call::joins(std::span<combined_call* const> others) const {
  const bool one_writer = queue_.database().capabilities().one_writer;
  std::size_t items = count_;
  std::size_t bytes = bytes_;
  for (const combined_call* const each : others) {
    const auto& other = static_cast<const table_call&>(*each);
    items += other.count_;
    bytes += other.bytes_;
  }
  return items <= most_items && bytes <= most_bytes &&
         (one_writer || combines_with(static_cast<const table_call&>(*others.front())));
}

bool table_call::combines_with(const table_call& other) const {
  if (what_ == nullptr || other.what_ == nullptr || what_->exact) return false;
  const table_names& names = queue_.names();
  if (what_->id != other.what_->id || what_->slot != other.what_->slot ||
      !names.same_tables(other.queue_.names()) || names.identity != other.queue_.names().identity) {
    return false;
  }
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    // The counts of reads add up, and any token is valid.
    if (lane_ == lane::read && (i == what_->max_at || i == what_->token_at)) continue;
    if (!same(shared_[i], other.shared_[i])) return false;
  }
  return true;
}

/// Runs calls in one unit of work, which is repeated if that is safe.
void run_together(std::span<combined_call* const> all) {
  auto& first = static_cast<table_call&>(*all.front());
  const bool alone = all.size() == 1 && first.several_ == nullptr;
  std::vector<call_group> groups;
  for (combined_call* const each : alone ? all.first(0) : all) {
    auto& call = static_cast<table_call&>(*each);
    const auto match =
        std::ranges::find_if(groups, [&](const call_group& group) { return group.takes(call); });
    if (match == groups.end()) {
      groups.emplace_back(call);
    } else {
      match->add(call);
    }
  }
  for (call_group& group : groups) group.put_keys_in_order();
  database_state& database = first.queue_.database();
  const bool one_statement = groups.size() <= 1 && first.one_statement();
  // One caller's stop is not the others'.
  std::optional<stop_scope> common;
  if (all.size() > 1) common.emplace(std::stop_token());
  const auto once = [&] {
    const leased_session session = database.sessions().lease();
    std::optional<unit_of_work> unit;
    if (!one_statement) unit.emplace(*session);
    if (alone)
      first.rows_ = first.queue_.run_on(*session, *first.what_, first.shared_, first.items_);
    for (const call_group& group : groups) group.run(*session);
    if (unit) unit->commit();
  };
  repeating(database.options().retry_for, contact::known, once, first.watched_);
  for (const call_group& group : groups) group.share_out();
}

/// Runs the call, perhaps together with calls of other threads.
void run_combined(combiner& line, table_call& call) {
  combiner::turn mine(line, call);
  for (auto calls = mine.next(); !calls.empty(); calls = mine.next()) {
    try {
      run_together(calls);
    } catch (...) {  // Each call gets its failure.
      mine.failed(std::current_exception());
    }
  }
}

}  // namespace

row_set run_call(const queue_state& queue, transaction_state* tx, const contract& what,
                 std::span<const value> shared, std::span<const value> items,
                 const observation* watched) {
  if (!queue_state::fits_one(what, items)) return queue.run_parts(tx, what, shared, items, watched);
  if (tx != nullptr) return queue.run_in(*tx, what, shared, items);
  const bool keyed = what.lane == lane::add && has_key(what, items);
  const lane call_lane = keyed ? lane::add_keyed : what.lane;
  table_call call(queue, what, call_lane, shared, items, watched);
  if (call_lane == lane::none || !queue.database().options().shortcuts.combining ||
      open_transaction::on_this_thread() > 0 || unrepeated::on_this_thread()) {
    combined_call* const alone = &call;
    run_together({&alone, 1});
  } else {
    run_combined(queue.combiner_of(call_lane), call);
  }
  return call.take_rows();
}

void in_shared_unit(const queue_state& queue, const std::function<void(transaction_state&)>& work) {
  database_state& database = queue.database();
  std::unique_ptr<transaction_state> part;  // of the last attempt
  const std::function<void(connection&)> attempt = [&](connection& session) {
    auto made = std::make_unique<transaction_state>(database.shared_from_this(), session);
    work(*made);
    made->end_part();
    part = std::move(made);
  };
  if (database.capabilities().one_writer && database.options().shortcuts.combining) {
    table_call call(queue, attempt);
    run_combined(queue.combiner_of(lane::complete), call);
  } else {
    const leased_session session = database.sessions().lease();
    unit_of_work unit(*session);
    attempt(*session);
    unit.commit();
  }
  part->committed_by_owner();  // may need a session
}

}  // namespace tableq::inline v0::core
