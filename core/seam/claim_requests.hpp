#pragma once

/// @file
/// Requests of claim queues. In every request `now` is the clock of a test, or empty: then the
/// database's own clock decides.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// A new message.
struct claim_item {
  std::string_view payload = {};
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

  static constexpr auto fields() {
    return std::tuple(
        bytes("payload", &claim_item::payload), integer("priority", &claim_item::priority),
        integer("delay", &claim_item::delay), integer("due_at", &claim_item::due_at),
        text("key", &claim_item::key), text("headers", &claim_item::headers),
        integer("created_at", &claim_item::created_at), integer("ttl", &claim_item::ttl),
        integer("max_attempts", &claim_item::max_attempts), text("retry", &claim_item::retry),
        text("group", &claim_item::group));
  }
};

/// A key.
struct key_item {
  std::string_view key = {};

  static constexpr auto fields() { return std::tuple(text("key", &key_item::key)); }
};

/// A key.
struct key_request {
  std::string_view key = {};
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(text("key", &key_request::key), integer("now", &key_request::now));
  }
};

/// The rules for replacing a message that holds a key.
struct replace_request {
  bool postpone = false;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("postpone", &replace_request::postpone),
                      integer("now", &replace_request::now));
  }
};

/// The new contents of the message that holds the key.
struct replace_item {
  std::string_view key = {};
  std::string_view payload = {};
  std::int32_t priority = 0;
  std::chrono::milliseconds delay{0};
  std::optional<timestamp> due_at = {};  ///< Empty: `delay` from now.
  std::optional<std::string_view> headers = {};
  std::optional<std::chrono::milliseconds> ttl = {};
  std::optional<int> max_attempts = {};
  std::optional<std::string_view> retry = {};

  static constexpr auto fields() {
    return std::tuple(
        text("key", &replace_item::key), bytes("payload", &replace_item::payload),
        integer("priority", &replace_item::priority), integer("delay", &replace_item::delay),
        integer("due_at", &replace_item::due_at), text("headers", &replace_item::headers),
        integer("ttl", &replace_item::ttl), integer("max_attempts", &replace_item::max_attempts),
        text("retry", &replace_item::retry));
  }
};

/// A take, also from a queue whose groups take turns.
struct take_request {
  std::size_t max = 0;
  std::chrono::milliseconds lease{0};
  std::optional<timestamp> claimed_at = {};
  bool guard = false;      ///< Take nothing while a message may be due or expired.
  std::int64_t token = 0;  ///< Makes fences unique; a rollback would repeat them.
  bool unkey = false;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("max", &take_request::max), integer("lease", &take_request::lease),
                      integer("claimed_at", &take_request::claimed_at),
                      integer("guard", &take_request::guard),
                      integer("token", &take_request::token),
                      integer("unkey", &take_request::unkey), integer("now", &take_request::now));
  }
};

/// Due messages, and messages with ended leases, become ready or dead.
struct promote_request {
  std::size_t max = 0;
  int max_attempts = 0;
  bool regroup = false;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("max", &promote_request::max),
                      integer("max_attempts", &promote_request::max_attempts),
                      integer("regroup", &promote_request::regroup),
                      integer("now", &promote_request::now));
  }
};

/// A receipt.
struct receipt_item {
  message_id id = {};
  std::int64_t fence = 0;

  static constexpr auto fields() {
    return std::tuple(integer("id", &receipt_item::id), integer("fence", &receipt_item::fence));
  }
};

/// How completed messages are kept.
struct keep_request {
  std::chrono::milliseconds window{0};
  bool strip = false;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("window", &keep_request::window),
                      integer("strip", &keep_request::strip), integer("now", &keep_request::now));
  }
};

/// The rules for failed attempts.
struct fail_request {
  int max_attempts = 0;
  std::optional<std::string_view> policy = {};  ///< JSON; empty: ready at once.
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("max_attempts", &fail_request::max_attempts),
                      text("policy", &fail_request::policy), integer("now", &fail_request::now));
  }
};

/// A failed attempt.
struct fail_item {
  message_id id = {};
  std::int64_t fence = 0;
  std::string_view error = {};
  std::optional<std::chrono::milliseconds> delay = {};  ///< Empty: the policy's.
  int dice = 0;   ///< -1,000 to 1,000: a thousandth of the jitter.
  int final = 0;  ///< 1: dead at once. 2: dead, and the attempt does not count.

