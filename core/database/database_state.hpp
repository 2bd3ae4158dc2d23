#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
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

#include "core/base/process.hpp"
#include "core/database/progress_notes.hpp"
#include "core/database/settlements.hpp"
#include "core/input/validate.hpp"
#include "core/limits/known_limits.hpp"
#include "core/seam/driver.hpp"
#include "core/session/combiner.hpp"
#include "core/session/paced_work.hpp"
#include "core/session/retry.hpp"
#include "core/session/session_pool.hpp"
#include "core/waking/watched_queue.hpp"
#include "core/waking/watcher.hpp"

namespace tableq::inline v0::core {

class queue_hook;
class queue_state;

/// Which queue it is, within one database.
struct queue_key {
  explicit queue_key(const table_names& names)
      : identity(names.identity), schema(names.schema), table(names.table) {}

  std::int64_t identity;
  std::string schema;
  std::string table;

  auto operator<=>(const queue_key&) const = default;
};

/// The options of a queue as the catalogue last had them. Each process asks with the limits.
///
/// @par Thread safety
/// Shared objects: safe.
class stored_options {
 public:
  struct answer {
    std::string text;  ///< As the catalogue has them.
    queue_info info;
  };
  /// Null: nobody has asked since the queue was opened.
  [[nodiscard]] std::shared_ptr<const answer> last() const {
    const std::scoped_lock hold(mutex_);
    return last_;
  }
  void learn(std::string text, queue_info info) {
    const auto made = std::make_shared<const answer>(answer{std::move(text), std::move(info)});
    const std::scoped_lock hold(mutex_);
    last_ = made;
    version_.fetch_add(1, std::memory_order_release);
  }
  /// Grows with each change.
  [[nodiscard]] std::uint64_t version() const noexcept {
    return version_.load(std::memory_order_acquire);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const answer> last_;  // guarded by mutex_
  std::atomic<std::uint64_t> version_ = 0;
};

/// Work of a room above the queues, done before a read outside of transactions, and again while a
/// reader waits. It throws nothing: its failures are no failures of the read.
/// @param stored the queue's options as this process last heard them.
/// @return when a reader that waits calls it again; max(): never.
using upkeep = std::function<std::chrono::steady_clock::time_point(const queue_state& queue,
                                                                   const queue_info& stored)>;

/// The state that all handles of one queue share in one database object. Lives at least as long as
/// they do.
///
/// @par Thread safety
/// Shared objects: safe.
struct shared_queue : std::enable_shared_from_this<shared_queue> {
  /// @param spinning shortcuts::spinning.
  shared_queue(const table_names& names, poll_plan::timing due_timing, bool spinning)
      : key(names), watched(names, due_timing), calls(spinning) {}

  const queue_key key;
  watched_queue watched;
  combiners calls;
  limits_watch limits;
  stored_options stored;
  paced_work retention;
  /// Whether some upkeep concerns the queue, by its options.
  std::atomic<bool> attended = false;
  progress_notes notes;
  /// No look for hidden messages by a waiting read before; of a steady clock.
  std::atomic<std::chrono::steady_clock::rep> hidden_look_at = 0;

  /// Its waiting readers, for the watcher; keeps the whole.
  [[nodiscard]] std::shared_ptr<watched_queue> readers() { return {shared_from_this(), &watched}; }
};

/// One open database; `tableq::database` is its handle.
///
/// Owns the driver, the sessions, and the watcher that wakes waiting reads.
///
/// @par Thread safety
/// Shared objects: safe.
class database_state : public std::enable_shared_from_this<database_state> {
 public:
  /// @param faults as for make_driver.
  database_state(std::string_view url, open_options options,
                 std::shared_ptr<fault_plan> faults = nullptr);

  /// Whether this process opened the database.
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
  /// How long new payloads may be.
  [[nodiscard]] payload_limit payloads() const noexcept;
  /// How many sessions may be open at once.
  [[nodiscard]] std::size_t most_sessions() const noexcept;

  /// The trace context of this thread; empty without one, or without open_options::trace.
  [[nodiscard]] std::optional<trace_context> current_trace() const;
  /// Null: there is no observer.
  [[nodiscard]] observer* watching() const noexcept { return options_.observer.get(); }

  /// Whether a test sets the clock.
  [[nodiscard]] bool set_clock() const noexcept { return options_.clock != nullptr; }

  [[nodiscard]] watcher& waking() noexcept { return watcher_; }

