#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tableq/claim_queue.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/options.hpp>
#include <tableq/pending_queue.hpp>
#include <tableq/plain_queue.hpp>
#include <tableq/schema.hpp>
#include <tableq/text_view.hpp>
#include <tableq/transaction.hpp>

namespace tableq::inline v0 {

/// A database that holds queues.
///
/// Owns a pool of sessions, opened when first needed. Copies are handles to the same pool; queues
/// and transactions made from it keep it alive.
///
/// @par fork()
/// What was opened before belongs to the parent. In the child each call on it, or on a queue,
/// transaction or worker made from it, is errc::invalid_argument; destructors there touch nothing
/// of the parent's. A database that the child opens works as any other.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class TABLEQ_EXPORT database {
 public:
  // A move copies, so that no object is left without its database.
  database(const database&) noexcept = default;
  database& operator=(const database&) noexcept = default;
  ~database() = default;

  /// Connects once, so that a wrong address, password or file is known at once. Writes nothing.
  /// @param url `sqlite://...`, `postgresql://...`; README.md lists all forms.
  /// @throws error errc::invalid_argument for an unknown scheme (listing the known ones), or an
  ///   unknown key or bad value (naming the key); errc::connection_failed, errc::not_a_database,
  ///   errc::schema_too_new, errc::unsupported.
  [[nodiscard]] static database open(text_view url, const open_options& options = {});

  /// Opens a queue, creating it when the schema policy lets it.
  /// @param name 1 to 40 of a-z, 0-9, `_`, `-` and `.`, beginning with a letter or `_`; neither
  ///   `tableq` nor `sqlite`, nor one that begins with `tableq_`, `sqlite_` or `pg_`.
  /// @throws error errc::invalid_argument for a bad name or option, errc::kind_mismatch when it
  ///   exists as another kind, errc::options_mismatch when with other fixed options,
  ///   errc::not_found under schema_policy::verify_only, errc::schema_mismatch when a foreign table
  ///   is in the way.
  [[nodiscard]] heap_queue heap(text_view name);
  [[nodiscard]] fifo_queue fifo(text_view name, const order_options& options = {});
  [[nodiscard]] lifo_queue lifo(text_view name, const order_options& options = {});
  [[nodiscard]] pending_queue pending(text_view name);
  [[nodiscard]] claim_queue claim(text_view name, const claim_options& options = {});

  /// Begins a transaction on a session of its own. Handles of queues in it: `queue.in(tx)`.
  /// @throws error errc::invalid_argument in the function of a transact; see `outside`.
  [[nodiscard]] transaction begin();

  /// Runs `f(transaction&)` and commits; rolls back when f throws. On a conflict, or when the
  /// session is lost before the commit was sent, f runs again from the start, as long as
  /// `retry_for` allows. Never after errc::outcome_unknown. f must therefore have no effects
  /// outside the transaction. While f runs, this thread's calls on handles of this database that
  /// are bound to no transaction are errc::invalid_argument, since they would miss the transaction
  /// or wait for its locks: write `queue.in(tx)`, or `queue.outside()` where that is meant. So are
  /// `begin`, another `transact`, `drop`, opening a queue that does not exist yet, and
  /// `tx.commit()` and `tx.rollback()`: return from f to commit, throw to undo. Errors of the
  /// application's own statements (soci::soci_error) leave transact; f does not run again after
  /// them.
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

  /// The same database, for work beside the transaction that this thread runs in `transact`: a
  /// transaction of its own, dropping or creating a queue. Such work commits whatever becomes of
  /// the transaction, and waits for its locks: on SQLite every change until busy_timeout. Handles
  /// that it opens are like any other.
  [[nodiscard]] database outside() const noexcept;

  /// All queues of the catalogue, by name. Empty where there is no catalogue yet.
  [[nodiscard]] std::vector<queue_info> queues() const;
  /// One queue of the catalogue.
  [[nodiscard]] std::optional<queue_info> find(text_view name) const;
  /// Deletes a queue with all its messages. Its handles in this `database` know at once, all others
  /// within a second; none works on a later queue of the name. @return whether it was there.
  bool drop(text_view name);

  /// Looks for what would make queues slow or wrong: settings, missing or changed indexes, table
  /// not as created. Reads only.
  [[nodiscard]] std::vector<finding> inspect() const;

  /// The dialect's name.
  [[nodiscard]] const std::string& backend() const noexcept;

 private:
  friend class core::access;
  explicit database(std::shared_ptr<core::database_state> state) noexcept;
  void run_transaction(const std::function<void(transaction&)>& body);

  std::shared_ptr<core::database_state> state_;
  bool outside_ = false;  // beside a transaction of the thread, on purpose
};

}  // namespace tableq::inline v0
