#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tableq/batch.hpp>
#include <tableq/claim_queue.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/options.hpp>
#include <tableq/pending_queue.hpp>
#include <tableq/plain_queue.hpp>
#include <tableq/queue_changes.hpp>
#include <tableq/schedules.hpp>
#include <tableq/schema.hpp>
#include <tableq/table_definition.hpp>
#include <tableq/table_mapping.hpp>
#include <tableq/table_queue.hpp>
#include <tableq/text_view.hpp>
#include <tableq/transaction.hpp>

namespace tableq::inline v0 {

/// A database that holds queues.
///
/// Owns a pool of sessions, each opened when first needed. Copies share the pool; its queues and
/// transactions keep it open.
///
/// @par fork()
/// Objects that were opened before a fork belong to the parent. In the child each call on such a
/// database, or on its queues, transactions and workers, is errc::invalid_argument; their
/// destructors do not touch the parent's sessions. A database that the child opens works normally;
/// a SQLite file that the parent had open is errc::invalid_argument there.
///
/// @par Errors of every function that uses a session
/// errc::connection_failed, connection_lost, outcome_unknown, busy, conflict, permission_denied,
/// read_only, storage_full, cancelled, beside those that a function lists.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class TABLEQ_EXPORT database {
 public:
  // A move copies, so that no object is left without its database.
  database(const database&) noexcept = default;
  database& operator=(const database&) noexcept = default;
  ~database() = default;

  /// Connects once, so that a wrong address, password or file fails here. On SQLite it makes a file
  /// that does not exist, unless the policy is schema_policy::verify_only; else it writes nothing.
  /// @param url `sqlite://...`, `postgresql://...`; docs/connecting.md lists all.
  /// @throws error errc::invalid_argument for an unknown scheme (listing the known ones), or an
  ///   unknown key or bad value (naming the key); errc::not_found under verify_only, when the file
  ///   does not exist; errc::connection_failed, errc::not_a_database, errc::schema_too_new,
  ///   errc::unsupported.
  [[nodiscard]] static database open(text_view url, const open_options& options = {});

  /// Opens a queue of the kind `heap`. Creates it, in a transaction of its own, if it does not
  /// exist and the schema policy allows it.
  /// @param name 1 to 40 of a-z, 0-9, `_`, `-` and `.`, beginning with a letter or `_`; not
  ///   `tableq` or `sqlite`, and without the prefixes `tableq_`, `sqlite_` and `pg_`.
  /// @throws error errc::invalid_argument for a bad name or option, errc::kind_mismatch when it
  ///   exists as another kind, errc::options_mismatch when it exists with other fixed options,
  ///   errc::not_found under schema_policy::verify_only, errc::schema_mismatch when a foreign table
  ///   has the name.
  [[nodiscard]] heap_queue heap(text_view name);
  /// The same for the kind `fifo`. Without an ordering it has the stored one; a new queue is
  /// relaxed.
  [[nodiscard]] fifo_queue fifo(text_view name, const order_options& options = {});
  /// The same for the kind `lifo`, with the ordering as for `fifo`.
  [[nodiscard]] lifo_queue lifo(text_view name, const order_options& options = {});
  /// The same for the kind `pending`.
  [[nodiscard]] pending_queue pending(text_view name);
  /// The same for the kind `claim`. Opens or creates the queue of `dead_letters` first; the errors
  /// then concern that queue too. Under schema_policy::verify_only a dead-letter queue that is
  /// stored and missing stops only the calls that need it, with errc::not_found.
  /// @param options valid for this handle, stored, or fixed: see claim_options.
  [[nodiscard]] claim_queue claim(text_view name, const claim_options& options = {});

