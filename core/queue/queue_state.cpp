#include "core/queue/queue_state.hpp"

#include "core/seam/contract.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <tableq/error.hpp>

#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/input/validate.hpp"
#include "core/seam/run.hpp"
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
    bytes += bytes_of(items.subspan(i, width));
    if (bytes > longest_statement && count > 0) break;
  }
  return count;
}

poll_plan::timing timing_of(kind queue_kind) {
  if (queue_kind == kind::claim || queue_kind == kind::table) return poll_plan::timing::leases;
  return queue_kind == kind::pending ? poll_plan::timing::announced : poll_plan::timing::none;
}

table_names placed(table_names names, const database_state& database) {
  names.sharded = database.sharded();
  return names;
}

/// Puts the rows of a read into the queue's order.
void put_in_order(row_set& rows, std::span<const sorted_by> columns) {
  if (columns.empty() || rows.size() < 2) return;
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

/// Locks the limits of the queue, and then takes within them: the take must see what was committed
/// before the lock.
row_set take_limited(connection& session, const table_names& names, const contract& what,
                     std::span<const value> shared) {
  const std::span queue(&shared[place_of<take_request>("queue")], 1);
  std::array both{statement_call{.what = &contract_of(statement::limits_lock), .shared = queue},
                  statement_call{.what = &what, .shared = shared}};
  session.run(what.name, names, both);
  return std::move(both.back().rows);
}

auto parts_of(const value& of) {
  return std::tie(of.is, of.number, of.data);
}

/// The first fields of an item, which name its message; empty: it names none.
std::span<const value> key_of(const contract& what, std::span<const value> items,
                              std::size_t place) {
  std::size_t width = what.items.front().name == "id" ? 1 : 0;
  if (what.fence_at != contract::no_place) width = what.fence_at;
  return items.subspan(place * what.items.size(), width);
}

/// The places of items by the keys of their messages: all statements lock these in that order, and
/// never wait for each other. Items that name none stay as they are.
std::vector<std::size_t> places_by_key(const contract& what, std::span<const value> items) {
  std::vector<std::size_t> out(items.size() / what.items.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  const auto comes_before = [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(key_of(what, items, a), key_of(what, items, b), {},
                                                parts_of, parts_of);
  };
  if (!std::ranges::is_sorted(out, comes_before)) std::ranges::stable_sort(out, comes_before);
  return out;
}

/// The places of receipts by rising keys, each key once in a round: each receipt gets its own
/// answer. That of the highest fence need not be the right one, because a take that was rolled back
/// has one, too. A round begins where the one before has ended, since a completion locks only what
/// it deletes. Empty: the items are one round as they are.
std::vector<std::vector<std::size_t>> rounds_of(const contract& what,
                                                std::span<const value> items) {
  std::vector<std::vector<std::size_t>> out;
  if (what.fence_at == contract::no_place || items.size() <= what.items.size()) return out;
  const auto same_key = [&](std::size_t a, std::size_t b) {
    return std::ranges::equal(key_of(what, items, a), key_of(what, items, b), {}, parts_of,
                              parts_of);
  };
  out.emplace_back();
  for (const std::size_t each : places_by_key(what, items)) {
    if (!out.back().empty() && same_key(out.back().back(), each)) out.emplace_back();
    out.back().push_back(each);
  }
  if (out.size() == 1 && std::ranges::is_sorted(out.front())) out.clear();
  return out;
}

/// Runs rounds of receipts together. @return rows with the places of their items.
row_set run_rounds(connection& session, const table_names& names, const statement_call& given,
                   std::span<const std::vector<std::size_t>> rounds) {
  const std::size_t width = given.what->items.size();
  std::vector<std::vector<value>> items(rounds.size());
  std::vector<statement_call> all;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    for (const std::size_t place : rounds[i]) {
      const auto item = given.items.subspan(place * width, width);
      items[i].insert(items[i].end(), item.begin(), item.end());
    }
    all.push_back({.what = given.what, .shared = given.shared, .items = items[i]});
  }
  session.run(given.what->name, names, all);
  row_set out(given.what->columns.size() + 1);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    for (std::size_t row = 0; row < all[i].rows.size(); ++row) {
      out.add(static_cast<std::int64_t>(rounds[i][all[i].rows.item(row)]));
      out.append_row(all[i].rows, row, 1);
    }
  }
  return out;
}

