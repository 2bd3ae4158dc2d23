#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tableq/batch_view.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// A rule that adds a message to a queue again and again:
/// `{.name = "nightly", .queue = "jobs", .cron = "0 2 * * *", .zone = "Europe/Berlin"}`.
struct schedule {
  std::string name = {};   ///< Unique in the catalogue. 1 to 100 bytes of UTF-8 without NUL.
  std::string queue = {};  ///< It must exist, of any kind but `table`.
  /// Minute, hour, day, month and weekday, or `@daily` and the like: docs/schedules.md has the
  /// grammar. Give this or `every`.
  std::string cron = {};
  /// Whole seconds of real time, up to 3,650 days; the first time is one interval from now.
  std::chrono::milliseconds every{0};
  std::string zone = "UTC";               ///< Of `cron`, as in the IANA database: `Europe/Berlin`.
  std::string payload = {};               ///< Of each message.
  tableq::headers headers = {};           ///< The same; as the next three in `claim` queues only.
  std::optional<std::string> key = {};    ///< While a message holds it, no other is added.
  std::optional<std::string> group = {};  ///< As claim_enqueue_options::group.
  std::int32_t priority = 0;              ///< Higher comes first.
  /// How many of the times at which no process was there get a message later, the latest ones: by
  /// default the latest. 0: none that is over a minute late. Up to 1,000.
  int catch_up = 1;
  /// Times that are longer ago get no message. Empty: no limit.
  std::optional<std::chrono::milliseconds> not_later_than = {};
  /// True: no message while an earlier one is in the queue. In `claim` queues with
  /// key_scope::active and without a key_window. Without a `key` the rule has one of its own.
  bool skip_if_running = false;

  friend bool operator==(const schedule&, const schedule&) = default;
};

/// A rule as it is stored.
struct schedule_info {
  schedule rule = {};                     ///< As it was added or changed.
  std::string owner = {};                 ///< Of `declare`; empty: it was added by itself.
  bool enabled = true;                    ///< False: paused, or disabled because of `problem`.
  std::string problem = {};               ///< Why it cannot be followed. Empty: it can.
  std::optional<timestamp> last = {};     ///< The last time that it was followed for.
  std::optional<timestamp> overdue = {};  ///< A time that has passed, and waits for a process.
  std::vector<timestamp> next = {};       ///< The next five times; none while it is not enabled.
};

/// The result of `schedules::declare`.
struct declared {
  std::size_t added = 0;    ///< New rules.
  std::size_t changed = 0;  ///< Rules that differed.
  std::size_t removed = 0;  ///< Rules of the owner that were not given.

  friend bool operator==(const declared&, const declared&) = default;
};

/// Rules of periodic messages. No process is in charge: each that takes, waits or works on a
/// queue that has rules looks for due ones, of all queues, at most once a second. The message and
/// the step to the next time are one transaction: each time has one message.
///
/// A message of a `claim` queue has the headers `tableq-schedule`, the rule's name, and
/// `tableq-scheduled-at`, the time that it is for: `2026-03-29T01:00:00Z`, of run_now with
/// milliseconds. In the other kinds that time is message::created_at.
///
/// Each function has a transaction of its own. Needs layout 3 of the catalogue. docs/schedules.md
/// says which rights it takes. Keeps the database open.
///
/// @par Errors of every function
/// Those of `database`; errc::unsupported for an older layout; errc::invalid_argument in a thread
/// with an open transaction.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class TABLEQ_EXPORT schedules {
 public:
  /// Adds a rule.
  /// @throws error errc::invalid_argument for a rule that cannot be followed, which names the
  ///   position in a cron text, or a name that is there; errc::not_found for an unknown queue;
  ///   errc::unsupported on a system without time zone files, but for UTC.
  void add(const schedule& rule);
  /// Replaces the rule of that name, and enables one that was disabled because of a problem. A
  /// paused one stays paused. With the same times it goes on; with others it begins anew.
  /// @throws error as `add`; errc::not_found when there is none.
  void change(const schedule& rule);
  /// The same with what `edit` makes of the rule as it is stored: what it leaves alone stays.
  /// `edit` runs again if somebody else changes the rule meanwhile.
  /// @return false: there is none. @throws error as `add`; errc::invalid_argument for another name.
  bool change(text_view name, const std::function<void(schedule&)>& edit);
  /// Stops following a rule. @return false: there is none.
  bool pause(text_view name);
  /// Goes on with the next time from now. @return false: there is none.
  bool resume(text_view name);
  /// @return false: there is none.
  bool remove(text_view name);
  /// Adds the rule's message at once, for the current time. The rule's times stay.
  /// @return the message, or the earlier one that keeps it out. Empty: there is no such rule.
  /// @throws error as an enqueue into its queue.
  std::optional<enqueued> run_now(text_view name);

  /// Makes the rules of this owner these: adds, changes and removes what differs. Rules of others
  /// stay. For the start of a program; ten processes may do it at once.
  /// @param owner 1 to 100 bytes of UTF-8 without NUL, the program's name, say.
  /// @throws error as `add`; errc::invalid_argument for a name that belongs to another owner.
  declared declare(text_view owner, const batch_view<schedule>& rules);

  /// All rules, by name.
  [[nodiscard]] std::vector<schedule_info> list() const;
  /// One of them.
  [[nodiscard]] std::optional<schedule_info> find(text_view name) const;

 private:
  friend class database;
  schedules(std::shared_ptr<core::database_state> state, bool outside) noexcept;

  std::shared_ptr<core::database_state> state_;
  bool outside_ = false;  // beside a transaction of the thread, on purpose
};

}  // namespace tableq::inline v0
