#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/receipts.hpp>
#include <tableq/stats.hpp>

#include "core/queue/queue_state.hpp"
#include "core/seam/claim_requests.hpp"

namespace tableq::inline v0::core {

/// A failed attempt. Borrows the error, which is short UTF-8.
struct ended_attempt {
  enum class kind : std::uint8_t {  // as fail_item::final
    failed = 0,
    given_up = 1,  ///< There is no further attempt.
    untried = 2,   ///< The same, and this one does not count.
  };
  tableq::receipt receipt;
  std::string_view error;
  std::optional<std::chrono::milliseconds> delay = {};
  kind how = kind::failed;
};

/// The messages of a take, in order.
struct taken_messages {
  std::vector<delivery> good = {};
  std::vector<ended_attempt> unfit = {};  ///< Leased too, and must not be delivered.
  // Of a look:
  bool refused = false;  ///< The queue has gone, or has limits now; see looks_at_limits.
  bool due = false;      ///< A message is due or expired, and might come first: nothing was taken.
  /// Whether it is known when the next message falls due, and when.
  bool told = false;
  std::optional<std::chrono::milliseconds> due_in = {};
  // Of a take within limits:
  bool limited = false;  ///< A limit let it take none, or may have made it leave messages.
  std::optional<std::chrono::milliseconds> retry_in = {};  ///< Empty: after leases have ended.
};

/// How a take reads.
enum class reading : std::uint8_t {
  plain,    ///< What is ready.
  guarded,  ///< The same, but nothing while a message is due or expired.
  look,     ///< The same, and tells what it finds. In a unit of work of its own.
};

/// The terms of a take.
struct take_terms {
  std::size_t max = 0;
  std::chrono::milliseconds lease{0};
  std::optional<timestamp> claimed_at = {};
  reading how = reading::plain;
  bool within_limits = false;  ///< See takes_within_limits. In a unit of work of its own.
};

/// A message that a statement has changed.
struct changed_message {
  std::size_t item = 0;  ///< The receipt's place among the given ones.
  message_id id = {};
  message_state state = message_state::ready;
};

/// The outcomes of a failed message that a table can store.
struct kept_outcomes {
  bool delays = true;  ///< It waits for a delay.
  bool dead = true;    ///< It has no further attempt.
  bool rule = true;    ///< The delay of a failure that names none.
};

/// The results of completed messages: one for each receipt, or none. Borrows the bytes.
using given_results = std::span<const std::optional<std::string_view>>;

/// A settlement, or an extension, of leases.
struct lease_change {
  enum class kind : std::uint8_t {
    complete,
    release,
    extend,
    heartbeat,  ///< As extend, without waiting for any lock.
    find_lost,  ///< Nothing: tells the receipts that hold nothing any more.
  };
  kind is;
  std::chrono::milliseconds lease{0};  ///< The new one.
  /// Only for tableq's own layout, of a queue that keeps completed messages.
  given_results results = {};
};

/// The statements behind the life of a message: on tableq's own layout, or on a table of the
/// application. Each runs in `tx`, or in a unit of work of its own if that is null. The meaning of
/// their results for other messages, readers and limits is core/claim's.
///
/// @par Thread safety
/// Shared objects: safe.
class lease_table {
 public:
  explicit lease_table(kept_outcomes keeps) : keeps_(keeps) {}
  lease_table(const lease_table&) = delete;
  lease_table& operator=(const lease_table&) = delete;
  virtual ~lease_table() = default;

  virtual taken_messages take(const queue_state& queue, transaction_state* tx,
                              const take_terms& terms) const = 0;
  [[nodiscard]] const kept_outcomes& keeps() const noexcept { return keeps_; }

  /// Makes due and expired messages ready or dead.
  /// @param locked ids with commas between: see promote_request.
  virtual std::vector<changed_message> promote(const queue_state& queue, transaction_state* tx,
                                               std::size_t max,
                                               std::optional<std::string_view> locked) const = 0;
  /// How long until the next message falls due.
  [[nodiscard]] virtual std::optional<std::chrono::milliseconds> next_due(
      const queue_state& queue) const = 0;

  // Both return the receipts that took effect.
  virtual std::vector<changed_message> change(const queue_state& queue, transaction_state* tx,
                                              const receipts_view& receipts,
                                              const lease_change& what) const = 0;
  virtual std::vector<changed_message> fail(const queue_state& queue, transaction_state* tx,
                                            std::span<const ended_attempt> attempts) const = 0;

  [[nodiscard]] virtual claim_stats stats(const queue_state& queue,
                                          const stats_options& options) const = 0;

 private:
  const kept_outcomes keeps_;
};

/// Whether a look takes nothing from a queue that has gone or has limits, and tells so.
[[nodiscard]] bool looks_at_limits(const queue_state& queue);

/// Whether a take can keep the limits of the queue by itself.
[[nodiscard]] bool takes_within_limits(const queue_state& queue);

/// The statements on the queue's table.
const lease_table& leases_of(const queue_state& queue) noexcept;

/// The receipts as items of statements.
[[nodiscard]] std::vector<receipt> copied(const receipts_view& receipts);

/// For so many messages that are due.
[[nodiscard]] promote_request due_now(const queue_state& queue, std::size_t max) noexcept;

/// Which delayed messages wait behind their group again: see drivers/states.sql.
[[nodiscard]] int regroup_of(const queue_state& queue) noexcept;

/// A random 32-bit number, the lower half of a fence. The fence of a rolled-back take then matches
/// no later one.
std::int64_t fence_token();

}  // namespace tableq::inline v0::core
