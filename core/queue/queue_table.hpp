#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tableq/schema.hpp>

#include "core/database/database_state.hpp"
#include "core/seam/driver.hpp"

namespace tableq::inline v0::core {

/// The table of one queue. Runs its statements on a session: under the lock of a strict queue.
///
/// Borrows the database, which outlives it.
///
/// @par Thread safety
/// Shared objects: safe; it does not change.
class queue_table {
 public:
  queue_table(database_state& database, const queue_info& info);
  /// A table of the application.
  queue_table(database_state& database, const queue_info& info, table_names names);
  queue_table(const queue_table&) = delete;
  queue_table& operator=(const queue_table&) = delete;

  [[nodiscard]] database_state& database() const noexcept { return database_; }
  [[nodiscard]] const table_names& names() const noexcept { return names_; }
  [[nodiscard]] shared_queue& shared() const noexcept { return *shared_; }

  /// Runs the calls of one lane.
  [[nodiscard]] combiner& combiner_of(lane calls) const noexcept {
    return database_.capabilities().one_writer ? database_.writing()
                                               : shared_->calls.for_lane(calls);
  }

  /// Whether the statement has to lock the queue first, in a transaction.
  [[nodiscard]] bool needs_lock(const contract& what) const noexcept;

  /// Runs one statement on the session, after the lock that it may need.
  row_set run(connection& session, const contract& what, std::span<const value> shared,
              std::span<const value> items) const;

 private:
  database_state& database_;
  const ordering ordering_;
  const std::int64_t identity_;
  const table_names names_;
  const std::shared_ptr<shared_queue> shared_;
};

/// Puts the rows of a read into the queue's order: no database guarantees one for changed rows.
void put_in_order(row_set& rows, statement id);

/// Takes messages in steps, after claim.take took none, if one of them is long: the database has
/// fewer copies of it in memory then. For databases with capabilities::changes_copy_rows.
/// @param shared the parameters of claim.take, without its guard: an empty take ends with such a
///   call, so that one look is enough.
/// @return the rows of claim.take in the order of the queue; none if no message is long.
row_set take_lengthy(connection& session, const table_names& names, std::span<const value> shared);

}  // namespace tableq::inline v0::core
