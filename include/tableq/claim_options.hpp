#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <tableq/message.hpp>
#include <tableq/message_rules.hpp>

namespace tableq::inline v0 {

/// How long a message of a `claim` queue holds its key. Stored by name.
enum class key_scope {
  active,   ///< Until its message is completed, cancelled or purged; a dead message holds its key.
  waiting,  ///< Until its message is taken for the first time; after that the key is free.
};

/// The effect of enqueue when another message holds the key.
enum class on_duplicate {
  keep_first,  ///< Nothing is added; the result is enqueue_result::kept_first.
  reject,      ///< Throws errc::duplicate_key. Nothing of the call or its batch is stored.
  /// The message that holds the key gets the payload, headers, priority and rules of the new one.
  /// Its attempts are counted from zero again; its place and due time stay. A leased or dead
  /// message is not changed and keeps the key.
  replace,
  /// As replace, and the message falls due after `delay` or at `due_at`. Many calls become one
  /// message, due when no call has come for that long (debounce).
  postpone,
};

/// The rule for the other messages of a group while one of them waits for its retry.
enum class group_policy {
  hold,  ///< They wait too: the order within the group is exact.
  pass,  ///< They go on. The failed one comes next after its delay.
};

/// Messages with the same `group` are handed out one after the other, in the order of their ids.
struct group_options {
  int limit = 1;  ///< Leased messages of one group, 1 to 1,000. Above 1 they may overtake.
  group_policy on_failure = group_policy::hold;  ///< While a message waits for its retry.
  /// True: groups take turns. Among messages of one priority, the one that became ready first comes
  /// first, and the next message of a group becomes ready when an earlier one leaves it: a group
  /// with a long backlog waits behind the others after each message. Messages without a group,
  /// those that come back and those added by plain SQL line up by the same time. Those that became
  /// ready in the same millisecond of the database's clock come by their ids; while a clock that
  /// was set back catches up, later ones come first. Costs a column of 8 bytes, here and in an
  /// index; on PostgreSQL reads pass over all messages that were read since the last vacuum: after
  /// 100,000 of them under a held snapshot, some 4,200 pages and 30 to 70 ms a read.
  bool by_turns = false;
  /// False: as not given; a new queue has no groups. `{}` gives it some, one message at a time.
  bool enabled = true;

  friend bool operator==(const group_options&, const group_options&) = default;
};

/// Options of `database::claim`. A call that creates the queue stores the given values in the
/// catalogue. On an existing queue an empty option means the stored value. A given lease,
/// max_attempts, keep_completed, retry or time_to_live then holds for this handle only. Any other
/// given option must equal the stored one, or the call throws errc::options_mismatch. C++ requires
/// the names in the order below.
struct claim_options {
  /// Length of the lease of a take. 1 ms to 365 days. A new queue's default: 30 s.
  std::optional<std::chrono::milliseconds> lease = {};

  /// A message is dead after this many failed or expired attempts. 1 to 1,000,000. A new queue's
  /// default: 5.
  std::optional<int> max_attempts = {};

  /// True: a completed message stays in the table, with the time it finished, until purge. A new
  /// queue's default: false.
  std::optional<bool> keep_completed = {};

  /// Delays before a failed message is ready again, unless `fail` gives one: `{1s, 10s, 1min}`, or
  /// a retry_delays. A new queue's default: retry_delays::usual(), 1 s, 5 s, 30 s, 5 min, so that
  /// a service that is away for a while makes no message dead; retry_delays::none() for retries at
  /// once. A message whose lease ends unsettled is ready again without a delay.
  optional_retry retry = std::nullopt;

  /// How long after enqueue a message may be handed out. The first take that finds it later makes
  /// it dead, with the error "expired". A new queue's default: lifetime::forever().
  std::optional<lifetime> time_to_live = {};

  /// How long a message holds its key. A new queue's default: key_scope::active.
  std::optional<key_scope> keys = {};

  /// How long a completed message holds its key, up to 3,650 days. Zero, the default: not at all.
  /// Requires key_scope::active.
  std::optional<std::chrono::milliseconds> key_window = {};

  /// Lets messages have a `group`: `{}`, or `{.limit = 4}`. A new queue's default: no groups. With
  /// groups each enqueue and settlement is a transaction of several statements; a take costs no
  /// more.
  group_options groups = {.enabled = false};

  /// The `claim` queue of this database that receives dead messages, with their history. It is
  /// opened or created together with this one. None, a new queue's default: dead messages stay
  /// here.
  std::optional<std::string> dead_letters = {};

  /// `{.done = 24h * 7, .dead = 24h * 30}`. A new queue's default: finished messages stay until
  /// purge.
  std::optional<tableq::retention> retention = {};

  /// True: messages may belong to batches (claim_enqueue_options::batch). Settlements of such a
  /// queue are transactions of several statements; a take costs no more. A new queue's default:
  /// false.
  std::optional<bool> batches = {};
};

/// A batch of messages, and who adds to it.
struct batch_id {
  std::int64_t value = 0;  ///< As `batch::id`.
  /// Of a member that is not settled yet (claim_queue::batch_of): its handler may add messages
  /// after the batch was sealed, too. Empty: additions end with the seal.
  std::optional<receipt> member = {};

