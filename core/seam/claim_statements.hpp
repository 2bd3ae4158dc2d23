#pragma once

/// @file
/// Statements of claim queues, and their rows.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <tableq/message.hpp>

#include "core/seam/claim_requests.hpp"
#include "core/seam/queue_statements.hpp"

namespace tableq::inline v0::core {

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
  std::string payload = {};

  static constexpr auto fields() {
    return std::tuple(
        integer("id", &delivery_row::id), integer("fence", &delivery_row::fence),
        integer("attempts", &delivery_row::attempts), integer("priority", &delivery_row::priority),
        integer("created_at", &delivery_row::created_at),
        integer("claimed_at", &delivery_row::claimed_at),
        integer("lease_until", &delivery_row::lease_until), text("key", &delivery_row::key),
        text("group_key", &delivery_row::group_key), integer("expired", &delivery_row::expired),
        text("headers", &delivery_row::headers), bytes("payload", &delivery_row::payload));
  }
};

/// The same in a queue whose groups take turns.
struct turn_row : delivery_row {
  timestamp ready_at = {};

  static constexpr auto fields() {
    return std::tuple_cat(delivery_row::fields(),
                          std::tuple(integer("ready_at", &turn_row::ready_at)));
  }
};

/// A message that a look has leased, or none: one row without an id.
struct look_row : delivery_row {
  std::optional<std::chrono::milliseconds> due_in = {};  ///< Until the next message falls due.

  static constexpr auto fields() {
    return std::tuple_cat(delivery_row::fields(), std::tuple(integer("due_in", &look_row::due_in)));
  }
};

/// Whether a look has leased none.
[[nodiscard]] inline bool is_told(statement id, const row_set& rows) {
  return id == statement::claim_look && rows.size() == 1 &&
         rows.integer(0, place_of<look_row>("id")) == 0;
}

/// A message that may be taken.
struct pick_row {
  message_id id = {};
  bool lengthy = false;  ///< claim.take takes it not.

  static constexpr auto fields() {
    return std::tuple(integer("id", &pick_row::id), integer("lengthy", &pick_row::lengthy));
  }
};

/// A message and its state.
struct state_row {
  message_id id = {};
  message_state state = message_state::ready;

  static constexpr auto fields() {
    return std::tuple(integer("id", &state_row::id), integer("state", &state_row::state));
  }
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
  std::string payload = {};

  static constexpr auto fields() {
    return std::tuple(
        integer("id", &stored_row::id), integer("state", &stored_row::state),
        integer("priority", &stored_row::priority), integer("attempts", &stored_row::attempts),
        integer("created_at", &stored_row::created_at), integer("due_at", &stored_row::due_at),
        integer("claimed_at", &stored_row::claimed_at),
        integer("finished_at", &stored_row::finished_at), text("key", &stored_row::key),
        text("group_key", &stored_row::group_key), integer("expires_at", &stored_row::expires_at),
        text("headers", &stored_row::headers), text("errors", &stored_row::errors),
        bytes("payload", &stored_row::payload));
  }
};

/// The group of a message.
struct group_row {
  std::string group_key = {};

  static constexpr auto fields() { return std::tuple(text("group_key", &group_row::group_key)); }
};

/// Figures of a claim queue.
struct claim_count_row {
  std::size_t ready = 0;
  std::size_t due = 0;
  std::size_t delayed = 0;
  std::size_t leased = 0;
  std::size_t held = 0;
  std::size_t done = 0;
  std::size_t dead = 0;
  std::optional<timestamp> oldest = {};
  std::optional<message_id> last_id = {};
  timestamp as_of = {};

  static constexpr auto fields() {
    return std::tuple(
        integer("ready", &claim_count_row::ready), integer("due", &claim_count_row::due),
        integer("delayed", &claim_count_row::delayed), integer("leased", &claim_count_row::leased),
        integer("held", &claim_count_row::held), integer("done", &claim_count_row::done),
        integer("dead", &claim_count_row::dead), integer("oldest", &claim_count_row::oldest),
        integer("last_id", &claim_count_row::last_id), integer("as_of", &claim_count_row::as_of));
  }
};

/// How many of the messages that were looked at came from a queue.
struct letters_row {
  std::size_t letters = 0;
  std::size_t seen = 0;

  static constexpr auto fields() {
    return std::tuple(integer("letters", &letters_row::letters),
                      integer("seen", &letters_row::seen));
  }
};

