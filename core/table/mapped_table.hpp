#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/row.hpp>
#include <tableq/stats.hpp>
#include <tableq/table_mapping.hpp>

#include "core/claim/lease_table.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/fields.hpp"
#include "core/seam/value.hpp"
#include "core/table/statements.hpp"

namespace tableq::inline v0::core {

/// Adds a key column's value to the key of a receipt: `i17;` for a number, `t5:hello` for a text of
/// five bytes. Any bytes are possible.
/// @return false for NULL, which no key has.
bool append_key(std::string& key, const cell& column);

/// The values of a key. Borrows the text.
/// @throws error errc::invalid_argument unless `append_key` has made it of so many columns.
std::vector<value> read_key(std::string_view key, std::size_t columns);

/// A table of the application, used as a queue.
///
/// @par Thread safety
/// Shared objects: safe.
class mapped_table final : public lease_table {
 public:
  mapped_table(std::string dialect, table_layout layout, table_mapping mapping);

  [[nodiscard]] const table_mapping& mapping() const noexcept { return mapping_; }
  [[nodiscard]] const table_layout& layout() const noexcept { return made_.layout(); }
  [[nodiscard]] const mapped_statements& statements() const noexcept { return made_; }
  /// The same for the same table and key, in every process.
  [[nodiscard]] std::int64_t identity() const noexcept { return identity_; }

  taken_messages take(const queue_state& queue, transaction_state* tx,
                      const take_terms& terms) const override;
  std::vector<changed_message> promote(const queue_state& queue, transaction_state* tx,
                                       std::size_t max,
                                       std::optional<std::string_view> locked) const override;
  [[nodiscard]] std::optional<std::chrono::milliseconds> next_due(
      const queue_state& queue) const override;
  std::vector<changed_message> change(const queue_state& queue, transaction_state* tx,
                                      const receipts_view& receipts,
                                      const lease_change& what) const override;
  std::vector<changed_message> fail(const queue_state& queue, transaction_state* tx,
                                    std::span<const ended_attempt> attempts) const override;

  // Operations that only such a table has.

  /// Inserts a row. @return it, with the mapped columns.
  row insert(const queue_state& queue, transaction_state* tx, const row& values) const;
  [[nodiscard]] std::vector<row> peek(const queue_state& queue, std::size_t max) const;
  [[nodiscard]] claim_stats stats(const queue_state& queue,
                                  const stats_options& options) const override;
  /// Rows that were taken longer ago wait again. @return how many.
  std::size_t requeue(const queue_state& queue, std::chrono::milliseconds age) const;

 private:
  /// Runs a statement with its request.
  template <class Request>
  [[nodiscard]] row_set run(const queue_state& queue, transaction_state* tx,
                            const mapped_statements::one& what, const Request& request,
                            std::span<const value> items = {}) const {
    return queue.execute(tx, what->what(), what->shared(values_of(request)), items);
  }
  template <class Request>
  [[nodiscard]] std::vector<changed_message> settle(const queue_state& queue, transaction_state* tx,
                                                    const mapped_statements::one& what,
                                                    const receipts_view& receipts,
                                                    const Request& request) const;
  [[nodiscard]] row shown(const row_set& rows, std::size_t at) const;
  [[nodiscard]] delivery to_delivery(const row_set& rows, std::size_t at) const;
  /// The rows of a take: by their place, or else by the columns of the order.
  [[nodiscard]] std::vector<std::size_t> in_order(const row_set& rows) const;
  /// @param as_of gets the database's time, if the mapping tells such rows.
  [[nodiscard]] std::size_t count(const queue_state& queue, const mapped_statements::one& what,
                                  std::size_t max, timestamp& as_of) const;
  /// Whether a take looks for ended leases first. Otherwise only a take that finds nothing does.
  [[nodiscard]] bool time_to_look(const queue_state& queue) const;
  const mapped_statement& insert_of(const std::vector<std::size_t>& columns) const;

  table_mapping mapping_;
  mapped_statements made_;
  std::int64_t identity_;
  std::shared_ptr<const row_columns> shown_;
  mutable std::atomic<std::chrono::steady_clock::rep> looked_at_{0};
  mutable std::mutex mutex_;
  mutable std::map<std::vector<std::size_t>, mapped_statements::one> inserts_;  // guarded by mutex_
};

/// The table of a queue that open_table has made.
inline const mapped_table& mapped_of(const queue_state& queue) noexcept {
  return static_cast<const mapped_table&>(*queue.mapped());
}

/// @throws error errc::unsupported: the mapping has no such column.
[[noreturn]] void lacks(const queue_state& queue, std::string_view column);

}  // namespace tableq::inline v0::core