/// @param given the number of receipts. @param rows the number of rows that the statement returned.
std::size_t leases_lost(const contract& what, std::size_t given, std::size_t rows) {
  if (what.finds_lost) return rows;
  return what.settles() && given > rows ? given - rows : 0;
}

}  // namespace

queue_state::queue_state(std::shared_ptr<database_state> database, queue_info info,
                         std::shared_ptr<const queue_state> dead_letters)
    : database_(std::move(database)),
      info_(std::move(info)),
      names_(placed(names_of(database_->options(), info_), *database_)),
      shared_(database_->shared(names_, timing_of(info_.kind))),
      dead_letters_(std::move(dead_letters)) {
  if (needs_upkeep(info_)) shared().attended = true;
}

queue_state::queue_state(std::shared_ptr<database_state> database, queue_info info,
                         const table_names& names, std::shared_ptr<const lease_table> mapped)
    : database_(std::move(database)),
      info_(std::move(info)),
      names_(placed(names, *database_)),
      shared_(database_->shared(names_, timing_of(info_.kind))),
      mapped_(std::move(mapped)) {}

const queue_state* queue_state::renewed(const queue_state& latest, const queue_info& stored,
                                        bool may_ask) const {
  queue_info info = with_given(stored, follows_->first);
  if (encode_options(info) == encode_options(latest.info())) return &latest;
  std::shared_ptr<const queue_state> letters = latest.dead_letters_;
  if (info.dead_letters != latest.info().dead_letters) {
    if (!may_ask && !info.dead_letters.empty()) return nullptr;
    letters = info.dead_letters.empty() ? nullptr : follows_->second(info.dead_letters);
  }
  const std::scoped_lock hold(renewing_);
  auto& renewal = renewals_[{encode_options(info), info.layout, letters.get()}];
  if (renewal == nullptr) {
    auto made = std::make_unique<queue_state>(database_, std::move(info), std::move(letters));
    made->opened_ = this;
    renewal = std::move(made);
  }
  return renewal.get();
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
    const queue_state* const made = last == nullptr ? nullptr : renewed(latest, last->info, asks);
    if (made == nullptr) return latest;
    latest_.store(made, std::memory_order_release);
    heard_.store(version, std::memory_order_release);
  } catch (const std::exception&) {  // The dead-letter queue cannot be opened now.
    next_try_.store((now + std::chrono::seconds{1}).time_since_epoch().count());
  }
  return *latest_.load(std::memory_order_acquire);
}

template <class Work>
void queue_state::observed(observer* watching, const contract& what, std::size_t given,
                           bool in_transaction, Work work) const {
  const observed_operation operation{.name = what.operation,
                                     .backend = database_->name(),
                                     .queue = info_.name,
                                     .kind = info_.kind,
                                     .given = given,
                                     .in_transaction = in_transaction};
  observation observing(watching, operation);
  const std::size_t lost = observing.run([&] { return leases_lost(what, given, work(observing)); });
  if (lost > 0) observing.leases_lost(lost);
}

row_set queue_state::execute(transaction_state* tx, const contract& what,
                             std::span<const value> shared, std::span<const value> items) const {
  observer* const watching = database_->watching();
  if (watching == nullptr || (tx != nullptr && !tx->tells_statements()))
    return run_call(*this, tx, what, shared, items, nullptr);
  const std::size_t given = what.items.empty() ? 0 : items.size() / what.items.size();
  row_set rows;
  observed(watching, what, given, tx != nullptr, [&](observation& observing) {
    rows = run_call(*this, tx, what, shared, items, &observing);
    if (what.counts_messages) observing.count(rows.size() - (told_row(what, rows) ? 1 : 0));
    return rows.size();
  });
  return rows;
}

void queue_state::execute_as_one(transaction_state& tx, const contract& what, std::size_t given,
                                 const std::function<std::size_t()>& work) const {
  observer* const watching = tx.tells_statements() ? database_->watching() : nullptr;
  observed(watching, what, given, true, [&](observation& observing) {
    const std::size_t done = tx.as_one_operation(work);
    observing.count(done);
    return done;
  });
}

