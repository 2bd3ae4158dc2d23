#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tableq/claim_queue.hpp>
#include <tableq/database.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/table_queue.hpp>

namespace tableq::inline v0 {

/// A message whose handler is to end: its lease was lost, or its batch was cancelled.
struct lost_lease {
  /// Why.
  enum class cause : std::uint8_t {
    lease_lost,     ///< The database has refused it: the lease had ended.
    not_confirmed,  ///< The lease has ended, and no extension of it was confirmed.
    /// Its batch was cancelled (batch::cancel). The keeper still has it and extends its lease: end
    /// the work soon, and settle it, which counts. Told once.
    batch_cancelled,
  };
  tableq::receipt receipt = {};   ///< As it was given to the keeper.
  std::string queue = {};         ///< The name of its queue.
  cause why = cause::lease_lost;  ///< Why.
};

/// Extends the leases of messages until they are settled, for programs that take messages
/// themselves and not by a `worker`.
///
/// Give it each message soon after the take. A thread of the keeper extends its lease, every third
/// of its length, until the message is settled, lost or taken out. A settlement through the same
/// `database` takes it out, also one in a transaction that is then rolled back; while it runs the
/// keeper leaves the message alone. Lost messages, and those whose batch was
/// cancelled, are told by `lost` and by the descriptor.
///
/// Owns its thread and descriptor; keeps the database open. A moved-from keeper has no messages,
/// and `add` is then errc::invalid_argument. In a child of fork() too.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe, except moves and destruction.
class TABLEQ_EXPORT keeper {
 public:
  /// @throws error errc::busy when the system has no thread or descriptor left; errc::unsupported
  ///   on a system without descriptors of this kind.
  explicit keeper(const database& db);
  keeper(keeper&&) noexcept;
  /// Ends its own thread first, as the destructor does.
  keeper& operator=(keeper&&) noexcept;
  /// Ends the thread; waits for an extension under way. Leases end in their time.
  ~keeper();

  /// @param queue of the keeper's database.
  /// @param lease as the take gave it, 1 ms to 365 days. Empty: the handle's.
  /// @throws error errc::invalid_argument for a queue of another database, a receipt of another
  ///   queue, a handle that is bound to a transaction, or a lease out of range.
  void add(const claim_queue& queue, const receipt& taken,
           std::optional<std::chrono::milliseconds> lease = {});
  /// The same for a row.
  /// @throws error as above; errc::unsupported without lease_until in the mapping.
  void add(const table_queue& table, const receipt& taken,
           std::optional<std::chrono::milliseconds> lease = {});
  /// Takes a message out: its lease ends in its time.
  /// @return false if it was not there any more: settled or lost.
  bool remove(const receipt& taken) noexcept;

  /// The messages that were lost since the last call; the keeper has them no more. Also those whose
  /// batch was cancelled, which it still has. Never waits.
  [[nodiscard]] std::vector<lost_lease> lost();
  /// Readable while `lost` has something to tell. -1 in a moved-from keeper and in a child of
  /// fork().
  [[nodiscard]] int descriptor() const noexcept;
  /// The number of messages that it has.
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  std::unique_ptr<core::keeper_state> state_;
};

}  // namespace tableq::inline v0
