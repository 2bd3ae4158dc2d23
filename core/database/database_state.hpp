#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/options.hpp>
#include <tableq/schema.hpp>

#include "core/combining/combiner.hpp"
#include "core/database/shared_queue.hpp"
#include "core/limits/known_limits.hpp"
#include "core/seam/driver.hpp"
#include "core/seam/process.hpp"
#include "core/session/retry.hpp"
#include "core/session/session_pool.hpp"
#include "core/waking/watcher.hpp"

namespace tableq::inline v0::core {

/// Rolls back when it goes out of scope uncommitted.
class unit_of_work {
 public:
  explicit unit_of_work(connection& on) : on_(&on) { on.begin(); }
  unit_of_work(const unit_of_work&) = delete;
  unit_of_work& operator=(const unit_of_work&) = delete;
  ~unit_of_work() {
    if (on_ != nullptr) on_->rollback();
  }
  /// A commit that fails is rolled back too, as far as the session still can.
  void commit() {
    on_->commit();
    on_ = nullptr;
  }

 private:
  connection* on_;
};

/// One open database: what `tableq::database` is a handle to.
///
/// Owns the driver, the sessions, and the watcher that wakes waiting reads.
///
/// @par Thread safety
/// Shared objects: safe.
class database_state : public std::enable_shared_from_this<database_state> {
 public:
  /// @param faults as make_driver's.
  database_state(std::string_view url, open_options options,
                 std::shared_ptr<fault_plan> faults = nullptr);

  /// Whether this is the process that opened it.
  [[nodiscard]] bool here() const noexcept { return born_.here(); }
  /// @throws error errc::invalid_argument in a child of that process.
  void check_here() const { born_.check(name()); }

  [[nodiscard]] driver& dialect_driver() noexcept { return *driver_; }
  /// The dialect's name.
  [[nodiscard]] const std::string& name() const noexcept { return driver_->name(); }
  [[nodiscard]] const open_options& options() const noexcept { return options_; }
  [[nodiscard]] const tableq::capabilities& capabilities() const noexcept {
    return driver_->capabilities();
  }
  [[nodiscard]] session_pool& sessions() noexcept { return pool_; }
  /// How many sessions may be open at once.
  [[nodiscard]] std::size_t most_sessions() const noexcept;

  /// Null: none.
  [[nodiscard]] observer* watching() const noexcept { return options_.observer.get(); }

  /// The clock of a test; empty: the database's own.
  [[nodiscard]] std::optional<timestamp> now() const;

  [[nodiscard]] watcher& waking() noexcept { return watcher_; }

  /// For all queues, where one at a time writes.
  [[nodiscard]] combiner& writing() noexcept { return writing_; }

  /// Messages were added to the queue and are committed: wakes this process's readers, and tells
  /// others. Never throws: the messages are stored, and will be found.
  void announce(watched_queue& to, std::size_t count) noexcept;

  /// Notifies others of an addition within the transaction of `session`, which the caller commits.
  void announce_within(connection& session, const watched_queue& to) const;

  /// The same object for the same queue.
  /// @param by what makes its messages fall due.
  [[nodiscard]] shared_queue& shared(const table_names& names, std::int64_t identity,
                                     poll_plan::timing by);

  /// What is known of the limits of the queue with these names and this identity.
  [[nodiscard]] limits_watch& limits_of(const table_names& names);

  /// The queue with these names and this identity was dropped: its handles here know at once.
  void dropped(const table_names& names) noexcept;

  /// Fixes the schema of the tables, unless the options name one. Before anybody uses them.
  void settle_schema(std::string found);

  /// Whether a caller's session is connected to this database. Asks the servers where the client
  /// library cannot tell.
  [[nodiscard]] bool reached_by(connection& callers);

  /// Opens the first session, so that what is wrong with the address is known at once.
  void connect();

  /// Runs `work(connection&)` on a session of ours, and again as long as that is safe and allowed.
  /// @param watched told of each repetition, if not null.
  template <class Work>
  auto on_session(Work work, const observation* watched = nullptr) {
    return repeating(
        options_.retry_for, contact::known,
        [&] {
          const leased_session session = pool_.lease();
          return work(*session);
        },
        watched);
  }

  /// The same within a transaction of ours.
  template <class Work>
  auto in_transaction(Work work, const observation* watched = nullptr) {
    return on_session(
        [&](connection& session) {
          unit_of_work unit(session);
          auto result = work(session);
          unit.commit();
          return result;
        },
        watched);
  }

  /// Runs `work(observation&)` as an operation that is no queue's.
  template <class Work>
  auto observed(const observed_operation& as, Work work) const {
    observation told(watching(), as);
    return told.run([&] { return work(told); });
  }

 private:
  [[nodiscard]] bool tells() const noexcept;
  void tell_others(watched_queue& of);

  const birthplace born_;
  open_options options_;
  std::unique_ptr<driver> driver_;
  session_pool pool_;
  watcher watcher_;
  combiner writing_;
  std::mutex mutex_;
  std::string identity_;  // as session.identity last answered; guarded by mutex_
  // Guarded by mutex_; entries are never removed.
  std::map<std::pair<std::uint64_t, std::int64_t>, shared_queue> queues_;
  std::map<std::pair<std::uint64_t, std::int64_t>, limits_watch> limits_;
};

}  // namespace tableq::inline v0::core
