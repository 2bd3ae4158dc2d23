#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tableq/fwd.hpp>
#include <tableq/schema.hpp>
#include <tableq/stats.hpp>

#include "core/database/database_state.hpp"
#include "core/queue/async_writer.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

class lease_table;

/// One queue of one database: the state that the handles in queue.hpp share.
///
/// Shares the database.
///
/// @par Thread safety
/// Shared objects: safe; it does not change.
class queue_state {
 public:
  /// @param dead_letters the queue to which dead messages move; null: they stay.
  queue_state(std::shared_ptr<database_state> database, queue_info info,
              std::shared_ptr<const queue_state> dead_letters = nullptr);
  /// A table of the application.
  /// @param names of the table.
  queue_state(std::shared_ptr<database_state> database, queue_info info, const table_names& names,
              std::shared_ptr<const lease_table> mapped);

  /// Opens the queue's dead-letter queue.
  using letters_opener =
      std::function<std::shared_ptr<const queue_state>(const std::string& letters)>;
  /// From now on `current` follows the stored options. Before the state is shared.
  /// @param given the options that the handle was opened with: it keeps them.
  void follow(queue_settings given, letters_opener letters) {
    follows_.emplace(std::move(given), std::move(letters));
  }
  /// This state, or one with the options that the process heard of last. A call uses one to its
  /// end. It lives as long as this state.
  /// @param may_ask whether it may ask the database, for a new dead-letter queue.
  [[nodiscard]] const queue_state& current(bool may_ask = true) const noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return info_.name; }
  /// The stored options, except those that this handle was opened with.
  [[nodiscard]] const queue_info& info() const noexcept { return info_; }
  [[nodiscard]] database_state& database() const noexcept { return *database_; }
  /// Whether this process opened the queue.
  [[nodiscard]] bool here() const noexcept { return database_->here(); }
  /// The state that the handles of the queue share.
  [[nodiscard]] shared_queue& shared() const noexcept { return *shared_; }
  [[nodiscard]] const queue_state* dead_letters() const noexcept { return dead_letters_.get(); }
  [[nodiscard]] limits_watch& limits() const noexcept { return shared().limits; }
  /// The statements on a table of the application; null: the table is tableq's.
  [[nodiscard]] const lease_table* mapped() const noexcept { return mapped_.get(); }
  [[nodiscard]] const table_names& names() const noexcept { return names_; }

  /// Runs one statement of this queue inside `tx`. Without `tx` it has its own unit of work, which
  /// is repeated if that is safe, and which calls of other threads may share. If the database needs
  /// it, a strict queue is locked first. A batch of any size runs completely or not at all; it is
  /// divided into statements of at most 1,000 items and 64 MiB; without items nothing runs.
  /// @return the rows; the rows of a batch have the index of their item in `items`.
  template <class Shared, class Item, class Row>
  auto execute(transaction_state* tx, const typed_statement<Shared, Item, Row>& what,
               const std::type_identity_t<Shared>& shared = {},
               std::span<const std::type_identity_t<Item>> items = {}) const {
    if (!std::is_same_v<Item, nothing> && items.empty()) return std::vector<row_for<Row, Item>>();
    return rows_of<Row, Item>(
        execute(tx, contract_of(what.id), values_of(shared), values_of(items)));
  }

  /// The same by values, also of a statement whose contract the mapping of a table has made.
  row_set execute(transaction_state* tx, const contract& what, std::span<const value> shared,
                  std::span<const value> items = {}) const;

  /// Runs `work`, several statements of one operation in `tx`. An observer sees the operation
  /// `what`, once.
  /// @param given the number of messages. @param work returns how many of them it changed.
  void execute_as_one(transaction_state& tx, const contract& what, std::size_t given,
                      const std::function<std::size_t()>& work) const;

  /// Whether the statement has to lock the queue first, in a transaction.
  [[nodiscard]] bool needs_lock(const contract& what) const noexcept;
  /// Runs one statement on the session, after the lock that it may need.
  row_set run_on(connection& session, const contract& what, std::span<const value> shared,
                 std::span<const value> items) const;
  /// Whether one statement takes so many items.
  [[nodiscard]] static bool fits_one(const contract& what, std::span<const value> items);
  row_set run_in(transaction_state& tx, const contract& what, std::span<const value> shared,
                 std::span<const value> items) const;
  /// Runs a batch that is too long for one statement.
  row_set run_parts(transaction_state* tx, const contract& what, std::span<const value> shared,
                    std::span<const value> items, const observation* watched) const;
  /// Runs the calls of one lane.
  [[nodiscard]] combiner& combiner_of(lane calls) const noexcept {
    return database_->capabilities().one_writer ? database_->writing()
                                                : shared_->calls.for_lane(calls);
  }

  /// Runs statements of this queue in one transaction, which is repeated if that is safe; each sees
  /// what the ones before it have waited for. An observer sees the operation `all[told]`, once.
  /// @return false: one has too many items, and nothing was run.
  [[nodiscard]] bool execute_together(std::span<statement_call> all, std::size_t told) const;

  /// The writer for asynchronous enqueues of this handle; the first call makes it.
  /// @param Writer an async_writer, the same for one queue.
  template <class Writer>
  [[nodiscard]] Writer& writing(typename Writer::store how) const {
    std::call_once(written_, [&] {
      writing_ = std::make_shared<Writer>(
          database_->options(), std::move(how),
          error_origin{.backend = database_->name(),
                       .operation = std::string(to_string(info_.kind)) + ".enqueue"});
    });
    return *static_cast<Writer*>(writing_.get());
  }

 private:
  void check(transaction_state& tx) const;
  /// Runs `work(observation&)`, which returns the number of rows, as one operation.
  template <class Work>
  void observed(observer* watching, const contract& what, std::size_t given, bool in_transaction,
                Work work) const;
  /// The state for other stored options; null: it cannot be made now.
  [[nodiscard]] const queue_state* renewed(const queue_state& latest, const queue_info& stored,
                                           bool may_ask) const;

  std::shared_ptr<database_state> database_;
  queue_info info_;
  const table_names names_;
  const std::shared_ptr<shared_queue> shared_;
  std::shared_ptr<const queue_state> dead_letters_;
  std::shared_ptr<const lease_table> mapped_;
  std::optional<std::pair<queue_settings, letters_opener>> follows_;
  const queue_state* opened_ = this;  // that has made this one; lives longer
  mutable std::atomic<const queue_state*> latest_ = this;
  mutable std::atomic<std::uint64_t> heard_ = 0;  // the version of the stored options
  mutable std::atomic<std::chrono::steady_clock::rep> next_try_ = 0;
  mutable std::mutex renewing_;
  /// By options, layout and dead-letter queue, so that options that change to and fro keep no
  /// memory. Guarded by renewing_.
  mutable std::map<std::tuple<std::string, int, const queue_state*>,
                   std::unique_ptr<const queue_state>>
      renewals_;
  mutable std::once_flag written_;
  mutable std::shared_ptr<void> writing_;  // the last member, so it is destroyed first
};

/// The row of a take that is no message: see contract::tells.
[[nodiscard]] std::optional<std::size_t> told_row(const contract& what, const row_set& rows);

/// Runs one call of a statement, outside a transaction perhaps together with calls of other
/// threads, in a unit of work that is repeated if that is safe. core/queue/table_call.cpp defines
/// it, and the next one.
/// @param watched of an observer, if there is one.
row_set run_call(const queue_state& queue, transaction_state* tx, const contract& what,
                 std::span<const value> shared, std::span<const value> items,
                 const observation* watched);

/// Runs `work` as a part of a unit of work. On a database with one writer at a time calls of other
/// threads may share the unit: any of these threads may run `work`, and after a failure of the unit
/// it runs again. Elsewhere the unit is this part alone, and is not repeated.
void in_shared_unit(const queue_state& queue, const std::function<void(transaction_state&)>& work);

/// The number at which counts stop.
/// @throws error errc::invalid_argument.
std::size_t count_limit(const stats_options& options);
/// The same, as the figures report it.
inline std::optional<std::size_t> counted_to(const stats_options& options) {
  return options.exact ? std::nullopt : std::optional(options.count_to);
}

}  // namespace tableq::inline v0::core
