#pragma once

/// @file
/// Requests and rows of claim queues.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/message.hpp>
#include <tableq/stats.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// A new message.
struct claim_item {
  byte_view payload = {};
  std::int32_t priority = 0;
  std::chrono::milliseconds delay{0};
  std::optional<timestamp> due_at = {};  ///< Empty: `delay` from now.
  std::optional<std::string_view> key = {};
  std::optional<std::string_view> headers = {};       ///< JSON.
  std::optional<timestamp> created_at = {};           ///< Empty: the clock.
  std::optional<std::chrono::milliseconds> ttl = {};  ///< Empty: without end.
  std::optional<int> max_attempts = {};               ///< Empty: the queue's.
  std::optional<std::string_view> retry = {};         ///< JSON; empty: the queue's.
  std::optional<std::string_view> group = {};
  bool leads = false;  ///< Ready at once: the first message of a group that has none.
  TABLEQ_FIELDS(claim_item, payload, priority, delay, due_at, key, headers, created_at, ttl,
                max_attempts, retry, group, leads)
};

/// A key.
struct key_item {
  std::string_view key = {};
  TABLEQ_FIELDS(key_item, key)
};

/// The rules for replacing a message that holds a key.
struct replace_request {
  bool postpone = false;
  TABLEQ_FIELDS(replace_request, postpone)
};

/// A take, also from a queue whose groups take turns.
struct take_request {
  std::size_t max = 0;
  std::chrono::milliseconds lease{0};
  std::optional<timestamp> claimed_at = {};
  bool guard = false;      ///< Take nothing while a message may be due or expired.
  std::int64_t token = 0;  ///< Makes fences unique; a rollback would repeat them.
  bool unkey = false;
  std::string_view queue = {};  ///< Whose limits claim.take_limited keeps; their row is locked.
  /// Of the queue, for claim.look: with other ones it takes nothing.
  std::optional<std::string_view> options = {};
  TABLEQ_FIELDS(take_request, max, lease, claimed_at, guard, token, unkey, queue, options)
};

/// A lease of given messages, by a driver whose takes are a query and this.
struct lease_request {
  std::int64_t token = 0;
  std::optional<timestamp> claimed_at = {};
  timestamp lease_until = {};
  TABLEQ_FIELDS(lease_request, token, claimed_at, lease_until)
};

/// Due messages, and messages with ended leases, become ready or dead; or given ones are ready now.
struct promote_request {
  std::size_t max = 0;
  int max_attempts = 0;
  /// Which delayed messages of groups wait behind their group again: see drivers/states.sql.
  int regroup = 0;
  bool starts = false;  ///< Groups have rates, so that a message that becomes ready needs a start.
  /// Ids with commas between: of the messages that move their groups only these, whose groups are
  /// locked. Empty: all.
  std::optional<std::string_view> locked = {};
  TABLEQ_FIELDS(promote_request, max, max_attempts, regroup, starts, locked)
};

/// How completed messages are kept.
struct keep_request {
  std::chrono::milliseconds window{0};
  bool strip = false;
  TABLEQ_FIELDS(keep_request, window, strip)
};

/// A receipt, and what its handler says of the message.
struct progress_item {
  message_id id = {};
  std::int64_t fence = 0;
  std::int64_t done = 0;  ///< Millionths.
  std::string_view note = {};
  TABLEQ_FIELDS(progress_item, id, fence, done, note)
};

/// A receipt, and what the handler returned.
struct result_item {
  message_id id = {};
  std::int64_t fence = 0;
  std::optional<byte_view> result = {};
  TABLEQ_FIELDS(result_item, id, fence, result)
};

/// The rules for failed attempts.
struct fail_request {
  int max_attempts = 0;
  std::optional<std::string_view> policy = {};  ///< JSON; empty: ready at once.
  TABLEQ_FIELDS(fail_request, max_attempts, policy)
};

/// A failed attempt.
struct fail_item {
  message_id id = {};
  std::int64_t fence = 0;
  std::string_view error = {};
  std::optional<std::chrono::milliseconds> delay = {};  ///< Empty: the policy's.
  int dice = 0;   ///< -1,000 to 1,000: a thousandth of the jitter.
  int final = 0;  ///< 1: dead at once. 2: dead, and the attempt does not count.
  TABLEQ_FIELDS(fail_item, id, fence, error, delay, dice, final)
};

/// A new length of leases.
struct extend_request {
  std::chrono::milliseconds lease{0};
  TABLEQ_FIELDS(extend_request, lease)
};

/// A page of messages in one state, after a place.
struct list_request {
  message_state state = message_state::ready;
  std::size_t max = 0;
  std::int64_t after_at = 0;  ///< Of ready messages only where groups take turns.
  std::int64_t after_priority = 0;
  std::int64_t after_id = 0;
  TABLEQ_FIELDS(list_request, state, max, after_at, after_priority, after_id)
};