  /// Uses a table of the application as a queue. Reads the table's description and changes nothing;
  /// no right to create tables is needed.
  /// @param name of the table: exactly, or without case if only one table has it.
  /// @param mapping what its columns mean.
  /// @throws error errc::not_found for a table that does not exist; errc::invalid_argument for a
  ///   view, for a column that is missing or of an unfit type (naming it, its type and the needed
  ///   one), and for a mapping that cannot work; errc::unsupported on a dialect without templates
  ///   for tables, and on SQL Server for a table with triggers.
  [[nodiscard]] table_queue table(text_view name, const table_mapping& mapping);
  /// The same for the table and mapping that `store_table` has stored under this name. The queue
  /// has this name.
  /// @throws error as `table`; errc::not_found when nothing is stored; errc::kind_mismatch when the
  ///   name is that of a queue.
  [[nodiscard]] table_queue stored_table(text_view name);
  /// Stores a table and its mapping in tableq's catalogue, so that other programs and the command
  /// find them by name. Creates the catalogue if it does not exist. Replaces an earlier definition
  /// of that name; open handles keep theirs. `drop` removes it from the catalogue and leaves the
  /// table as it is.
  /// @param name as a queue's name.
  /// @param definition checked against the table first.
  /// @throws error as `table`; errc::invalid_argument for a bad name, a definition whose JSON has
  ///   over 4,000 bytes, and in a thread with an open transaction; errc::kind_mismatch when the
  ///   name is that of a queue; errc::unsupported under schema_policy::verify_only.
  void store_table(text_view name, const table_definition& definition);

  /// The rules of periodic messages.
  [[nodiscard]] tableq::schedules schedules() const noexcept;

  /// Begins a transaction on its own session. `queue.in(tx)` gives handles inside it. While it is
  /// open, the thread that used it last is refused what a function of `transact` is refused, except
  /// `begin`: write `queue.in(tx)`, or `outside()` for work outside on purpose. A call in another
  /// thread that uses the transaction moves this to that thread. open_options::refuses_beside_begin
  /// turns it off.
  /// @throws error errc::invalid_argument inside the function of a transact; see `outside`.
  [[nodiscard]] transaction begin();

  /// Runs `f(transaction&)` and commits; rolls back when f throws. After a conflict, or a session
  /// lost before the commit was sent, f runs again from the start, for up to `retry_for`. It never
  /// runs again after errc::outcome_unknown. f must therefore have no effects outside the
  /// transaction. While f runs, this thread's calls on handles of this database that are bound to
  /// no transaction throw errc::invalid_argument: they would miss the transaction or wait for its
  /// locks. Write `queue.in(tx)`, or `queue.outside()` for work outside on purpose. `begin`,
  /// another `transact`, `drop`, opening a queue that does not exist yet, `tx.commit()` and
  /// `tx.rollback()` throw it too: return from f to commit, throw to roll back. Errors of the
  /// application's own statements (soci::soci_error) leave transact without another run. If f
  /// catches one, PostgreSQL rolls all back (errc::invalid_argument), unless f rolls back to a
  /// savepoint; SQLite keeps the rest.
  /// @return what f returns.
  template <class F>
  auto transact(F&& f) -> std::invoke_result_t<F&, transaction&> {
    using result = std::invoke_result_t<F&, transaction&>;
    if constexpr (std::is_void_v<result>) {
      run_transaction([&f](transaction& tx) { f(tx); });
    } else {
      std::optional<result> out;
      run_transaction([&f, &out](transaction& tx) { out.emplace(f(tx)); });
      return std::move(*out);
    }
  }

  /// The same database, for work beside the transaction that this thread has open:
  /// another transaction, dropping or creating a queue. Such work commits independently of that
  /// transaction, and waits for its locks: on SQLite every change waits until busy_timeout. Queue
  /// handles that it opens are ordinary handles.
  [[nodiscard]] database outside() const noexcept;

