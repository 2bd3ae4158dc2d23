#include "core/queue/queue_state.hpp"

#include "core/seam/contract.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <tableq/error.hpp>

#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/queue_options.hpp"
#include "core/input/validate.hpp"
#include "core/queue/table_call.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr std::size_t longest_batch = 1000;
constexpr std::size_t longest_statement = std::size_t{64} * 1024 * 1024;

/// How many items go into the next statement: at least one.
std::size_t chunk_size(std::span<const value> items, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < items.size() && count < longest_batch; i += width, ++count) {
    for (const value& field : items.subspan(i, width)) bytes += field.data.size();
    if (bytes > longest_statement && count > 0) break;
  }
  return count;
}

/// @param given the number of receipts. @param rows the number of rows that the statement returned.
std::size_t leases_lost(const contract& what, std::size_t given, std::size_t rows) {
  if (what.id == statement::claim_lost || what.id == statement::table_lost) return rows;
  // A heartbeat skips locked rows; claim.lost checks these.
  const bool skips = what.id == statement::claim_heartbeat || what.id == statement::table_keep ||
                     what.id == statement::claim_progress;
  if (skips || !what.settles) return 0;
  // A settlement returns a row for each receipt that still matches.
  return given > rows ? given - rows : 0;
}

bool adds(const contract& what, std::span<const value> items) {
  const lane found = lane_of(what, items);
  return found == lane::add || found == lane::add_keyed;
}

}  // namespace

queue_state::queue_state(std::shared_ptr<database_state> database, queue_info info,
                         std::shared_ptr<const queue_state> dead_letters)
    : database_(std::move(database)),
      info_(std::move(info)),
      table_(std::make_shared<const queue_table>(*database_, info_)),
      dead_letters_(std::move(dead_letters)) {
  if (needs_upkeep(info_)) shared().attended = true;
}

queue_state::queue_state(std::shared_ptr<database_state> database, queue_info info,
                         const table_names& names, std::shared_ptr<const lease_table> mapped)
    : database_(std::move(database)),
      info_(std::move(info)),
      table_(std::make_shared<const queue_table>(*database_, info_, names)),
      mapped_(std::move(mapped)) {}

std::shared_ptr<const queue_state> queue_state::renewed(const queue_state& latest,
                                                        const queue_info& stored,
                                                        bool may_ask) const {
  queue_info info = with_given(stored, follows_->first);
  if (encode_options(info) == encode_options(latest.info())) {
    return {std::shared_ptr<const queue_state>(), &latest};  // owns nothing
  }
  std::shared_ptr<const queue_state> letters;
  if (info.dead_letters == latest.info().dead_letters) {
    letters = latest.dead_letters_;
  } else if (!info.dead_letters.empty()) {
    if (!may_ask) return nullptr;
    letters = follows_->second(info.dead_letters);
  }
  if (const queue_state* const known = earlier(info, letters.get())) {
    return {std::shared_ptr<const queue_state>(), known};  // owns nothing
  }
  auto out = std::make_shared<queue_state>(database_, std::move(info), std::move(letters));
  out->opened_ = this;
  return out;
}

const queue_state* queue_state::earlier(const queue_info& info, const queue_state* letters) const {
  const std::string options = encode_options(info);
  const auto is_it = [&](const queue_state& each) {
    return each.info().layout == info.layout && each.dead_letters_.get() == letters &&
           encode_options(each.info()) == options;
  };
  if (is_it(*this)) return this;
  const std::scoped_lock hold(renewing_);
  const auto found =
      std::ranges::find_if(renewals_, [&](const auto& each) { return is_it(*each); });
  return found == renewals_.end() ? nullptr : found->get();
}

const queue_state& queue_state::current(bool may_ask) const noexcept {
  if (opened_ != this) return opened_->current(may_ask);
  const queue_state& latest = *latest_.load(std::memory_order_acquire);
  if (!follows_) return latest;
  const stored_options& stored = shared().stored;
  const std::uint64_t version = stored.version();
  if (version == heard_.load(std::memory_order_acquire)) return latest;
  const auto now = std::chrono::steady_clock::now();
  if (now.time_since_epoch().count() < next_try_.load()) return latest;
  try {
    const auto last = stored.last();
    const bool asks = may_ask && open_transaction::on_this_thread() == 0;
    auto made = last == nullptr ? nullptr : renewed(latest, *last, asks);
    if (made == nullptr) return latest;
    const std::scoped_lock hold(renewing_);
    latest_.store(made.get(), std::memory_order_release);
    if (made.use_count() > 0) renewals_.push_back(std::move(made));
    heard_.store(version, std::memory_order_release);
  } catch (const std::exception&) {  // The dead-letter queue cannot be opened now.
    next_try_.store((now + std::chrono::seconds{1}).time_since_epoch().count());
  }
  return *latest_.load(std::memory_order_acquire);
}