/// For states_request.
[[nodiscard]] constexpr int bit_of(message_state state) noexcept {
  return 1 << static_cast<int>(state);
}

/// Only messages in these states: bit n stands for the state n.
struct states_request {
  int states = 0;
  TABLEQ_FIELDS(states_request, states)
};

/// Messages that fit, among those after a place. An empty condition fits all.
struct filter_request {
  int states = 0;    ///< As in states_request.
  int finished = 0;  ///< 3 or 4: reads the messages of that state only. 0: reads all.
  std::optional<std::chrono::milliseconds> older_than = {};
  std::optional<std::string> header = {};  ///< JSON of one header.
  std::optional<std::string_view> group = {};
  std::optional<std::string_view> key_prefix = {};
  std::optional<std::string> error = {};
  std::int64_t after_at = 0;
  std::int64_t after_id = 0;
  std::optional<std::int64_t> until = {};  ///< The last id or time to be read. Empty: the current.
  std::size_t scan = 0;                    ///< The most messages that are read.
  std::size_t max = 0;                     ///< The most that are returned.
  TABLEQ_FIELDS(filter_request, states, finished, older_than, header, group, key_prefix, error,
                after_at, after_id, until, scan, max)
};

/// A message of another queue, or of another database with all that it had there.
struct restore_item {
  byte_view payload = {};
  message_state state = message_state::ready;  ///< Not leased.
  std::int32_t priority = 0;
  std::optional<timestamp> due_at = {};  ///< Of a delayed message.
  int attempts = 0;
  timestamp created_at = {};
  std::optional<timestamp> finished_at = {};
  std::optional<timestamp> expires_at = {};
  std::optional<int> max_attempts = {};
  std::optional<std::string_view> retry = {};     ///< JSON.
  std::optional<std::string_view> key = {};       ///< The message holds it from now on.
  std::optional<std::string_view> past_key = {};  ///< Only shown.
  std::optional<std::string> headers = {};
  std::optional<std::string> errors = {};
  std::optional<std::string_view> group = {};
  TABLEQ_FIELDS(restore_item, payload, state, priority, due_at, attempts, created_at, finished_at,
                expires_at, max_attempts, retry, key, past_key, headers, errors, group)
};

/// How many messages of a group without limits of its own may be ready or leased.
struct advance_request {
  std::string_view queue = {};
  int limit = 0;
  bool hold = false;
  TABLEQ_FIELDS(advance_request, queue, limit, hold)
};

/// A group; for one with a rate, how many of its messages may become ready now. The one after them
/// then waits until `alarm_at`, if that is given.
struct group_item {
  std::string_view group = {};
  int starts = 0;
  std::optional<timestamp> alarm_at = {};
  TABLEQ_FIELDS(group_item, group, starts, alarm_at)
};

/// The groups of a queue after a name.
struct next_groups_request {
  std::string_view after = {};
  std::size_t max = 0;
  TABLEQ_FIELDS(next_groups_request, after, max)
};

/// Messages, or batches, that finished long enough ago.
struct purge_request {
  message_state state = message_state::ready;
  std::chrono::milliseconds older_than{0};
  std::size_t max = 0;
  TABLEQ_FIELDS(purge_request, state, older_than, max)
};

/// Messages that came from a queue, among the first `max` ready ones of a dead-letter queue.
struct letters_request {
  std::size_t max = 0;
  std::string_view source = {};  ///< The name of that queue.
  TABLEQ_FIELDS(letters_request, max, source)
};

/// A new priority.
struct priority_item {
  message_id id = {};
  std::int32_t priority = 0;
  TABLEQ_FIELDS(priority_item, id, priority)
};

/// A message that a take has leased.
struct delivery_row {
  message_id id = {};
  std::int64_t fence = 0;
  int attempts = 0;
  std::int32_t priority = 0;
  timestamp created_at = {};
  std::optional<timestamp> claimed_at = {};
  timestamp lease_until = {};
  std::optional<std::string> key = {};
  std::optional<std::string> group_key = {};
  bool expired = false;
  std::optional<std::string> headers = {};
  byte_string payload = {};
  std::int64_t ready_at = 0;  ///< Since when it stood in line, where groups take turns.
  TABLEQ_FIELDS(delivery_row, id, fence, attempts, priority, created_at, claimed_at, lease_until,
                key, group_key, expired, headers, payload, ready_at)
};

/// A message that a look has leased, or none: one row without an id.
struct look_row : delivery_row {
  std::optional<std::chrono::milliseconds> due_in = {};  ///< Until the next message falls due.
  TABLEQ_MORE_FIELDS(look_row, delivery_row, due_in)
};

