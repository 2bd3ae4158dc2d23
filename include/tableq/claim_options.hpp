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

/// How long a key of a `claim` queue keeps others from being added. Stored by name.
enum class key_scope {
  active,   ///< Until its message is completed, cancelled or purged; a dead message holds its key.
  waiting,  ///< Until its message is taken for the first time; after that the key is free.
};

/// What enqueue does when the key is held by another message.
enum class on_duplicate {
  keep_first,  ///< Nothing is added, and the answer says so.
  reject,      ///< errc::duplicate_key, and nothing of the call is stored, not even the others of a
               ///< batch.
  /// The message that holds the key gets the payload, headers, priority and rules of the new one,
  /// and its attempts begin anew; its place and due time stay. Only while it waits: one that is
  /// leased or dead is left alone, and keeps the key.
  replace,
  /// The same, and it falls due after `delay` or at `due_at`: many calls become one message that
  /// comes when there has been quiet for so long (debounce).
  postpone,
};

/// What happens to the other messages of a group while one of them rests after a failed attempt.
enum class group_policy {
  hold,  ///< They wait for it: the order within the group is exact.
  pass,  ///< They go on; it comes next when it has rested.
};

/// Messages with the same `group` are handed out one after the other, in the order of their ids.
struct group_options {
  int limit = 1;  ///< So many of a group at a time, 1 to 1,000. With more than 1 they may overtake.
  group_policy on_failure = group_policy::hold;
  /// False: as if no groups were named. `{}` therefore gives a queue groups, one message at a time.
  bool enabled = true;

  friend bool operator==(const group_options&, const group_options&) = default;
};

/// For `database::claim`. What is left out is as stored in the catalogue when the queue was
/// created; what is given is stored when this call creates the queue. On an existing queue lease,
/// max_attempts, keep_completed, retry and time_to_live then hold for this handle only; the others
/// must be as stored, or it is errc::options_mismatch. C++ wants the names in the order below.
struct claim_options {
  /// How long a take holds a message. 1 ms to 365 days. A new queue's default: 30 s.
  std::optional<std::chrono::milliseconds> lease = {};

  /// At the end of how many failed or expired attempts a message is dead. 1 to 1,000,000. A new
  /// queue's default: 5.
  std::optional<int> max_attempts = {};

  /// Whether complete keeps the message with the time it finished, until purge. A new queue's
  /// default: false.
  std::optional<bool> keep_completed = {};

  /// When failed messages are taken again, unless `fail` says: `{1s, 10s, 1min}`, or a
  /// retry_delays. A new queue's default: at once. Leases that end unsettled are taken again at
  /// once in any case.
  optional_retry retry = std::nullopt;

  /// How long after enqueue a message may be handed out; then it is dead, with the error "expired",
  /// as soon as a take meets it. A new queue's default: lifetime::forever().
  std::optional<lifetime> time_to_live = {};

  /// A new queue's default: key_scope::active.
  std::optional<key_scope> keys = {};

  /// How long a key is held after its message was completed, up to 3,650 days; zero, the default:
  /// not at all. The scope must be key_scope::active.
  std::optional<std::chrono::milliseconds> key_window = {};

  /// Lets messages have a `group`: `{}`, or `{.limit = 4}`. A new queue's default: none. Costs each
  /// enqueue and settlement of the queue a transaction of some statements; takes cost the same.
  group_options groups = {.enabled = false};

  /// The `claim` queue of this database that dead messages are moved to, with their history; it is
  /// opened, or created, with this one. Empty, a new queue's default: they stay here.
  std::optional<std::string> dead_letters = {};
};

/// For enqueue into `claim` queues.
struct claim_enqueue_options {
  std::int32_t priority = 0;  ///< Higher comes first.
  /// Not taken before that, 0 to 3,650 days from now. Give this or `due_at`, not both.
  std::chrono::milliseconds delay{0};
  /// Absolute, 1970 to 9999, by the database's clock. A time that has passed means at once.
  std::optional<timestamp> due_at = {};
  tableq::headers headers = {};
  /// 1 to 200 bytes of UTF-8 without NUL: a GUID, say. Unique as long as the queue's key_scope and
  /// key_window say. Empty: none.
  std::optional<std::string> key = {};
  /// Stored and returned; decides nothing. Empty: the database's clock.
  std::optional<timestamp> created_at = {};
  /// Only with a key.
  tableq::on_duplicate on_duplicate = tableq::on_duplicate::keep_first;
  /// 1 to 200 bytes of UTF-8 without NUL. Messages of one group are handed out one after the other.
  /// Only in queues with claim_options::groups, and not with a delay or due_at.
  /// Empty: none.
  std::optional<std::string> group = {};
  std::optional<lifetime> time_to_live = {};  ///< Empty: the queue's.
  std::optional<int> max_attempts = {};       ///< Empty: the queue's. 1 to 1,000,000.
  optional_retry retry = std::nullopt;        ///< Empty: the queue's.
};

/// One message of a batch for `claim`.
struct new_claim_message {
  std::string payload = {};
  claim_enqueue_options options = {};
};

/// For `claim_queue::take` and `take_one`.
struct take_options {
  std::chrono::milliseconds wait{0};  ///< Until the first message; zero: do not wait.
  /// Empty: the handle's. 1 ms to 365 days.
  std::optional<std::chrono::milliseconds> lease = {};
  /// A correlation id, the same for a whole run, say. Stored with the message and returned; decides
  /// nothing about the lease.
  std::optional<timestamp> claimed_at = {};
  std::stop_token stop = {};  ///< A request ends the waiting, with an empty result.
};

/// For `claim_queue::fail`.
struct fail_options {
  /// Before the message may be taken again, 0 to 3,650 days. Empty: as the queue's retry_delays
  /// say.
  std::optional<std::chrono::milliseconds> delay = {};
  /// Dead at once, whatever attempts are left.
  bool give_up = false;
};

/// One item of a batch for `claim_queue::fail_batch`.
struct failure {
  tableq::receipt receipt = {};
  std::string error = {};  ///< Kept in the message's history, as fail's.
  fail_options options = {};
};

/// A page of `claim_queue::list`.
struct page {
  std::size_t max = 100;  ///< 1 to 10,000.
  /// The last message of the page before, as it was listed; its payload may be emptied. Empty: the
  /// first page.
  std::optional<stored_message> after = {};
};

/// One item of a batch for `claim_queue::set_priority_batch`.
struct new_priority {
  message_id id = {};
  std::int32_t priority = 0;  ///< Higher comes first.
};

/// For `claim_queue::redrive_all`.
struct redrive_options {
  /// Which ones. Called in the calling thread, outside of transactions. Empty: all.
  std::function<bool(const stored_message&)> filter = {};
  std::optional<std::size_t> max = {};    ///< At most so many. Empty: no limit.
  std::optional<double> per_second = {};  ///< At most so many a second, on average, above 0 and up
                                          ///< to 1,000,000,000. Empty: no limit.
  std::stop_token stop = {};  ///< A request ends it after the messages that are on their way.
};

/// For `claim_queue::purge`.
struct purge_options {
  /// Only what finished at least so long ago by the database's clock, 0 to 3,650 days.
  std::chrono::milliseconds older_than{0};
  /// Rows for each statement, each its own transaction, 1 to 4,000: small enough never to hold up
  /// the consumers.
  std::size_t batch = 1000;
};

}  // namespace tableq::inline v0
