#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include <tableq/batch_view.hpp>
#include <tableq/claim_options.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/leased_queue.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/row.hpp>
#include <tableq/schema.hpp>
#include <tableq/stats.hpp>
#include <tableq/table_mapping.hpp>

namespace tableq::inline v0 {

/// A row that a take has handed out, as an object of the application. Converts to its receipt.
template <class T>
struct typed_delivery {
  T value;                 ///< Made of the row by row_traits<T>.
  tableq::delivery taken;  ///< The row, the receipt and the rest.

  /// As a delivery: `emails.complete(taken)`.
  // NOLINTNEXTLINE(google-explicit-constructor): that must read well
  operator const tableq::receipt&() const noexcept { return taken.receipt; }
};

/// A table that the application has, used as a queue; made by `database::table`.
///
/// The columns of its mapping decide what it guarantees: see `guarantee`. An operation that needs a
/// column which the mapping does not have throws errc::unsupported and names the column. Anybody
/// may insert rows with plain SQL. tableq never alters the table, and needs no catalogue for it:
/// pause and limits are errc::unsupported.
///
/// A take is one statement that skips the rows that others have locked, or with
/// table_mapping::ordering waits for them. While other rows wait, a row whose lease has ended may
/// come up to a second later, or a quarter of the lease if that is shorter. Rows that plain SQL
/// inserts wake waiting takes at the next poll.
///
/// Shares the sessions of its database and keeps them open. Takes and settlements: see
/// `leased_queue`; threads, transactions and errors: see `queue`. On SQL Server its statements were
/// never executed on a server.
class TABLEQ_EXPORT table_queue : public leased_queue {
 public:
  /// A handle of this table inside the transaction; see `queue`.
  [[nodiscard]] table_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] table_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this table for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] table_queue outside() const noexcept { return unbound(*this); }

  /// The guarantee that the mapped columns can carry. The database is not asked.
  [[nodiscard]] table_guarantee guarantee() const;
  /// The mapping as it was given.
  [[nodiscard]] const table_mapping& mapping() const noexcept;

  /// Inserts one row. Columns that it does not name get their defaults.
  /// @return the row with the mapped columns, as the database has stored it.
  /// @throws error errc::invalid_argument for a column that the table lacks, or a value of another
  ///   type; errc::constraint_violated when the table refuses the row.
  row enqueue(const row& values);
  /// Inserts an object, by its row_traits.
  template <writable_row T>
  row enqueue(const T& object) {
    return enqueue(row_traits<T>::to_row(object));
  }
  /// Inserts all rows in one transaction: all or none. Any number of rows; none does nothing.
  /// @throws error as `enqueue`.
  std::vector<row> enqueue_batch(const batch_view<row>& rows);

  using leased_queue::take;
  /// Takes rows as objects. If row_traits cannot make an object of a row, that row fails, the
  /// others of this take are released, and the exception is thrown. Where a take deletes its rows,
  /// they are lost then, unless it happens in a transaction that is rolled back.
  template <readable_row T>
  [[nodiscard]] std::vector<typed_delivery<T>> take(std::size_t max,
                                                    const take_options& options = {}) {
    std::vector<delivery> taken = take(max, options);
    std::vector<typed_delivery<T>> out;
    out.reserve(taken.size());
    try {
      for (delivery& each : taken) {
        T value = row_traits<T>::from_row(each.row);
        out.push_back({std::move(value), std::move(each)});
      }
    } catch (const std::exception& why) {
      give_back(taken, out, why.what());
      throw;
    } catch (...) {  // The caller's exception continues; its rows wait again.
      give_back(taken, out, "row_traits threw an object that is no std::exception");
      throw;
    }
    return out;
  }

  /// Makes rows wait again that were taken longer ago, in small batches, whatever became of their
  /// takers: for an operator, where no lease brings them back. With on_complete::leave they have a
  /// lease, if the mapping has one: without it, completed rows wait again too. Each batch
  /// commits by itself.
  /// @param age 0 to 3,650 days, by the database's clock. Zero: all taken rows.
  /// @return how many.
  /// @throws error errc::unsupported without taken_at in the mapping.
  std::size_t requeue_older_than(std::chrono::milliseconds age);

  /// Reads up to `max` rows that wait (1 to 10,000), in the order of takes, without locks. A row
  /// whose lease has ended is not among them before a take has found it.
  /// @throws error errc::invalid_argument for max out of range, or in a transaction.
  [[nodiscard]] std::vector<row> peek(std::size_t max = 1) const;
  /// Counts rows, by default up to 10,000 per figure. Rows whose lease has ended are ready. Each
  /// figure has its own statement; `oldest` and `last_id` stay empty. `leased` needs lease_until:
  /// without it nothing tells a running row from one that its taker has left. Done and dead rows
  /// are counted only if the mapping tells them apart. Without a state of their own, dead rows are
  /// looked for among all taken rows: those without a lease or, without lease_until, those at their
  /// last attempt, even if it still runs.
  [[nodiscard]] claim_stats stats(const stats_options& options = {}) const;

  /// The SQL of the indexes that the mapping needs and the table lacks: CREATE INDEX statements,
  /// each ended by `;` and a newline; empty when none is missing. Executes nothing.
  [[nodiscard]] std::string ddl() const;
  /// Looks for indexes that are missing, for columns whose NULL hides rows and for a mapping
  /// without due_at, by the description of the table as it is now. Reads no rows.
  /// @return findings with the table's name as subject; one `ok` with the words of `guarantee` when
  ///   there is nothing to mend.
  [[nodiscard]] std::vector<finding> inspect() const;

 private:
  friend class database;
  friend class core::access;
  using leased_queue::leased_queue;
  /// @param made of the first rows of `taken`; the next row is the one that fails.
  template <class T>
  void give_back(std::vector<delivery>& taken, std::vector<typed_delivery<T>>& made,
                 const char* why) noexcept {
    for (std::size_t i = 0; i < made.size(); ++i) taken[i] = std::move(made[i].taken);
    give_back(taken, made.size(), why);
  }
  void give_back(const std::vector<delivery>& taken, std::size_t bad, const char* why) noexcept;
};

}  // namespace tableq::inline v0