  static constexpr auto fields() {
    return std::tuple(integer("id", &fail_item::id), integer("fence", &fail_item::fence),
                      text("error", &fail_item::error), integer("delay", &fail_item::delay),
                      integer("dice", &fail_item::dice), integer("final", &fail_item::final));
  }
};

/// A new length of leases.
struct extend_request {
  std::chrono::milliseconds lease{0};
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("lease", &extend_request::lease),
                      integer("now", &extend_request::now));
  }
};

/// A page of completed or dead messages, after a place.
struct list_finished_request {
  message_state state = message_state::ready;
  std::size_t max = 0;
  std::int64_t after_at = 0;
  std::int64_t after_id = 0;

  static constexpr auto fields() {
    return std::tuple(integer("state", &list_finished_request::state),
                      integer("max", &list_finished_request::max),
                      integer("after_at", &list_finished_request::after_at),
                      integer("after_id", &list_finished_request::after_id));
  }
};

/// A page of ready or held messages, after a place.
struct list_ready_request {
  std::size_t max = 0;
  std::int64_t after_priority = 0;
  std::int64_t after_at = 0;  ///< Of ready messages of a queue whose groups take turns.
  std::int64_t after_id = 0;

  static constexpr auto fields() {
    return std::tuple(integer("max", &list_ready_request::max),
                      integer("after_priority", &list_ready_request::after_priority),
                      integer("after_at", &list_ready_request::after_at),
                      integer("after_id", &list_ready_request::after_id));
  }
};

/// A page of delayed or leased messages, after a place.
struct list_waiting_request {
  message_state state = message_state::ready;
  std::size_t max = 0;
  std::int64_t after_at = 0;
  std::int64_t after_priority = 0;
  std::int64_t after_id = 0;

  static constexpr auto fields() {
    return std::tuple(integer("state", &list_waiting_request::state),
                      integer("max", &list_waiting_request::max),
                      integer("after_at", &list_waiting_request::after_at),
                      integer("after_priority", &list_waiting_request::after_priority),
                      integer("after_id", &list_waiting_request::after_id));
  }
};

/// A message.
struct id_item {
  message_id id = {};

  static constexpr auto fields() { return std::tuple(integer("id", &id_item::id)); }
};

/// Only messages in this state.
struct state_request {
  message_state state = message_state::ready;

  static constexpr auto fields() { return std::tuple(integer("state", &state_request::state)); }
};

/// A message from another queue.
struct adopt_item {
  std::string_view payload = {};
  std::int32_t priority = 0;
  timestamp created_at = {};
  std::optional<std::string_view> key = {};       ///< The message holds it from now on.
  std::optional<std::string_view> past_key = {};  ///< Only shown.
  std::optional<std::string_view> headers = {};
  std::optional<std::string_view> errors = {};

  static constexpr auto fields() {
    return std::tuple(bytes("payload", &adopt_item::payload),
                      integer("priority", &adopt_item::priority),
                      integer("created_at", &adopt_item::created_at), text("key", &adopt_item::key),
                      text("past_key", &adopt_item::past_key),
                      text("headers", &adopt_item::headers), text("errors", &adopt_item::errors));
  }
};

/// A group.
struct group_item {
  std::string_view group = {};

  static constexpr auto fields() { return std::tuple(text("group", &group_item::group)); }
};

/// How many messages of a group may be ready or leased.
struct advance_request {
  int limit = 0;
  bool hold = false;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("limit", &advance_request::limit),
                      integer("hold", &advance_request::hold),
                      integer("now", &advance_request::now));
  }
};

/// Messages that finished long enough ago.
struct purge_request {
  message_state state = message_state::ready;
  std::chrono::milliseconds older_than{0};
  std::size_t max = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("state", &purge_request::state),
                      integer("older_than", &purge_request::older_than),
                      integer("max", &purge_request::max), integer("now", &purge_request::now));
  }
};

/// Messages that came from a queue, among the first `max` ready ones of a dead-letter queue.
struct letters_request {
  std::size_t max = 0;
  std::string_view source = {};  ///< The name of that queue.

  static constexpr auto fields() {
    return std::tuple(integer("max", &letters_request::max),
                      text("source", &letters_request::source));
  }
};

/// A new priority.
struct priority_item {
  message_id id = {};
  std::int32_t priority = 0;

  static constexpr auto fields() {
    return std::tuple(integer("id", &priority_item::id),
                      integer("priority", &priority_item::priority));
  }
};

}  // namespace tableq::inline v0::core
