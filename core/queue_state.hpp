#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tableq/schema.hpp>
#include <tableq/stats.hpp>
#include <tableq/transaction.hpp>

#include "core/database_state.hpp"

namespace tableq::core {

/// One queue of one database: what the handles in queue.hpp share.
///
/// Shares the database.
///
/// @par Thread safety
/// Shared objects: safe; it does not change.
class queue_state {
 public:
  /// @param dead_letters where dead messages go; null: they stay.
  queue_state(std::shared_ptr<database_state> in, queue_info info,
              std::shared_ptr<const queue_state> dead_letters = nullptr);

  [[nodiscard]] const std::string& name() const noexcept { return info_.name; }
  /// As stored, with what this handle was opened with instead.
  [[nodiscard]] const queue_info& info() const noexcept { return info_; }
  [[nodiscard]] database_state& database() const noexcept { return *database_; }
  [[nodiscard]] waker& readers() const noexcept { return readers_; }
  [[nodiscard]] const queue_state* dead_letters() const noexcept { return dead_letters_.get(); }
  [[nodiscard]] limits_watch& limits() const noexcept { return limits_; }
  [[nodiscard]] const table_names& names() const noexcept { return names_; }

  /// Runs one statement of this queue: inside `tx`, or in a unit of work of its own that is
  /// repeated where that is safe. A strict queue is locked first where the database needs that.
  row_set execute(transaction* tx, statement id, std::span<const value> shared,
                  std::span<const value> items = {}) const;

  /// Runs a batch of any size, all or nothing: cut into statements of at most 1,000 items and 64
  /// MiB.
  /// @return rows whose `item` counts through the whole batch.
  row_set execute_batch(transaction* tx, statement id, std::span<const value> shared,
                        std::span<const value> items) const;

  /// Tells this process's readers that something was added: at once, or when `tx` commits.
  void announce(transaction* tx) const;

  /// Calls `read` until it returns something, the time is over or a stop is requested.
  /// @param next_due the statement that tells when something falls due; none for kinds without
  /// time.
  template <class Read>
  [[nodiscard]] auto wait_for(std::chrono::milliseconds longest, const std::stop_token& stop,
                              std::optional<statement> next_due, Read read) const {
    const auto until = std::chrono::steady_clock::now() + longest;
    std::chrono::milliseconds pause = first_pause;
    for (;;) {
      const std::uint64_t mark = readers_.mark();
      auto found = read();
      if (!found.empty() || stop.stop_requested()) return found;
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0) return found;
      readers_.wait(mark, std::min(left, bounded(pause, next_due)), stop);
      pause = std::min(pause * 2, longest_pause);
    }
  }

 private:
  static constexpr std::chrono::milliseconds first_pause{10};
  static constexpr std::chrono::milliseconds longest_pause{500};

  /// A jittered pause that ends when the next message falls due.
  [[nodiscard]] std::chrono::milliseconds bounded(std::chrono::milliseconds pause,
                                                  std::optional<statement> next_due) const;
  [[nodiscard]] bool needs_lock(statement id) const noexcept;
  /// Runs `work(const observation*)`, telling the observer if there is one.
  template <class Work>
  row_set observed(transaction* tx, statement id, std::span<const value> items, Work work) const;
  row_set run(transaction* tx, statement id, std::span<const value> shared,
              std::span<const value> items, const observation* watched) const;
  row_set run_batch(transaction* tx, statement id, std::span<const value> shared,
                    std::span<const value> items, const observation* watched) const;
  row_set on(connection& session, statement id, std::span<const value> shared,
             std::span<const value> items) const;
  void check(transaction& tx) const;

  std::shared_ptr<database_state> database_;
  queue_info info_;
  table_names names_;
  waker& readers_;
  limits_watch& limits_;
  std::shared_ptr<const queue_state> dead_letters_;
};

/// For an insert that reported nothing: a trigger on the table has swallowed the row.
[[noreturn]] void not_stored(const queue_state& of);

/// Reads a point in time as the tables hold it.
inline timestamp to_timestamp(std::int64_t milliseconds) {
  return timestamp(std::chrono::milliseconds(milliseconds));
}
inline std::optional<timestamp> to_timestamp(const std::optional<std::int64_t>& milliseconds) {
  return milliseconds ? std::optional(to_timestamp(*milliseconds)) : std::nullopt;
}
inline value to_value(const std::optional<timestamp>& at) {
  return at ? value(at->time_since_epoch().count()) : value();
}
inline value to_value(std::chrono::milliseconds length) {
  return value(std::int64_t{length.count()});
}
inline std::optional<message_id> to_id(const std::optional<std::int64_t>& id) {
  return id ? std::optional(message_id{*id}) : std::nullopt;
}
/// Where counts stop.
/// @throws error errc::invalid_argument.
value count_limit(const stats_options& options);
inline value to_value(std::size_t count) {
  return value(static_cast<std::int64_t>(count));
}

}  // namespace tableq::core