  friend bool operator==(const batch_id&, const batch_id&) = default;
};

/// Options of enqueue into `claim` queues.
struct claim_enqueue_options {
  std::int32_t priority = 0;  ///< Higher comes first. May be negative.
  /// Earliest take, 0 to 3,650 days from now. Give this or `due_at`, not both.
  std::chrono::milliseconds delay{0};
  /// Absolute, 1970 to 9999, by the database's clock. A time that has passed means at once. Empty:
  /// `delay` decides.
  std::optional<timestamp> due_at = {};
  /// Names of 1 to 100 bytes and their values, all UTF-8 without NUL, less than 64 KiB as JSON.
  tableq::headers headers = {};
  /// 1 to 200 bytes of UTF-8 without NUL: a GUID, say. The queue's key_scope and key_window decide
  /// how long it stays unique. Empty: no key.
  std::optional<std::string> key = {};
  /// Stored and returned; has no other effect. 1970 to 9999. Empty: the database's clock.
  std::optional<timestamp> created_at = {};
  /// The effect when another message holds the key. All but keep_first need a key.
  tableq::on_duplicate on_duplicate = tableq::on_duplicate::keep_first;
  /// 1 to 200 bytes of UTF-8 without NUL. Messages of one group are handed out one after the other.
  /// Only in queues with claim_options::groups, and without delay and due_at. Empty: no group.
  std::optional<std::string> group = {};
  /// 1 ms to 3,650 days, or lifetime::forever(). Empty: the queue's.
  std::optional<lifetime> time_to_live = {};
  std::optional<int> max_attempts = {};  ///< 1 to 1,000,000. Empty: the queue's.
  /// Delays after failed attempts. Empty: the queue's; retry_delays::none(): ready again at once.
  optional_retry retry = std::nullopt;
  /// The batch to which the message belongs. Only in queues with claim_options::batches. A message
  /// whose key another one holds does not count. Empty: none.
  std::optional<batch_id> batch = {};
};

/// One message of a batch for `claim`.
struct new_claim_message {
  std::string payload = {};            ///< Any bytes, also none, up to the database's limit.
  claim_enqueue_options options = {};  ///< As for a single enqueue.
};

/// Options of `leased_queue::take` and `take_one`.
struct take_options {
  /// Longest wait for the first message, up to 365 days. Zero: no waiting.
  std::chrono::milliseconds wait{0};
  /// 1 ms to 365 days. Empty: the handle's.
  std::optional<std::chrono::milliseconds> lease = {};
  /// The caller's own time of the take, for instance one for a whole run. Stored with the message
  /// and returned; has no effect on the lease, and tableq sets none. 1970 to 9999. Empty: none.
  std::optional<timestamp> claimed_at = {};
  std::stop_token stop = {};  ///< A request ends the waiting, with an empty result.
};

/// Options of `leased_queue::fail`.
struct fail_options {
  /// Time until the message is ready again, 0 to 3,650 days. Empty: the retry_delays decide.
  std::optional<std::chrono::milliseconds> delay = {};
  /// True: the message is dead at once, even with attempts left.
  bool give_up = false;
};

/// One item of a batch for `leased_queue::fail_batch`.
struct failure {
  tableq::receipt receipt = {};  ///< Of the delivery that failed.
  std::string error = {};        ///< Stored in the message's history, as by fail. May be empty.
  fail_options options = {};     ///< As for a single fail.
};

/// A page of `claim_queue::list`.
struct page {
  std::size_t max = 100;  ///< Messages on the page, 1 to 10,000.
  /// The last message of the previous page, as listed; its payload may be cleared. Empty: the first
  /// page.
  std::optional<stored_message> after = {};
  look_options with = {};  ///< What is read beside the messages.
};

/// Options of `claim_queue::wait_for`.
struct wait_for_options {
  /// Longest wait, up to 365 days. Zero: one look.
  std::chrono::milliseconds wait = std::chrono::seconds{30};
  std::stop_token stop = {};  ///< A request ends the waiting.
};

/// One item of a batch for `claim_queue::set_priority_batch`.
struct new_priority {
  message_id id = {};         ///< The message to change. Zero: none, with the result not_found.
  std::int32_t priority = 0;  ///< Higher comes first. May be negative.
};

/// Options of `claim_queue::redrive_all`.
struct redrive_options {
  /// Returns true for the messages to redrive. Runs in the calling thread, outside of transactions.
  /// Empty: it selects all.
  std::function<bool(const stored_message&)> filter = {};
  std::optional<std::size_t> max = {};    ///< At most this many; zero: none. Empty: no limit.
  std::optional<double> per_second = {};  ///< Highest average messages per second, above 0 and up
                                          ///< to 1,000,000,000. Empty: no limit.
  std::stop_token stop = {};              ///< A request ends the redrive after the current batch.
};

/// Options of `claim_queue::purge`.
struct purge_options {
  /// Minimum time since the message finished, by the database's clock, 0 to 3,650 days.
  std::chrono::milliseconds older_than{0};
  /// Rows per statement, 1 to 4,000. Each statement is its own transaction, so that consumers do
  /// not wait for long.
  std::size_t batch = 1000;
};

}  // namespace tableq::inline v0
