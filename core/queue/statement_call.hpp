#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"
#include "core/session/combiner.hpp"

namespace tableq::inline v0::core {

/// Depends on the statement, and for claim.enqueue on whether an item has a key.
lane lane_of(const contract& what, std::span<const value> items) noexcept;

/// A call of one statement, outside a transaction.
///
/// Borrows the names, the contract and the values, which outlive it.
class statement_call : public combined_call {
 public:
  /// @param call_lane of this statement and these items, and not lane::none.
  /// @param one_writer the database has one writer at a time: calls of all queues and of different
  ///   statements share a unit of work.
  statement_call(const table_names& names, const contract& what, lane call_lane,
                 std::span<const value> shared, std::span<const value> items, bool one_writer);

  [[nodiscard]] bool joins(std::span<combined_call* const> others) const override;

  [[nodiscard]] const contract& what() const noexcept { return contract_; }
  [[nodiscard]] std::span<const value> shared() const noexcept { return shared_; }
  [[nodiscard]] std::span<const value> items() const noexcept { return items_; }

  /// The rows for its own items: set when the call has run, then taken by its caller.
  void set_rows(row_set rows) noexcept { rows_ = std::move(rows); }
  [[nodiscard]] row_set take_rows() noexcept { return std::move(rows_); }

 protected:
  ~statement_call() = default;

 private:
  friend class call_group;

  /// Whether one statement can do the work of both calls.
  [[nodiscard]] bool combines_with(const statement_call& other) const;
  [[nodiscard]] bool shares_message(const statement_call& other) const;

  const table_names& names_;
  const contract& contract_;
  lane lane_;
  std::span<const value> shared_;
  std::span<const value> items_;
  bool one_writer_;
  std::size_t count_ = 0;  // number of items, or of the messages that a read wants
  std::size_t bytes_ = 0;
  row_set rows_;
};

/// Calls that one statement serves.
class call_group {
 public:
  /// Divides the calls, in the order of their arrival.
  /// @param calls objects of statement_call, at least one.
  static std::vector<call_group> of(std::span<combined_call* const> calls);

  [[nodiscard]] const statement_call& first() const noexcept { return *calls_.front(); }

  /// Runs `work(shared, items)` once, with the values of all calls.
  /// @return the rows.
  template <class Work>
  [[nodiscard]] row_set run(Work work) const {
    if (calls_.size() == 1) return work(first().shared(), first().items());
    if (first().lane_ == lane::read) return work(all_shared(), {});
    return work(first().shared(), all_items());
  }

  /// Gives each call the rows of its own items. A read gets as many rows as it asked for; earlier
  /// calls get earlier rows.
  void share_out(row_set rows) const;

 private:
  /// For reads: the sum of the wanted messages.
  [[nodiscard]] std::vector<value> all_shared() const;
  [[nodiscard]] std::vector<value> all_items() const;
  void share_out_read(row_set rows) const;
  void share_out_items(row_set rows) const;

  std::vector<statement_call*> calls_;
};

}  // namespace tableq::inline v0::core
