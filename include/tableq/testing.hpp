#pragma once

/// @file
/// Injected faults and a clock that is set, for tests of your own code: calls to the database fail,
/// before or after their effect. docs/testing.md has examples. Not for production.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/database.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/options.hpp>
#include <tableq/text.hpp>

namespace tableq::inline v0 {

/// For tests of applications.
namespace testing {

/// A clock in place of the database's, for due times, leases and ages: open_options::clock.
///
/// A value: shares the function with the databases that have it.
struct set_clock {
  /// The time. Called from any thread that uses the database.
  std::function<timestamp()> now;
};

/// For open_options: `{.clock = tableq::testing::clock_of([&] { return now; })}`. An empty function
/// leaves the database its own clock.
[[nodiscard]] inline std::shared_ptr<const set_clock> clock_of(std::function<timestamp()> now) {
  return now ? std::make_shared<const set_clock>(set_clock{std::move(now)}) : nullptr;
}

/// The kind of fault.
enum class trouble {
  lost_connection,  ///< The session dies; its uncommitted changes are rolled back.
  /// As lost_connection, but only in a call with a lasting effect: a commit, or a change outside of
  /// a transaction. Other calls succeed.
  unknown_commit,
  busy,      ///< No lock within the time-out: errc::busy.
  deadlock,  ///< errc::conflict.
  time_out,  ///< The call took too long: errc::cancelled, or a lost session if the database ends
             ///< it.
};

/// The moment of the fault.
enum class moment {
  before,  ///< The call has no effect.
  after,   ///< The call has its effect, and its result is lost. With busy, deadlock and time_out
           ///< the effect is rolled back, as by a database.
};

/// The enumerator's name.
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(trouble value) noexcept;
[[nodiscard]] TABLEQ_EXPORT std::string_view to_string(moment value) noexcept;
using v0::operator<<;

/// A planned fault.
struct fault {
  trouble what = trouble::lost_connection;  ///< The failure.
  moment when = moment::before;             ///< Before or after the effect of the call.

  friend bool operator==(const fault&, const fault&) = default;
};

/// One call to the database. Contains no data of the call or its result.
struct call {
  std::size_t number = 0;  ///< From 1, since construction or start_over.
  /// A statement as in error::operation (`fifo.enqueue`); `connect`, `begin`, `commit`, `rollback`;
  /// `create` for each statement of a DDL. The first use in a session prepares the statement, which
  /// is a separate call: `fifo.enqueue.prepare`.
  std::string name = {};
  /// True: a successful call has a lasting effect. Only the loss of such a call leaves an outcome
  /// unknown.
  bool lasting = false;
  std::optional<fault> failed = {};  ///< The injected fault. Empty: none.
};

/// Decides which calls fail, and records all calls.
///
/// Shares its state with its copies and the databases that it opened. Does not keep them open.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe. With several threads the order of the calls
/// varies.
class TABLEQ_EXPORT faults {
 public:
  /// @param seed equal seeds make equal choices in fail_some.
  explicit faults(std::uint64_t seed = 1);

  /// As database::open; the calls of its sessions, the first one included, fail as planned here. So
  /// do its calls on enlisted sessions. A lost session is really closed, also an enlisted one of
  /// SOCI (an enlisted handle is rolled back, and stays open); a database in memory is lost with
  /// it. Sessions that only listen for notifications do not fail.
  [[nodiscard]] database open(text_view url, const open_options& options = {}) const;

  /// The `nth` call from now fails; 1 is the next. A connect or a rollback can only be lost. If
  /// `failure` is not possible for the call, the call succeeds, and the fault is used up.
  /// @throws error errc::invalid_argument when nth is 0.
  void fail(std::size_t nth, const fault& failure) const;
  /// The same, but counts only calls of that name. Several faults may be planned; of those that
  /// reach their call the oldest is used.
  void fail(std::string_view name, const fault& failure, std::size_t nth = 1) const;
  /// From now each call fails with this probability, 0 to 1, with one of `failures`, chosen at
  /// random. Replaces the previous setting.
  /// @throws error errc::invalid_argument for another probability, or for no failures.
  void fail_some(double probability, std::vector<fault> failures) const;
  /// Removes all planned faults. Lost sessions stay lost; tableq opens new ones.
  void heal() const;

  /// The number of calls since construction or start_over.
  [[nodiscard]] std::size_t calls() const;
  /// The number of these calls that had an injected fault.
  [[nodiscard]] std::size_t failures() const;
  /// The last 10,000 calls, oldest first.
  [[nodiscard]] std::vector<call> history() const;
  /// Heals, clears the history, and counts from 1 again. The random sequence continues.
  void start_over() const;

 private:
  std::shared_ptr<core::fault_plan> plan_;
};

}  // namespace testing
}  // namespace tableq::inline v0