bool queue_state::execute_together(std::span<statement_call> all, std::size_t told) const {
  if (!std::ranges::all_of(
          all, [](const statement_call& each) { return fits_one(*each.what, each.items); })) {
    return false;
  }
  const statement_call& main = all[told];
  const std::size_t given = main.items.size() / main.what->items.size();
  observed(database_->watching(), *main.what, given, false, [&](observation& observing) {
    database_->on_session([&](connection& session) { session.run(main.what->name, names_, all); },
                          &observing);
    observing.count(main.rows.size());
    return main.rows.size();
  });
  return true;
}

bool queue_state::fits_one(const contract& what, std::span<const value> items) {
  const std::size_t width = what.items.size();
  return items.empty() || chunk_size(items, width) * width == items.size();
}

bool queue_state::needs_lock(const contract& what) const noexcept {
  return info_.ordering == ordering::strict && database_->capabilities().strict_needs_lock &&
         what.changes_messages;
}

row_set queue_state::run_on(connection& session, const contract& what,
                            std::span<const value> shared, std::span<const value> items) const {
  if (needs_lock(what)) {
    core::run(session, names_, statements::queue_lock, {},
              std::array{identity_request{info_.identity}});
  }
  statement_call one{.what = &what, .shared = shared, .items = items};
  const auto rounds = rounds_of(what, items);
  if (!rounds.empty()) return run_rounds(session, names_, one, rounds);
  if (what.id == statement::claim_take_limited) {
    one.rows = take_limited(session, names_, what, shared);
  } else {
    session.run(what.name, names_, {&one, 1});
  }
  put_in_order(one.rows, what.order);
  return std::move(one.rows);
}

row_set queue_state::run_in(transaction_state& tx, const contract& what,
                            std::span<const value> shared, std::span<const value> items) const {
  check(tx);
  if (what.writes) tx.hint_on_rollback(*shared_);
  const bool news = tx.enlisted() && what.adds && database_->notifies();
  const auto work = [&] {
    return tx.run(what.changes_messages, [&](connection& session) {
      if (!news || needs_lock(what) || !tx.keeps_changes())
        return run_on(session, what, shared, items);
      row_set rows = database_->add_and_announce(session, shared_->watched,
                                                 {.what = &what, .shared = shared, .items = items});
      tx.announced(*shared_);
      return rows;
    });
  };
  // A lock that ends before the statement would protect nothing.
  const bool several = (needs_lock(what) && tx.in_none()) || rounds_of(what, items).size() > 1;
  return several ? tx.as_unit(work) : work();
}

row_set queue_state::run_parts(transaction_state* tx, const contract& what,
                               std::span<const value> shared, std::span<const value> items,
                               const observation* watched) const {
  const std::size_t width = what.items.size();
  const std::vector<std::size_t> places = places_by_key(what, items);
  std::vector<value> sorted;
  for (const std::size_t place : places) {
    const auto item = items.subspan(place * width, width);
    sorted.insert(sorted.end(), item.begin(), item.end());
  }
  const auto work = [&](connection& session) {
    row_set all(what.columns.size() + 1);
    std::size_t done = 0;
    while (done < places.size()) {
      const auto rest = std::span<const value>(sorted).subspan(done * width);
      const std::size_t count = chunk_size(rest, width);
      row_set rows = run_on(session, what, shared, rest.subspan(0, count * width));
      for (std::size_t row = 0; row < rows.size(); ++row) {
        all.add(static_cast<std::int64_t>(places[done + rows.item(row)]));
        all.append_row(rows, row, 1);
      }
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

std::optional<std::size_t> told_row(const contract& what, const row_set& rows) {
  for (std::size_t row = 0; what.tells && row < rows.size(); ++row) {
    if (rows.integer(row, place_of<delivery_row>("id")) == 0) return row;
  }
  return std::nullopt;
}

std::size_t count_limit(const stats_options& options) {
  check_stats(options);
  return options.exact ? static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())
                       : options.count_to;
}

}  // namespace tableq::inline v0::core
