#pragma once

/// @file
/// Requests and rows of the kinds whose reads delete. In every request `now` is the clock of a
/// test, or empty: then the database's own clock decides.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// The clock.
struct clock_request {
  std::optional<timestamp> now = {};

  static constexpr auto fields() { return std::tuple(integer("now", &clock_request::now)); }
};

/// At most `max` messages.
struct count_request {
  std::size_t max = 0;

  static constexpr auto fields() { return std::tuple(integer("max", &count_request::max)); }
};

/// At most `max` messages, by the clock.
struct timed_read_request {
  std::size_t max = 0;
  std::optional<timestamp> now = {};

  static constexpr auto fields() {
    return std::tuple(integer("max", &timed_read_request::max),
                      integer("now", &timed_read_request::now));
  }
};

/// A new message of a heap, FIFO or LIFO queue.
struct plain_item {
  std::string_view payload = {};
  std::optional<timestamp> created_at = {};  ///< Empty: the clock.

  static constexpr auto fields() {
    return std::tuple(bytes("payload", &plain_item::payload),
                      integer("created_at", &plain_item::created_at));
  }
};

/// A new message of a pending queue.
struct pending_item {
  std::string_view payload = {};
  std::optional<timestamp> created_at = {};  ///< Empty: the clock.
  std::optional<timestamp> due_at = {};      ///< Empty: `delay` from now.
  std::chrono::milliseconds delay{0};

  static constexpr auto fields() {
    return std::tuple(
        bytes("payload", &pending_item::payload), integer("created_at", &pending_item::created_at),
        integer("due_at", &pending_item::due_at), integer("delay", &pending_item::delay));
  }
};

/// A message.
struct id_row {
  message_id id = {};

  static constexpr auto fields() { return std::tuple(integer("id", &id_row::id)); }
};

/// A message of a kind whose reads delete.
struct message_row {
  message_id id = {};
  timestamp created_at = {};
  std::optional<timestamp> due_at = {};
  std::string payload = {};

  static constexpr auto fields() {
    return std::tuple(
        integer("id", &message_row::id), integer("created_at", &message_row::created_at),
        integer("due_at", &message_row::due_at), bytes("payload", &message_row::payload));
  }
};

/// Figures of a queue.
struct count_row {
  std::size_t waiting = 0;
  std::size_t delayed = 0;
  std::optional<timestamp> oldest = {};
  std::optional<message_id> last_id = {};
  timestamp as_of = {};

  static constexpr auto fields() {
    return std::tuple(integer("waiting", &count_row::waiting),
                      integer("delayed", &count_row::delayed),
                      integer("oldest", &count_row::oldest),
                      integer("last_id", &count_row::last_id), integer("as_of", &count_row::as_of));
  }
};

/// When the next message falls due.
struct delay_row {
  std::chrono::milliseconds delay{0};

  static constexpr auto fields() { return std::tuple(integer("delay", &delay_row::delay)); }
};

namespace statements {

inline constexpr typed_statement<clock_request, plain_item, id_row> heap_enqueue{
    statement::heap_enqueue};
inline constexpr typed_statement<count_request, nothing, message_row> heap_dequeue{
    statement::heap_dequeue};
inline constexpr typed_statement<count_request, nothing, message_row> heap_peek{
    statement::heap_peek};
inline constexpr typed_statement<count_request, nothing, id_row> heap_purge{statement::heap_purge};
inline constexpr typed_statement<timed_read_request, nothing, count_row> heap_stats{
    statement::heap_stats};
inline constexpr typed_statement<clock_request, plain_item, id_row> fifo_enqueue{
    statement::fifo_enqueue};
inline constexpr typed_statement<count_request, nothing, message_row> fifo_dequeue{
    statement::fifo_dequeue};
inline constexpr typed_statement<count_request, nothing, message_row> fifo_peek{
    statement::fifo_peek};
inline constexpr typed_statement<count_request, nothing, id_row> fifo_purge{statement::fifo_purge};
inline constexpr typed_statement<timed_read_request, nothing, count_row> fifo_stats{
    statement::fifo_stats};
inline constexpr typed_statement<clock_request, plain_item, id_row> lifo_enqueue{
    statement::lifo_enqueue};
inline constexpr typed_statement<count_request, nothing, message_row> lifo_dequeue{
    statement::lifo_dequeue};
inline constexpr typed_statement<count_request, nothing, message_row> lifo_peek{
    statement::lifo_peek};
inline constexpr typed_statement<count_request, nothing, id_row> lifo_purge{statement::lifo_purge};
inline constexpr typed_statement<timed_read_request, nothing, count_row> lifo_stats{
    statement::lifo_stats};
inline constexpr typed_statement<clock_request, pending_item, id_row> pending_enqueue{
    statement::pending_enqueue};
inline constexpr typed_statement<timed_read_request, nothing, message_row> pending_dequeue{
    statement::pending_dequeue};
inline constexpr typed_statement<timed_read_request, nothing, message_row> pending_peek{
    statement::pending_peek};
inline constexpr typed_statement<count_request, nothing, id_row> pending_purge{
    statement::pending_purge};
inline constexpr typed_statement<timed_read_request, nothing, count_row> pending_stats{
    statement::pending_stats};
inline constexpr typed_statement<clock_request, nothing, delay_row> pending_next_due{
    statement::pending_next_due};
inline constexpr typed_statement<count_request, nothing, message_row> fifo_dequeue_strict{
    statement::fifo_dequeue_strict};
inline constexpr typed_statement<count_request, nothing, message_row> lifo_dequeue_strict{
    statement::lifo_dequeue_strict};

}  // namespace statements

}  // namespace tableq::inline v0::core
