#pragma once

#include <functional>
#include <span>

#include "core/observe/observation.hpp"
#include "core/queue/queue_table.hpp"
#include "core/queue/statement_call.hpp"

namespace tableq::inline v0::core {

/// A call of a queue's statement, outside a transaction.
///
/// Borrows all its arguments, which outlive it.
class table_call final : public statement_call {
 public:
  /// @param call_lane of this statement and these items, and not lane::none.
  /// @param watched notified of each repetition, if not null.
  table_call(const queue_table& table, const contract& what, lane call_lane,
             std::span<const value> shared, std::span<const value> items,
             const observation* watched)
      : statement_call(table.names(), what, call_lane, shared, items,
                       table.database().capabilities().one_writer),
        table_(table),
        watched_(watched) {}

  /// A call of several statements. No other joins its statement, but its unit of work.
  /// @param several runs them in that unit; after a failure of the unit again.
  table_call(const queue_table& table, const contract& what,
             const std::function<void(connection&)>& several)
      : statement_call(table.names(), what, lane::complete, {}, {},
                       table.database().capabilities().one_writer),
        table_(table),
        several_(&several) {}

  /// Runs it with these values, those of all calls of its group.
  row_set run(connection& session, std::span<const value> shared_values,
              std::span<const value> item_values) const {
    if (several_ == nullptr) return table_.run(session, what(), shared_values, item_values);
    (*several_)(session);
    return row_set();
  }
  /// Whether it needs no transaction.
  [[nodiscard]] bool one_statement() const noexcept {
    return several_ == nullptr && !table_.needs_lock(what());
  }

  [[nodiscard]] const queue_table& table() const noexcept { return table_; }
  [[nodiscard]] const observation* watched() const noexcept { return watched_; }

 private:
  const queue_table& table_;
  const observation* watched_ = nullptr;
  const std::function<void(connection&)>* several_ = nullptr;
};

/// Runs a statement outside a transaction, in its own unit of work, which is repeated if that is
/// safe.
/// @param watched notified of each repetition, if not null.
row_set run_alone(const queue_table& table, const contract& what, std::span<const value> shared,
                  std::span<const value> items, const observation* watched);

/// Runs calls, objects of table_call, in one unit of work, which is repeated if that is safe.
void run_together(std::span<combined_call* const> all);

}  // namespace tableq::inline v0::core