namespace statements {

inline constexpr typed_statement<clock_request, claim_item, id_row> claim_enqueue{
    statement::claim_enqueue};
inline constexpr typed_statement<nothing, key_item, id_row> claim_find_key{
    statement::claim_find_key};
inline constexpr typed_statement<replace_request, replace_item, id_row> claim_replace{
    statement::claim_replace};
inline constexpr typed_statement<clock_request, key_item, id_row> claim_forget{
    statement::claim_forget};
inline constexpr typed_statement<clock_request, key_item, id_row> claim_free{statement::claim_free};
inline constexpr typed_statement<take_request, nothing, delivery_row> claim_take{
    statement::claim_take};
inline constexpr typed_statement<take_request, nothing, turn_row> claim_take_turns{
    statement::claim_take_turns};
inline constexpr typed_statement<take_request, nothing, look_row> claim_look{statement::claim_look};
inline constexpr typed_statement<take_request, nothing, pick_row> claim_pick{statement::claim_pick};
inline constexpr typed_statement<take_request, id_item, nothing> claim_lease{
    statement::claim_lease};
inline constexpr typed_statement<clock_request, id_item, delivery_row> claim_taken{
    statement::claim_taken};
inline constexpr typed_statement<promote_request, nothing, state_row> claim_promote{
    statement::claim_promote};
inline constexpr typed_statement<nothing, receipt_item, id_row> claim_complete{
    statement::claim_complete};
inline constexpr typed_statement<keep_request, receipt_item, id_row> claim_keep{
    statement::claim_keep};
inline constexpr typed_statement<fail_request, fail_item, state_row> claim_fail{
    statement::claim_fail};
inline constexpr typed_statement<clock_request, receipt_item, id_row> claim_release{
    statement::claim_release};
inline constexpr typed_statement<extend_request, receipt_item, id_row> claim_extend{
    statement::claim_extend};
inline constexpr typed_statement<extend_request, receipt_item, id_row> claim_heartbeat{
    statement::claim_heartbeat};
inline constexpr typed_statement<nothing, receipt_item, id_row> claim_lost{statement::claim_lost};
inline constexpr typed_statement<nothing, id_item, id_row> claim_unseen{statement::claim_unseen};
inline constexpr typed_statement<timed_read_request, nothing, stored_row> claim_peek{
    statement::claim_peek};
inline constexpr typed_statement<list_finished_request, nothing, stored_row> claim_list{
    statement::claim_list};
inline constexpr typed_statement<clock_request, id_item, id_row> claim_redrive{
    statement::claim_redrive};
inline constexpr typed_statement<timed_read_request, nothing, id_row> claim_redrive_all{
    statement::claim_redrive_all};
inline constexpr typed_statement<state_request, id_item, stored_row> claim_remove{
    statement::claim_remove};
inline constexpr typed_statement<nothing, adopt_item, id_row> claim_adopt{statement::claim_adopt};
inline constexpr typed_statement<nothing, id_item, group_row> claim_group_of{
    statement::claim_group_of};
inline constexpr typed_statement<advance_request, group_item, id_row> claim_advance{
    statement::claim_advance};
inline constexpr typed_statement<purge_request, nothing, id_row> claim_purge{
    statement::claim_purge};
inline constexpr typed_statement<timed_read_request, nothing, claim_count_row> claim_stats{
    statement::claim_stats};
inline constexpr typed_statement<letters_request, nothing, letters_row> claim_letters{
    statement::claim_letters};
inline constexpr typed_statement<clock_request, nothing, delay_row> claim_next_due{
    statement::claim_next_due};
inline constexpr typed_statement<list_ready_request, nothing, stored_row> claim_list_ready{
    statement::claim_list_ready};
inline constexpr typed_statement<list_ready_request, nothing, stored_row> claim_list_held{
    statement::claim_list_held};
inline constexpr typed_statement<list_waiting_request, nothing, stored_row> claim_list_waiting{
    statement::claim_list_waiting};
inline constexpr typed_statement<nothing, id_item, stored_row> claim_get{statement::claim_get};
inline constexpr typed_statement<key_request, nothing, stored_row> claim_find{
    statement::claim_find};
inline constexpr typed_statement<nothing, id_item, id_row> claim_cancel{statement::claim_cancel};
inline constexpr typed_statement<nothing, priority_item, id_row> claim_set_priority{
    statement::claim_set_priority};
inline constexpr typed_statement<nothing, id_item, state_row> claim_state_of{
    statement::claim_state_of};

}  // namespace statements

}  // namespace tableq::inline v0::core