/// A message that a take within limits has leased. If a limit let it take none, or may have made it
/// leave messages, one row has no id.
struct limited_row : delivery_row {
  std::optional<std::chrono::milliseconds> retry_in = {};  ///< Empty: after leases have ended.
  TABLEQ_MORE_FIELDS(limited_row, delivery_row, retry_in)
};

/// A message and its state.
struct state_row {
  message_id id = {};
  message_state state = message_state::ready;
  TABLEQ_FIELDS(state_row, id, state)
};

/// A message with all its columns.
struct stored_row {
  message_id id = {};
  message_state state = message_state::ready;
  std::int32_t priority = 0;
  int attempts = 0;
  timestamp created_at = {};
  std::optional<timestamp> due_at = {};
  std::optional<timestamp> claimed_at = {};
  std::optional<timestamp> finished_at = {};
  std::optional<std::string> key = {};
  std::optional<std::string> group_key = {};
  std::optional<timestamp> expires_at = {};
  std::optional<std::string> headers = {};
  std::optional<std::string> errors = {};
  byte_string payload = {};
  TABLEQ_FIELDS(stored_row, id, state, priority, attempts, created_at, due_at, claimed_at,
                finished_at, key, group_key, expires_at, headers, errors, payload)
};

/// A message that has left its queue.
struct removed_row : stored_row {
  bool holds_key = false;  ///< Until it left. False: `key` was only shown.
  std::optional<int> max_attempts = {};
  std::optional<std::string> retry = {};  ///< JSON.
  TABLEQ_MORE_FIELDS(removed_row, stored_row, holds_key, max_attempts, retry)
};

/// A message that fits, or the last one that was read.
struct found_row {
  message_id id = {};
  std::int64_t at = 0;  ///< When it finished; 0: messages are read by id.
  bool fits = false;
  std::size_t place = 0;  ///< The number of those read up to here.
  std::int64_t until = 0;
  TABLEQ_FIELDS(found_row, id, at, fits, place, until)
};

/// The payload of a message.
struct payload_row {
  byte_string payload = {};
  TABLEQ_FIELDS(payload_row, payload)
};

/// The progress of a message.
struct note_row {
  message_id id = {};
  std::string progress = {};  ///< JSON.
  TABLEQ_FIELDS(note_row, id, progress)
};

/// The result of a message.
struct outcome_row {
  message_id id = {};
  byte_string result = {};
  TABLEQ_FIELDS(outcome_row, id, result)
};

/// Groups of the first `max` ready and as many held messages.
struct groups_request {
  std::size_t max = 0;
  std::size_t groups = 0;  ///< The most that are returned.
  TABLEQ_FIELDS(groups_request, max, groups)
};

/// Messages of a group that wait.
struct waiting_row : waiting_group {
  TABLEQ_FIELDS(waiting_row, group, waiting, oldest)
};

/// The group of a message.
struct group_row {
  std::string group_key = {};
  TABLEQ_FIELDS(group_row, group_key)
};

/// The messages of a group.
struct group_use_row {
  int running = 0;    ///< Messages that count against its limit.
  bool held = false;  ///< Whether others wait behind them.
  TABLEQ_FIELDS(group_use_row, running, held)
};

/// A message and its group.
struct grouped_row {
  message_id id = {};
  std::string group_key = {};
  TABLEQ_FIELDS(grouped_row, id, group_key)
};

/// A message of a group that has become ready, delayed until its group may start it, or held.
struct advanced_row {
  message_id id = {};
  message_state state = message_state::ready;
  std::optional<timestamp> due_at = {};
  TABLEQ_FIELDS(advanced_row, id, state, due_at)
};

/// The rate of a group, and its starts. No row: it has no rate, and no message waits for a start.
struct tokens_row {
  std::optional<std::int64_t> rate = {};
  std::optional<int> burst = {};
  std::optional<std::int64_t> full_at = {};  ///< Microseconds.
  std::optional<message_id> alarm = {};      ///< The message that waits for the next start.
  std::optional<timestamp> alarm_at = {};
  timestamp clock = {};
  TABLEQ_FIELDS(tokens_row, rate, burst, full_at, alarm, alarm_at, clock)
};

/// Figures of a claim queue.
struct claim_count_row : claim_stats {
  TABLEQ_FIELDS(claim_count_row, ready, due, delayed, leased, held, done, dead, oldest, last_id,
                as_of)
};

/// How many of the messages that were looked at came from a queue.
struct letters_row {
  std::size_t letters = 0;
  std::size_t seen = 0;
  TABLEQ_FIELDS(letters_row, letters, seen)
};

}  // namespace tableq::inline v0::core
