#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tableq::inline v0 {

/// A point in time as the database tells it: UTC, to the millisecond.
using timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// Names a message within its queue. Greater ids were enqueued later.
///
/// A `claim` queue never uses an id twice. In the destructive kinds an id is unique among the
/// messages that are in the queue; SQLite may use it again once its message has left.
struct message_id {
  std::int64_t value = 0;  ///< Positive for a message; zero names none.

  // NOLINTNEXTLINE(modernize-use-nullptr): the check misreads a defaulted comparison
  friend auto operator<=>(const message_id&, const message_id&) = default;
};

/// Names and values that travel with a message of a `claim` queue. Both are UTF-8 without NUL;
/// names are 1 to 100 bytes, and all of them together stay under 64 KiB as JSON.
using headers = std::map<std::string, std::string, std::less<>>;

/// A message that a destructive read has taken out of its queue: this is the only copy.
struct message {
  message_id id = {};
  timestamp created_at = {};        ///< When it was enqueued, or what the caller of enqueue said.
  std::optional<timestamp> due_at;  ///< When it fell due; only in `pending` queues.
  std::string payload;              ///< Any bytes.
};

/// The right to settle one delivery. A value: copy it, store it, hand it to another process.
///
/// It matches until the message is settled, or its lease has ended and somebody has called take
/// since: that makes every expired message ready again. After that every operation that gets it
/// answers settle_result::lease_lost. A receipt of a take that was rolled back matches nothing. A
/// queue that was dropped and created anew has another identity.
struct receipt {
  message_id id;
  std::int64_t fence = 0;  ///< Grows with every take, and never comes again.
  std::int64_t queue = 0;  ///< The queue's identity from the catalogue, not its name.

  // NOLINTNEXTLINE(modernize-use-nullptr): the check misreads a defaulted comparison
  friend auto operator<=>(const receipt&, const receipt&) = default;
};

/// What became of a complete, fail, release or extend.
enum class settle_result {
  applied,     ///< It took effect.
  lease_lost,  ///< It had no effect: the lease had ended, or the message was settled before.
               ///< Certain: a transaction too old to see the message gets errc::conflict.
};

/// One message handed out by `claim_queue::take`, for as long as its lease lasts. Goes wherever its
/// receipt goes.
struct delivery {
  tableq::receipt receipt;
  std::string payload;
  tableq::headers headers;
  std::optional<std::string> key;         ///< What the caller of enqueue gave.
  std::optional<std::string> group = {};  ///< The same.
  std::int32_t priority = 0;              ///< Higher comes first.
  int attempt = 1;                        ///< 1 for the first time it is handed out.
  timestamp created_at;                   ///< When it was enqueued, or what the caller said.
  std::optional<timestamp> claimed_at;    ///< What the caller of take gave as correlation id.
  timestamp lease_until;  ///< By the database's clock; others may take it after that.

  /// A delivery stands for its receipt: `jobs.complete(taken)`.
  // NOLINTNEXTLINE(google-explicit-constructor): that must read well
  operator const tableq::receipt&() const noexcept { return receipt; }
};

/// What became of a message that was to be enqueued into a `claim` queue.
enum class enqueue_result {
  added,
  kept_first,  ///< The key was held: nothing was changed.
  replaced,    ///< The message that holds the key has the new payload.
  postponed,   ///< The same, and it falls due later.
};

/// What enqueue into a `claim` queue did.
struct enqueued {
  /// The new message, or the one that holds the key. Zero where another held the key when that was
  /// checked, and had left the queue when its id was looked up, or could not be looked up.
  message_id id;
  enqueue_result result = enqueue_result::added;

  /// A message was added. False: an earlier one held the key, and `result` says what became of it.
  [[nodiscard]] bool created() const noexcept { return result == enqueue_result::added; }
};

/// Where a message of a `claim` queue stands. Stored; never renumber.
enum class message_state {
  ready = 0,    ///< Waits for a take.
  leased = 1,   ///< Handed out; comes back when its lease ends unsettled.
  delayed = 2,  ///< Becomes ready at its due time.
  done = 3,     ///< Completed, in a queue that keeps what is done.
  dead = 4,     ///< Failed for the last time, or expired; waits for redrive or purge.
  held = 5,     ///< Waits behind its group.
};

/// What became of a cancel or set_priority.
enum class change_result {
  applied,    ///< It took effect.
  running,    ///< It had no effect: the message is leased, or was just then.
  finished,   ///< It had no effect: the message is done and kept; or dead, which has no priority.
  not_found,  ///< No such message is in the queue.
};

/// What `claim_queue::redrive_all` did.
struct redriven {
  std::size_t count = 0;     ///< Messages that are ready again.
  std::size_t key_held = 0;  ///< Left in the dead-letter queue: another message holds the key.
};

/// One failed attempt.
struct failure_record {
  timestamp at;
  /// At most 2,000 bytes of UTF-8; what was not UTF-8 is replaced. An entry of another form than
  /// tableq writes is its JSON, at 1970-01-01.
  std::string error;
};

/// A message of a `claim` queue as it stands in the table: for looking, not for working.
struct stored_message {
  message_id id;
  message_state state = message_state::ready;
  std::string payload;
  tableq::headers headers;
  std::optional<std::string> key;  ///< Also when it is no longer held.
  std::optional<std::string> group = {};
  std::int32_t priority = 0;
  int attempts = 0;
  timestamp created_at;
  std::optional<timestamp> due_at;           ///< Delayed: due time. Leased: end of the lease.
  std::optional<timestamp> expires_at = {};  ///< From then on it is not handed out any more.
  std::optional<timestamp> claimed_at;       ///< The correlation id of the last take.
  std::optional<timestamp> finished_at;      ///< Done or dead: since when.
  std::vector<failure_record> errors;        ///< The last ten, oldest first.
  /// What stands in the column where that is no JSON object that can be handed out, made UTF-8;
  /// `headers` is empty then. Only plain SQL writes such.
  std::optional<std::string> unread_headers = {};
};

}  // namespace tableq::inline v0

/// For unordered containers.
template <>
struct std::hash<tableq::message_id> {
  /// Equal ids have equal values.
  std::size_t operator()(const tableq::message_id& id) const noexcept {
    return std::hash<std::int64_t>()(id.value);
  }
};

/// For unordered containers.
template <>
struct std::hash<tableq::receipt> {
  /// Equal receipts have equal values.
  std::size_t operator()(const tableq::receipt& value) const noexcept {
    constexpr std::size_t odd = 1'000'003;
    const std::hash<std::int64_t> each;
    return (each(value.queue) * odd + each(value.id.value)) * odd + each(value.fence);
  }
};
