#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <tableq/schema.hpp>
#include <tableq/stats.hpp>
#include <tableq/transaction.hpp>

#include "core/async_writer.hpp"
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
  /// Whether this is the process that opened it.
  [[nodiscard]] bool here() const noexcept { return database_->here(); }
  [[nodiscard]] watched_queue& watched() const noexcept { return watched_; }
  [[nodiscard]] const queue_state* dead_letters() const noexcept { return dead_letters_.get(); }
  [[nodiscard]] limits_watch& limits() const noexcept { return limits_; }
  [[nodiscard]] const table_names& names() const noexcept { return names_; }
  [[nodiscard]] combiner& combining(lane in) const noexcept;
  /// Whether the queue has to be locked first, in a transaction.
  [[nodiscard]] bool needs_lock(statement id) const noexcept;

  /// Runs one statement of this queue: inside `tx`, or in a unit of work of its own that is
  /// repeated where that is safe. A strict queue is locked first where the database needs that.
  row_set execute(transaction* tx, statement id, std::span<const value> shared,
                  std::span<const value> items = {}) const;

  /// The same outside any transaction, together with no other call.
  /// @param watched told of each repetition, if not null.
  row_set execute_alone(statement id, std::span<const value> shared, std::span<const value> items,
                        const observation* watched) const;

  /// Runs one statement on the session, after the lock that it may need.
  row_set on(connection& session, statement id, std::span<const value> shared,
             std::span<const value> items) const;

  /// Runs a batch of any size, all or nothing: cut into statements of at most 1,000 items and 64
  /// MiB.
  /// @return rows whose `item` counts through the whole batch.
  row_set execute_batch(transaction* tx, statement id, std::span<const value> shared,
                        std::span<const value> items) const;

  /// Asks where reads may begin, if it is time to and deleted rows linger. Outside transactions,
  /// and before a read: it looks at what is committed, and its failure harms nothing.
  void raise_floor() const noexcept;

  /// Tells readers that so many messages were added, or can be taken again: at once, or when `tx`
  /// commits.
  void announce(transaction* tx, std::size_t count = 1) const;

  /// The thread that stores what this handle is given without waiting; made by the first call.
  /// @param Writer an async_writer, the same for one queue.
  template <class Writer>
  [[nodiscard]] Writer& writing(typename Writer::store how) const {
    std::call_once(written_, [&] {
      const open_options& options = database_->options();
      writing_ = std::make_unique<Writer>(
          in_flight_limit{.messages = options.async_messages, .bytes = options.async_bytes},
          std::move(how));
    });
    return static_cast<Writer&>(*writing_);
  }

  /// Calls `read` until it returns something, the time is over or a stop is requested.
  /// @param next_due the statement that tells when something falls due; none for kinds without
  /// time.
  template <class Read>
  [[nodiscard]] auto wait_for(std::chrono::milliseconds longest, const std::stop_token& stop,
                              std::optional<statement> next_due, Read read) const {
    const auto until = std::chrono::steady_clock::now() + longest;
    const auto over = [&] {
      return stop.stop_requested() || std::chrono::steady_clock::now() >= until;
    };
    std::uint64_t mark = watched_.readers.mark();
    auto found = read();
    if (!found.empty() || over()) return found;
    watcher::waiting here(database_->waking(), watched_);
    for (;;) {
      if (next_due) here.ask_due([&] { return due_in(*next_due); });
      const woken why = here.wait(mark, until, stop);
      if (why == woken::clock) continue;
      mark = watched_.readers.mark();
      // A read that fails has not looked.
      passed_on pass{&watched_.readers};
      found = read();
      pass.to = nullptr;
      if (!found.empty()) here.found(why);
      if (!found.empty() || over()) return found;
    }
  }

 private:
  /// Wakes another reader in place of one that could not look.
  struct passed_on {
    waker* to;
    ~passed_on() {
      if (to != nullptr) to->hint();
    }
  };

  /// How long until the next message falls due; nothing when none will.
  [[nodiscard]] std::optional<std::chrono::milliseconds> due_in(statement next_due) const;
  /// Runs `work(const observation*)`, telling the observer if there is one.
  template <class Work>
  row_set observed(transaction* tx, statement id, std::span<const value> items, Work work) const;
  row_set run(transaction* tx, statement id, std::span<const value> shared,
              std::span<const value> items, const observation* watched) const;
  row_set run_batch(transaction* tx, statement id, std::span<const value> shared,
                    std::span<const value> items, const observation* watched) const;
  void check(transaction& tx) const;
  // Where deleted rows linger; see queue_floor.cpp. Values for where to begin are filled in.
  [[nodiscard]] bool begins_at_floor(statement id) const noexcept;
  [[nodiscard]] bool looks_from_passed(statement id) const noexcept;
  [[nodiscard]] row_set read_from_floor(connection& session, statement id,
                                        std::span<const value> shared) const;
  [[nodiscard]] row_set look_from_passed(connection& session, statement id,
                                         std::span<const value> shared) const;
  [[nodiscard]] value passed(std::int64_t until) const;
  [[nodiscard]] low_water::sight see(const low_water::question& asked) const;
  [[nodiscard]] low_water::sight see_levels(const low_water::question& asked) const;

  std::shared_ptr<database_state> database_;
  queue_info info_;
  table_names names_;
  watched_queue& watched_;
  limits_watch& limits_;
  std::shared_ptr<const queue_state> dead_letters_;
  mutable std::once_flag written_;
  mutable std::unique_ptr<writer> writing_;  // the last member: it ends first
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
