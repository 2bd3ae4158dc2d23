#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tableq/row.hpp>
#include <tableq/timestamp.hpp>

namespace tableq::inline v0 {

/// Identifies a message within its queue. A greater id was enqueued later.
///
/// A `claim` queue never gives the id of a committed message to another one. In the destructive
/// kinds an id is unique among the messages that are in the queue; SQLite may reuse it after its
/// message has left. SQLite also reuses the ids of enqueues that were rolled back.
struct message_id {
  std::int64_t value = 0;  ///< Positive for a message; zero means no message.

  // NOLINTNEXTLINE(modernize-use-nullptr): the check misreads a defaulted comparison
  friend auto operator<=>(const message_id&, const message_id&) = default;
};

/// Names and values stored with a message of a `claim` queue. Both are UTF-8 without NUL. A name
/// has 1 to 100 bytes; all together have less than 64 KiB as JSON.
using headers = std::map<std::string, std::string, std::less<>>;

/// A message that a destructive read has taken out of its queue: this is the only copy.
struct message {
  message_id id = {};               ///< Within its queue.
  timestamp created_at = {};        ///< Time of the enqueue, or as given to it.
  std::optional<timestamp> due_at;  ///< Its due time; only in `pending` queues.
  std::string payload;              ///< Any bytes, also none.
};

/// The right to settle one delivery. A value: it may be copied, stored, or sent to another process.
///
/// It is valid until the message is settled, or until the first take after the end of the lease: a
/// take makes every expired message ready again. After that every operation with it returns
/// settle_result::lease_lost. A receipt of a take that was rolled back is not valid. A queue that
/// was dropped and created again has another identity.
struct receipt {
  message_id id = {};      ///< The message.
  std::int64_t fence = 0;  ///< Grows with every take; never reused.
  std::int64_t queue = 0;  ///< The queue's identity from the catalogue, not its name.
  /// The key of a row of a table_queue, encoded; `id` is then zero unless the key is one integer.
  std::string key = {};

  // NOLINTNEXTLINE(modernize-use-nullptr): the check misreads a defaulted comparison
  friend auto operator<=>(const receipt&, const receipt&) = default;
};

/// The result of a complete, fail, release or extend.
enum class settle_result {
  applied,     ///< It took effect.
  lease_lost,  ///< It had no effect: the lease had ended, or the message was settled before. This
               ///< is certain: a transaction whose snapshot is too old gets errc::conflict.
};

/// One message handed out by `leased_queue::take` for the length of its lease. Converts to its
/// receipt.
struct delivery {
  tableq::receipt receipt;                ///< For the settlement; has the id.
  std::string payload;                    ///< Any bytes, also none.
  tableq::headers headers;                ///< As given to enqueue.
  std::optional<std::string> key;         ///< The same. Empty: none.
  std::optional<std::string> group = {};  ///< The same. Empty: none.
  std::int32_t priority = 0;              ///< Higher comes first.
  int attempt = 1;                        ///< 1 for the first delivery.
  timestamp created_at;                   ///< Time of the enqueue, or as given to it.
  std::optional<timestamp> claimed_at;    ///< The caller's own time of the take. Empty: none.
  timestamp lease_until;                  ///< By the database's clock. Others may take it later.
  tableq::row row = {};                   ///< From a table_queue: the mapped columns. Else empty.

  /// A delivery converts to its receipt: `jobs.complete(taken)`.
  // NOLINTNEXTLINE(google-explicit-constructor): that must read well
  operator const tableq::receipt&() const noexcept { return receipt; }
};

/// The effect of an enqueue into a `claim` queue.
enum class enqueue_result {
  added,       ///< The message is new.
  kept_first,  ///< The key was held: nothing was changed.
  replaced,    ///< The message that holds the key has the new payload.
  postponed,   ///< The same, and it falls due later.
};

/// The result of an enqueue into a `claim` queue.
struct enqueued {
  /// The new message, or the one that holds the key. Zero if that one left the queue before its id
  /// was read, or its id cannot be read.
  message_id id;
  /// The effect.
  enqueue_result result = enqueue_result::added;