row_set queue_state::execute(transaction_state* tx, const contract& what,
                             std::span<const value> shared, std::span<const value> items) const {
  observer* const watching = database_->watching();
  if (watching == nullptr || (tx != nullptr && !tx->tells_statements()))
    return run(tx, what, shared, items, nullptr);
  const std::size_t given = what.items.empty() ? 0 : items.size() / what.items.size();
  const observed_operation operation{.name = operation_of(what.id),
                                     .backend = database_->name(),
                                     .queue = info_.name,
                                     .kind = info_.kind,
                                     .given = given,
                                     .in_transaction = tx != nullptr};
  observation observing(watching, operation);
  row_set rows = observing.run([&] {
    row_set out = run(tx, what, shared, items, &observing);
    if (what.counts_messages) observing.count(out.size() - (told_row(what.id, out) ? 1 : 0));
    return out;
  });
  const std::size_t lost = leases_lost(what, given, rows.size());
  if (lost > 0) observing.leases_lost(lost);
  return rows;
}

void queue_state::execute_as_one(transaction_state& tx, const contract& what, std::size_t given,
                                 const std::function<std::size_t()>& work) const {
  observer* const watching = tx.tells_statements() ? database_->watching() : nullptr;
  const observed_operation operation{.name = what.name,
                                     .backend = database_->name(),
                                     .queue = info_.name,
                                     .kind = info_.kind,
                                     .given = given,
                                     .in_transaction = true};
  observation observing(watching, operation);
  const std::size_t lost = observing.run([&] {
    const transaction_state::one_operation all(tx);
    const std::size_t done = work();
    observing.count(done);
    return leases_lost(what, given, done);
  });
  if (lost > 0) observing.leases_lost(lost);
}

bool queue_state::execute_together(std::span<statement_call> all, std::size_t told) const {
  for (const statement_call& each : all) {
    const std::size_t width = each.what->items.size();
    if (width > 0 && chunk_size(each.items, width) * width < each.items.size()) return false;
  }
  const statement_call& main = all[told];
  const contract& what = *main.what;
  const std::size_t given = main.items.size() / what.items.size();
  const observed_operation operation{.name = operation_of(what.id),
                                     .backend = database_->name(),
                                     .queue = info_.name,
                                     .kind = info_.kind,
                                     .given = given};
  observation observing(database_->watching(), operation);
  observing.run([&] {
    database_->on_session([&](connection& session) { session.run(what.name, names(), all); },
                          &observing);
    observing.count(main.rows.size());
  });
  const std::size_t lost = leases_lost(what, given, main.rows.size());
  if (lost > 0) observing.leases_lost(lost);
  return true;
}

row_set queue_state::run(transaction_state* tx, const contract& what, std::span<const value> shared,
                         std::span<const value> items, const observation* watched) const {
  const std::size_t width = what.items.size();
  if (!items.empty() && chunk_size(items, width) * width < items.size())
    return run_parts(tx, what, shared, items, watched);
  if (tx != nullptr) return run_in(*tx, what, shared, items);
  const lane call_lane = lane_of(what, items);
  table_call call(*table_, what, call_lane, shared, items, watched);
  if (call_lane == lane::none || !database_->options().shortcuts.combining ||
      open_transaction::on_this_thread() > 0 || unrepeated::on_this_thread()) {
    combined_call* const alone = &call;
    run_together({&alone, 1});
  } else {
    run_combined(table_->combiner_of(call_lane), call);
  }
  return call.take_rows();
}

row_set queue_state::run_in(transaction_state& tx, const contract& what,
                            std::span<const value> shared, std::span<const value> items) const {
  check(tx);
  if (what.writes) tx.hint_on_rollback(table_->shared());
  const bool news = tx.enlisted() && adds(what, items) && database_->notifies();
  const auto work = [&] {
    return tx.run(what.changes_messages, [&](connection& session) {
      if (!news || table_->needs_lock(what) || !tx.keeps_changes())
        return table_->run(session, what, shared, items);
      row_set rows = database_->add_and_announce(session, table_->shared().watched,
                                                 {.what = &what, .shared = shared, .items = items});
      tx.announced(table_->shared());
      return rows;
    });
  };
  // A lock that ends before the statement would protect nothing.
  return table_->needs_lock(what) && tx.in_none() ? tx.as_unit(work) : work();
}

row_set queue_state::run_parts(transaction_state* tx, const contract& what,
                               std::span<const value> shared, std::span<const value> items,
                               const observation* watched) const {
  const std::size_t width = what.items.size();
  const auto work = [&](connection& session) {
    row_set all(what.columns.size() + 1);
    std::size_t done = 0;
    while (done * width < items.size()) {
      const auto rest = items.subspan(done * width);
      const std::size_t count = chunk_size(rest, width);
      all.append_shifted(table_->run(session, what, shared, rest.subspan(0, count * width)),
                         static_cast<std::int64_t>(done));
      done += count;
    }
    return all;
  };
  if (tx == nullptr) return database_->in_transaction(work, watched);
  check(*tx);
  return tx->as_unit([&] { return tx->run(what.changes_messages, work); });
}

void queue_state::check(transaction_state& tx) const {
  tx.database().check_here();
  if (&tx.database() == database_.get()) return;
  throw error(errc::invalid_argument, advice::never,
              "the transaction belongs to another database object than the queue " + info_.name,
              {.backend = database_->name()});
}

std::size_t count_limit(const stats_options& options) {
  check_stats(options);
  return options.exact ? static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())
                       : options.count_to;
}

}  // namespace tableq::inline v0::core