  /// `attend` of core/queue/waiting.hpp calls them. Added before the database is used, as the hook.
  [[nodiscard]] const std::vector<upkeep>& upkeeps() const noexcept { return upkeeps_; }
  void attended_by(upkeep work) { upkeeps_.push_back(std::move(work)); }
  /// The work of another room within operations of queues; null: none.
  [[nodiscard]] queue_hook* hook() const noexcept { return hook_.get(); }
  void set_hook(std::shared_ptr<queue_hook> hook) noexcept { hook_ = std::move(hook); }

  /// The settlements through this object.
  [[nodiscard]] settlements& settled() noexcept { return settled_; }

  /// Combines the writes of all queues, if the database has one writer at a time.
  [[nodiscard]] combiner& writing() noexcept { return writing_; }

  /// Call this when added messages are committed. Wakes readers of this process, and notifies other
  /// processes. Never throws: the messages are stored, and polls will find them.
  /// @param on the session that the caller holds, in no transaction; null: it holds none.
  void announce(watched_queue& queue, std::size_t count, connection* on = nullptr) noexcept;

  /// Whether additions are announced to other processes.
  [[nodiscard]] bool notifies() const noexcept;
  /// Notifies other processes of an addition, as part of the transaction of `session`, which the
  /// caller commits.
  void announce_within(connection& session, const watched_queue& queue) const;
  /// Adds messages and notifies as `announce_within` does, together.
  /// @return the rows of the addition.
  row_set add_and_announce(connection& session, const watched_queue& queue,
                           statement_call addition) const;

  /// The same object for the same queue.
  /// @param due_timing how its messages fall due.
  [[nodiscard]] std::shared_ptr<shared_queue> shared(const table_names& names,
                                                     poll_plan::timing due_timing);
  /// How many queues `shared` knows.
  [[nodiscard]] std::size_t known_queues();

  /// The queue with these names and this identity may change: its handles in this object ask again
  /// before they use what they know.
  void changing(const table_names& names);

  /// The queue with these names and this identity was dropped. Its handles in this object notice at
  /// once.
  void dropped(const table_names& names);

  /// Sets the schema of the tables, unless the options name one. Call this before tables are used.
  void settle_schema(std::string found);

  /// Whether the catalogue was there when this object last saw it.
  [[nodiscard]] bool catalog_known() const noexcept { return catalog_known_.load(); }
  void knows_catalog(bool there) noexcept { catalog_known_.store(there); }
  /// The catalogue is a shard of a cluster. From then on readers poll, because notifications reach
  /// only the sessions of one server, and queues that are opened begin their reads at the front.
  void settle_shards() noexcept;
  [[nodiscard]] bool sharded() const noexcept { return sharded_.load(); }

  /// The database has an encoding without some characters. From then on headers and errors are
  /// stored as ASCII.
  void settle_narrow_texts() noexcept { narrow_texts_ = true; }
  [[nodiscard]] bool narrow_texts() const noexcept { return narrow_texts_.load(); }

  /// Whether a caller's session is connected to this database. Asks the servers if the client
  /// library has no answer.
  [[nodiscard]] bool reached_by(connection& callers);

  /// Opens the first session, so that a wrong address is reported at once.
  void connect();

  /// Runs `work(connection&)` on a session of the pool, and repeats it while that is safe and
  /// allowed.
  /// @param watched notified of each repetition, if not null.
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

  /// The same within a transaction.
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

  /// Runs `work(observation&)` as an operation that belongs to no queue.
  template <class Work>
  auto observed(const observed_operation& operation, Work work) const {
    observation observing(watching(), operation);
    return observing.run([&] { return work(observing); });
  }

 private:
  [[nodiscard]] std::string identity_of(connection& session) const;
  /// @return whether both are the same.
  bool note_identity(std::string mine, std::string_view theirs = {});
  void notify_others(watched_queue& queue, connection* on, bool last);

  const birthplace born_;
  open_options options_;
  std::unique_ptr<driver> driver_;
  session_pool pool_;
  watcher watcher_;
  combiner writing_;
  settlements settled_;
  std::vector<upkeep> upkeeps_;
  std::shared_ptr<queue_hook> hook_;
  std::atomic<bool> catalog_known_{false};
  std::atomic<bool> sharded_{false};
  std::atomic<bool> narrow_texts_{false};
  std::mutex mutex_;
  std::string identity_;  // the last result of session.identity; guarded by mutex_
  // Guarded by mutex_, as the next one. Entries stay for handles that are opened again and again;
  // those without a user are removed when there are too many.
  std::map<queue_key, std::shared_ptr<shared_queue>> queues_;
  std::size_t sweep_at_ = 0;  // so many entries
};

}  // namespace tableq::inline v0::core