  /// True: a message was added. False: an earlier one held the key, and `result` has the effect.
  [[nodiscard]] bool created() const noexcept { return result == enqueue_result::added; }
};

/// The state of a message of a `claim` queue. Stored; never renumber.
enum class message_state {
  ready = 0,    ///< Waits for a take.
  leased = 1,   ///< Handed out; comes back when its lease ends unsettled.
  delayed = 2,  ///< Becomes ready at its due time.
  done = 3,     ///< Completed, with keep_completed or key_window.
  dead = 4,     ///< Failed for the last time, or expired; waits for redrive or purge.
  held = 5,     ///< Waits behind its group.
};

/// The result of a cancel, set_priority or make_ready.
enum class change_result {
  applied,    ///< It took effect. make_ready: or the message was ready already.
  running,    ///< It had no effect: the message was leased at that time. make_ready: or another one
              ///< of its group was.
  finished,   ///< It had no effect: the message is done and kept; or dead, which has no priority.
  not_found,  ///< No such message is in the queue.
};

/// The result of `claim_queue::redrive_all`.
struct redriven {
  std::size_t count = 0;     ///< Messages that are ready again.
  std::size_t key_held = 0;  ///< Left in the dead-letter queue: another message holds the key.
};

/// The columns that a look reads. Other members are empty in its result.
enum class message_detail {
  all,
  outline,  ///< All but payload and headers, which are not read.
  /// The columns that role::viewer may read: id, state, priority, `created_at`, `due_at` and
  /// `finished_at`.
  seen,
};

/// The extent of a look at messages. Progress and result cost a second read each, and only where a
/// message may have them.
struct look_options {
  message_detail detail = message_detail::all;  ///< The columns; `find` reads all.
  bool progress = false;                        ///< stored_message::progress.
  bool result = false;                          ///< stored_message::result.
};

/// Messages of one group that wait: ready or held.
struct waiting_group {
  std::string group = {};   ///< As given to enqueue.
  std::size_t waiting = 0;  ///< Among those that were looked at.
  timestamp oldest = {};    ///< The earliest created_at among them.
};

/// One failed attempt.
struct failure_record {
  timestamp at;  ///< By the database's clock.
  /// At most 2,000 bytes of UTF-8; invalid bytes are replaced. An entry that tableq did not write
  /// is returned as its JSON, with the time 1970-01-01.
  std::string error;
};

/// How far a message is, as its handler has said: claim_queue::progress.
struct message_progress {
  double done = 0;        ///< From 0 to 1.
  std::string note = {};  ///< At most 500 bytes of UTF-8. May be empty.
  /// When it was stored, by the database's clock. Zero: plain SQL wrote it, and `note` is its text.
  timestamp at = {};
};

/// A message of a `claim` queue as the table has it. It has no receipt and cannot be settled.
struct stored_message {
  message_id id;                               ///< Within its queue.
  message_state state = message_state::ready;  ///< At the time of the read.
  std::string payload;                         ///< Any bytes, also none.
  tableq::headers headers;                     ///< As given to enqueue.
  std::optional<std::string> key;              ///< Also if it no longer holds it. Empty: none.
  std::optional<std::string> group = {};       ///< Empty: none.
  std::int32_t priority = 0;                   ///< Higher comes first.
  int attempts = 0;                            ///< Counted takes, including a running one.
  timestamp created_at;                        ///< Time of the enqueue, or as given to it.
  /// Delayed: due time. Leased: end of the lease. Ready, in a queue with group_options::by_turns:
  /// since when. Otherwise empty.
  std::optional<timestamp> due_at;
  std::optional<timestamp> expires_at = {};  ///< No delivery after this time. Empty: no end.
  std::optional<timestamp> claimed_at;   ///< The caller's own time of the last take. Empty: none.
  std::optional<timestamp> finished_at;  ///< When it became done or dead. Empty: it is neither.
  std::vector<failure_record> errors;    ///< The last ten, oldest first.
  /// The stored text if it is not a valid JSON object of headers, converted to UTF-8; `headers` is
  /// then empty. Only plain SQL can write such a text. Empty: `headers` has them.
  std::optional<std::string> unread_headers = {};
  /// If the look asked for it: what a handler said last, also in an earlier attempt. Empty:
  /// nothing, or the message is done.
  std::optional<message_progress> progress = {};
  /// If the look asked for it: what completed the message gave. Empty: nothing.
  std::optional<std::string> result = {};
};

/// The result of `claim_queue::wait_for`. A value.
struct awaited {
  /// How the wait has ended.
  enum class ending {
    done,     ///< The message is completed, and the queue keeps it.
    dead,     ///< It has failed for the last time, or has expired.
    gone,     ///< It is not in the queue.
    waiting,  ///< The time is over or a stop was requested: it is neither done nor dead.
  };
  ending how = ending::waiting;              ///< How the wait has ended.
  std::optional<message_state> state = {};   ///< As last seen. Empty: it is gone.
  std::optional<std::string> result = {};    ///< Of a done message. Empty: it has none.
  std::optional<failure_record> error = {};  ///< Of a done or dead message: its last failure.
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
    const std::size_t numbers =
        (each(value.queue) * odd + each(value.id.value)) * odd + each(value.fence);
    return numbers * odd + std::hash<std::string>()(value.key);
  }
};
