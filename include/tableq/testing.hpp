#pragma once

/// @file
/// Trouble on purpose, for tests of one's own code: calls to the database fail, before or after
/// their effect. docs/testing.md shows how. Production code has no use for it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/database.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/options.hpp>

namespace tableq::inline v0 {

/// For tests of what uses tableq.
namespace testing {

/// What goes wrong.
enum class trouble {
  lost_connection,  ///< The session dies; what it had not committed is undone.
  /// As lost_connection, but only in a call whose effect is to last once it succeeds: a commit, or
  /// a change outside of a transaction. Others pass.
  unknown_commit,
  busy,      ///< A lock was not to be had in time: errc::busy.
  deadlock,  ///< errc::conflict.
  time_out,  ///< The call took too long: errc::cancelled, or a lost session where it is that.
};

/// When it goes wrong.
enum class moment {
  before,  ///< The call has no effect.
  after,   ///< It has had its effect, and the answer is lost. What a database takes back when it
           ///< reports it (busy, deadlock, time_out) is done and taken back.
};

/// A failure to come.
struct fault {
  trouble what = trouble::lost_connection;
  moment when = moment::before;

  friend bool operator==(const fault&, const fault&) = default;
};

/// One call to the database. Holds nothing of what was sent or returned.
struct call {
  std::size_t number = 0;  ///< From 1, since the faults were made or started over.
  /// A statement as error::operation tells it (`fifo.enqueue`); `connect`, `begin`, `commit`,
  /// `rollback`; `create` for each statement of a DDL. The first time in a session the statement is
  /// prepared, which is a call of its own: `fifo.enqueue.prepare`.
  std::string name = {};
  /// Whether its effect lasts when it succeeds: only the loss of such a call leaves an outcome
  /// unknown.
  bool lasting = false;
  std::optional<fault> failed = {};  ///< What was done to it.
};

/// Decides which calls fail, and remembers what was called.
///
/// Shared by its copies and by the databases that it opened, which it does not keep open.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe. With several threads the order of calls is theirs.
class TABLEQ_EXPORT faults {
 public:
  /// @param seed the same one makes the same choices in fail_some.
  explicit faults(std::uint64_t seed = 1);

  /// As database::open; the calls of its sessions, the first one included, fail as this says. So do
  /// those that it makes on sessions that are enlisted. A lost session is closed in earnest, an
  /// enlisted one too; a database in memory is lost with it. Sessions that only listen for others'
  /// changes are left alone.
  [[nodiscard]] database open(text_view url, const open_options& options = {}) const;

  /// The `nth` call from now fails, 1 being the next. A connect or a rollback can only be lost;
  /// where `failure` does not suit, the call passes, and the order is spent.
  /// @throws error errc::invalid_argument when nth is 0.
  void fail(std::size_t nth, const fault& failure) const;
  /// The same, counting only calls of that name. Several orders may stand at once; the oldest that
  /// has come to its call decides.
  void fail(std::string_view name, const fault& failure, std::size_t nth = 1) const;
  /// From now each call fails with this probability, 0 to 1, as one of `failures`, drawn by lot.
  /// Replaces what was said so before.
  /// @throws error errc::invalid_argument for another probability, or for no failures.
  void fail_some(double probability, std::vector<fault> failures) const;
  /// Nothing fails any more. Lost sessions stay lost; tableq opens others.
  void heal() const;

  /// How many calls were made since the faults were made or started over.
  [[nodiscard]] std::size_t calls() const;
  /// How many of these calls failed on purpose.
  [[nodiscard]] std::size_t failures() const;
  /// The last 10,000 calls, oldest first.
  [[nodiscard]] std::vector<call> history() const;
  /// Heals, forgets the history, and counts from 1 again. The lots go on.
  void start_over() const;

 private:
  std::shared_ptr<core::fault_plan> plan_;
};

}  // namespace testing
}  // namespace tableq::inline v0