  /// All queues of the catalogue, ordered by name. Empty if there is no catalogue yet.
  /// @throws error errc::schema_too_new, or errc::schema_mismatch for a row that tableq cannot have
  ///   written.
  [[nodiscard]] std::vector<queue_info> queues() const;
  /// One queue of the catalogue; empty if it is not there.
  /// @throws error as `queues`; errc::invalid_argument for a bad name.
  [[nodiscard]] std::optional<queue_info> find(text_view name) const;
  /// Changes stored options of a queue, in one transaction. Programs that use the queue hear of it
  /// within a second, as of limits, this `database` at once; a handle that was opened with an
  /// explicit value keeps it, and a worker its lease. docs/managing.md has a table of what can
  /// change. Some options widen the rights that a role needs: grant it again.
  /// @return the options that changed; with `dry_run` those that would.
  /// @throws error errc::not_found for a queue that is not there; errc::invalid_argument for a
  ///   value out of range, an option of another kind, and in a thread with an open transaction;
  ///   errc::options_mismatch for what a queue keeps for its life; as `claim` for dead_letters.
  std::vector<option_change> alter(text_view name, const queue_changes& changes,
                                   const alter_options& options = {});
  /// Deletes a queue with all its messages; of a stored table only its definition. A queue's
  /// handles in this `database` fail at once, all others within a second; none works on a later
  /// queue of the same name. Rules of periodic messages must be removed first. It waits for open
  /// transactions that use the queue, up to `retry_for`, and does not hold up other calls
  /// meanwhile.
  /// @return whether it existed.
  /// @throws error errc::invalid_argument for a bad name, for a queue with such rules, or in a
  ///   thread with an open transaction; errc::busy that names the sessions in the way, where the
  ///   database tells them.
  bool drop(text_view name);

  /// As claim_queue::begin_batch.
  [[nodiscard]] tableq::batch begin_batch(const batch_options& options = {});
  /// A handle of a batch. The database is not asked.
  [[nodiscard]] tableq::batch batch(std::int64_t id) const;
  /// Batches, the newest first. Those that ended over 30 days ago are forgotten.
  /// @throws error errc::invalid_argument for page.max out of range; errc::unsupported when the
  ///   catalogue is of an older layout.
  [[nodiscard]] std::vector<batch_info> batches(const batch_page& page = {}) const;

  /// Brings the catalogue and the queues to a layout, the newest if the options name none. Never
  /// runs by itself: opening an older layout changes nothing. Each step is one transaction; on
  /// PostgreSQL some of its statements run outside, so that no lock stops reads and writes for
  /// longer than an instant. A step that was cut runs again from its start. Programs that are
  /// running go on through steps to a newer layout, and those of an older version then open
  /// nothing; before a step back stop all programs. docs/table-format.md says what a layout brings.
  /// @return the steps done, in their order; with `dry_run` those to do.
  /// @throws error errc::invalid_argument for a layout that this version does not know, and in a
  ///   thread with an open transaction; errc::not_found for a queue that is not there; errc::busy
  ///   when another migration runs, or others held a lock for too long; errc::constraint_violated
  ///   when an older layout refuses a message; errc::unsupported under schema_policy::verify_only,
  ///   for an address with `pooling=transaction`, and for a step back that would lose something;
  ///   errc::permission_denied unless the user owns the tables.
  std::vector<migration_step> migrate(const migrate_options& options = {});

  /// Checks for causes of slow or wrong queues: settings, missing or changed indexes, changed
  /// tables. Reads only.
  /// @throws error as `queues`.
  [[nodiscard]] std::vector<finding> inspect() const;

  /// The dialect's name: `postgresql`. Valid while a copy of this object exists.
  [[nodiscard]] const std::string& backend() const noexcept;

 private:
  friend class core::access;
  explicit database(std::shared_ptr<core::database_state> state) noexcept;
  void run_transaction(const std::function<void(transaction&)>& body);

  std::shared_ptr<core::database_state> state_;
  bool outside_ = false;  // beside a transaction of the thread, on purpose
};

}  // namespace tableq::inline v0
