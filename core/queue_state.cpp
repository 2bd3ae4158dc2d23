#include "core/queue_state.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <tableq/error.hpp>

#include "core/identifier.hpp"
#include "core/transaction_state.hpp"
#include "core/validate.hpp"

namespace tableq::core {
namespace {

constexpr std::size_t most_items = 1000;
constexpr std::size_t most_bytes = std::size_t{64} * 1024 * 1024;

/// How many of the items go into the next statement: at least one.
std::size_t chunk_size(std::span<const value> items, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < items.size() && count < most_items; i += width, ++count) {
    for (const value& field : items.subspan(i, width)) bytes += field.data.size();
    if (bytes > most_bytes && count > 0) break;
  }
  return count;
}

bool has(std::span<const field> fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const field& each) { return each.name == name; });
}

look_plan::timing timing_of(kind of) {
  if (of == kind::claim) return look_plan::timing::leases;
  return of == kind::pending ? look_plan::timing::announced : look_plan::timing::none;
}

}  // namespace

queue_state::queue_state(std::shared_ptr<database_state> in, queue_info info,
                         std::shared_ptr<const queue_state> dead_letters)
    : database_(std::move(in)),
      info_(std::move(info)),
      names_(names_for(database_->options(), info_.name)),
      watched_(database_->waking().queue(names_, info_.identity, timing_of(info_.kind))),
      limits_(database_->limits_of(names_)),
      dead_letters_(std::move(dead_letters)) {}

template <class Work>
row_set queue_state::observed(transaction* tx, statement id, std::span<const value> items,
                              Work work) const {
  observer* const watching = database_->watching();
  if (watching == nullptr) return work(nullptr);
  const contract& of = contract_of(id);
  const std::size_t given = of.items.empty() ? 0 : items.size() / of.items.size();
  const observed_operation as{.name = of.name,
                              .backend = database_->name(),
                              .queue = info_.name,
                              .kind = info_.kind,
                              .given = given,
                              .in_transaction = tx != nullptr};
  observation told(watching, as);
  row_set rows = told.run([&] {
    row_set out = work(&told);
    if (has(of.columns, "id")) told.count(out.size());
    return out;
  });
  // A settlement answers for each receipt that still matched.
  if (has(of.items, "fence") && rows.size() < given) told.leases_lost(given - rows.size());
  return rows;
}

row_set queue_state::execute(transaction* tx, statement id, std::span<const value> shared,
                             std::span<const value> items) const {
  return observed(tx, id, items,
                  [&](const observation* watched) { return run(tx, id, shared, items, watched); });
}

row_set queue_state::execute_batch(transaction* tx, statement id, std::span<const value> shared,
                                   std::span<const value> items) const {
  return observed(tx, id, items, [&](const observation* watched) {
    return run_batch(tx, id, shared, items, watched);
  });
}

row_set queue_state::run(transaction* tx, statement id, std::span<const value> shared,
                         std::span<const value> items, const observation* watched) const {
  if (tx == nullptr && begins_at_floor(id)) raise_floor();
  if (tx != nullptr) {
    check(*tx);
    if (contract_of(id).writes) tx->state().hint_on_rollback(watched_);
    return tx->state().run([&](connection& session) { return on(session, id, shared, items); });
  }
  const lane in = lane_of(id, items);
  if (in != lane::none && database_->options().combining && !open_transaction::here()) {
    return run_fused(*this, id, in, shared, items, watched);
  }
  return execute_alone(id, shared, items, watched);
}

row_set queue_state::execute_alone(statement id, std::span<const value> shared,
                                   std::span<const value> items, const observation* watched) const {
  const auto work = [&](connection& session) { return on(session, id, shared, items); };
  return needs_lock(id) ? database_->in_transaction(work, watched)
                        : database_->on_session(work, watched);
}

row_set queue_state::run_batch(transaction* tx, statement id, std::span<const value> shared,
                               std::span<const value> items, const observation* watched) const {
  const contract& of = contract_of(id);
  const std::size_t width = of.items.size();
  if (chunk_size(items, width) * width == items.size()) return run(tx, id, shared, items, watched);
  const auto work = [&](connection& session) {
    row_set all(of.columns.size() + 1);
    std::size_t done = 0;
    while (done * width < items.size()) {
      const auto rest = items.subspan(done * width);
      const std::size_t count = chunk_size(rest, width);
      all.append_shifted(on(session, id, shared, rest.subspan(0, count * width)),
                         static_cast<std::int64_t>(done));
      done += count;
    }
    return all;
  };
  if (tx == nullptr) return database_->in_transaction(work, watched);
  check(*tx);
  return tx->state().run(work);
}

row_set queue_state::on(connection& session, statement id, std::span<const value> shared,
                        std::span<const value> items) const {
  if (needs_lock(id)) {
    const value identity(info_.identity);
    session.execute(statement::queue_lock, names_, {&identity, 1}, {});
  }
  if (begins_at_floor(id)) return read_from_floor(session, id, shared);
  if (looks_from_passed(id)) return look_from_passed(session, id, shared);
  return session.execute(id, names_, shared, items);
}

bool queue_state::begins_at_floor(statement id) const noexcept {
  const contract& of = contract_of(id);
  return database_->able().deleted_rows_linger && of.writes &&
         (has(of.shared, "floor") || has(of.shared, "floors"));
}

bool queue_state::looks_from_passed(statement id) const noexcept {
  return database_->able().deleted_rows_linger && has(contract_of(id).shared, "passed");
}

bool queue_state::needs_lock(statement id) const noexcept {
  // Only what changes the messages: limits have a lock of their own.
  const contract& of = contract_of(id);
  return info_.ordering == ordering::strict && database_->able().strict_needs_lock && of.writes &&
         of.name.starts_with(to_string(info_.kind));
}

combiner& queue_state::combining(lane in) const noexcept {
  return database_->able().one_writer ? database_->writing() : watched_.calls.of(in);
}

void queue_state::check(transaction& tx) const {
  tx.state().database().check_here();
  if (&tx.state().database() == database_.get()) return;
  throw error(errc::invalid_argument, advice::never,
              "the transaction belongs to another database object than the queue " + info_.name,
              {.backend = database_->name(), .operation = "transaction"});
}

void queue_state::announce(transaction* tx, std::size_t count) const {
  if (count == 0) return;
  if (tx != nullptr) {
    tx->state().announce_on_commit(watched_, count);
  } else {
    database_->announce(watched_, count);
  }
}

std::optional<std::chrono::milliseconds> queue_state::due_in(statement next_due) const {
  std::vector<value> shared{database_->now()};
  shared.resize(contract_of(next_due).shared.size());  // Where to begin, `on` knows.
  const row_set rows = execute(nullptr, next_due, shared);
  if (rows.empty()) return std::nullopt;
  return std::chrono::milliseconds(rows.integer(0, 0));
}

value count_limit(const stats_options& options) {
  check_stats(options);
  return options.exact ? value(std::numeric_limits<std::int64_t>::max())
                       : to_value(options.count_to);
}

void not_stored(const queue_state& of) {
  throw error(errc::constraint_violated, advice::never,
              "the table of the queue " + of.name() +
                  " did not keep a row; look for triggers and rules on it",
              {.backend = of.database().name(), .operation = "enqueue"});
}

}  // namespace tableq::core
