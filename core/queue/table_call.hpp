#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <tableq/fwd.hpp>

#include "core/observe/observation.hpp"
#include "core/queue/queue_table.hpp"
#include "core/seam/contract.hpp"
#include "core/session/combiner.hpp"

namespace tableq::inline v0::core {

/// Depends on the statement, and for claim.enqueue on whether an item has a key.
lane lane_of(const contract& what, std::span<const value> items) noexcept;

/// A call of a queue's statement, outside a transaction.
///
/// Borrows all its arguments, which outlive it.
class table_call final : public combined_call {
 public:
  /// @param call_lane of this statement and these items.
  /// @param watched notified of each repetition, if not null.
  table_call(const queue_table& table, const contract& what, lane call_lane,
             std::span<const value> shared, std::span<const value> items,
             const observation* watched);
  /// A call of several statements. No other joins its statement, but its unit of work.
  /// @param several runs them in that unit; after a failure of the unit again.
  table_call(const queue_table& table, const std::function<void(connection&)>& several)
      : table_(table), several_(&several) {}

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
    return several_ == nullptr && !table_.needs_lock(*what_);
  }
  /// Whether one statement can do the work of both calls.
  [[nodiscard]] bool combines_with(const table_call& other) const;
  [[nodiscard]] bool shares_message(const table_call& other) const;

  const queue_table& table_;
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

/// Runs calls, objects of table_call, in one unit of work, which is repeated if that is safe.
void run_together(std::span<combined_call* const> all);

/// Runs the call, perhaps together with calls of other threads.
void run_combined(combiner& line, table_call& call);

/// Runs `work` as a part of a unit of work. On a database with one writer at a time calls of other
/// threads may share the unit: any of these threads may run `work`, and after a failure of the unit
/// it runs again. Elsewhere the unit is this part alone, and is not repeated.
/// @param table whose combiner has the calls of other threads.
void in_shared_unit(const queue_table& table, const std::function<void(transaction_state&)>& work);

}  // namespace tableq::inline v0::core
