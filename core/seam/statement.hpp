#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tableq::inline v0::core {

// clang-format off

/// The statement before it with other columns: see message_detail.
#define TABLEQ_DETAILS(query, name, shared, items, of) \
  query(claim, name##_outline, shared, items, stored_row, \
        .operation = (of), .detail = message_detail::outline) \
  query(claim, name##_seen, shared, items, stored_row, \
        .operation = (of), .detail = message_detail::seen)

/// Every statement that core needs of a database: both parts of its name, then the types of the
/// shared parameters, of each item, and of each row (core/seam/*_requests.hpp), then further members of
/// its contract. Its text is in drivers/*/statements.sql under its name. Those from `table_insert` on
/// are on tables of applications: the mapping adds parameters and columns, and their texts are from
/// drivers/*/tables.sql.
/// @param query only reads. @param change may change messages. @param record changes anything else.
#define TABLEQ_STATEMENTS(query, change, record) \
  query(catalog, exists, nothing, nothing, place_row) \
  query(catalog, lock, nothing, nothing, nothing) \
  query(catalog, list, nothing, nothing, catalog_row) \
  query(catalog, find, name_request, nothing, catalog_row) \
  record(catalog, insert, new_queue_request, nothing, nothing) \
  record(catalog, remove, name_request, nothing, nothing) \
  query(table, exists, nothing, nothing, present_row, .once = true) \
  query(queue, lock, nothing, identity_request, nothing, .unless = &capabilities::one_writer) \
  query(queue, try_lock, nothing, identity_request, held_row, \
        .unless = &capabilities::one_writer) \
  query(queue, lock_briefly, nothing, identity_request, nothing, .operation = "queue.lock", \
        .unless = &capabilities::one_writer) \
  record(queue, drop, nothing, nothing, nothing) \
  query(notify, send, notice_request, nothing, nothing, \
        .adds = true, .needs = &capabilities::notifies) \
  query(listen, begin, nothing, nothing, nothing, .needs = &capabilities::notifies) \
  query(listen, hold, identity_request, nothing, held_row, .needs = &capabilities::notifies) \
  query(listen, quiet, identity_request, nothing, held_row, .needs = &capabilities::notifies) \
  query(listen, drop, identity_request, nothing, nothing, .needs = &capabilities::notifies) \
  query(listen, end, nothing, nothing, nothing, .needs = &capabilities::notifies) \
  query(doctor, database, doctor_request, nothing, finding_row) \
  query(doctor, queue, doctor_request, nothing, finding_row) \
  query(doctor, ids, nothing, nothing, finding_row) \
  change(heap, enqueue, nothing, plain_item, id_row, .lane = lane::add) \
  change(heap, dequeue, read_request, nothing, message_row, \
        .lane = lane::read, .order = by_time) \
  query(heap, peek, read_request, nothing, message_row, .order = by_time) \
  change(heap, purge, read_request, nothing, id_row) \
  query(heap, stats, read_request, nothing, count_row) \
  change(fifo, enqueue, nothing, plain_item, id_row, .lane = lane::add) \
  change(fifo, dequeue, read_request, nothing, message_row, \
        .lane = lane::read, .order = by_time) \
  query(fifo, peek, read_request, nothing, message_row, .order = by_time) \
  change(fifo, purge, read_request, nothing, id_row) \
  query(fifo, stats, read_request, nothing, count_row) \
  change(lifo, enqueue, nothing, plain_item, id_row, .lane = lane::add) \
  change(lifo, dequeue, read_request, nothing, message_row, \
        .lane = lane::read, .order = newest_first) \
  query(lifo, peek, read_request, nothing, message_row, .order = newest_first) \
  change(lifo, purge, read_request, nothing, id_row) \
  query(lifo, stats, read_request, nothing, count_row) \
  change(pending, enqueue, nothing, pending_item, id_row, .lane = lane::add) \
  change(pending, dequeue, read_request, nothing, message_row, \
        .lane = lane::read, .order = by_time) \
  query(pending, peek, read_request, nothing, message_row, .order = by_time) \
  change(pending, purge, read_request, nothing, id_row) \
  query(pending, stats, read_request, nothing, count_row) \
  query(pending, next_due, nothing, nothing, delay_row) \
  change(claim, enqueue, nothing, claim_item, id_row, .lane = lane::add) \
  query(claim, find_key, nothing, key_item, id_row) \
  change(claim, replace, replace_request, claim_item, id_row) \
  change(claim, forget, nothing, key_item, id_row) \
  change(claim, free, nothing, key_item, id_row) \
  change(claim, take, take_request, nothing, delivery_row, \
        .lane = lane::read, .order = by_priority, .in_tables = statement::table_take) \
  query(claim, due, promote_request, nothing, grouped_row, .unless = &capabilities::one_writer) \
  change(claim, promote, promote_request, nothing, state_row, .lane = lane::promote) \
  change(claim, complete, nothing, receipt, id_row, \
        .lane = lane::complete, .in_tables = statement::table_complete) \
  change(claim, keep, keep_request, receipt, id_row, \
        .lane = lane::complete, .operation = "claim.complete") \
  change(claim, fail, fail_request, fail_item, state_row, \
        .lane = lane::fail, .in_tables = statement::table_fail) \
  change(claim, release, nothing, receipt, id_row, \
        .lane = lane::release, .in_tables = statement::table_release) \
  change(claim, extend, extend_request, receipt, id_row, \
        .lane = lane::extend, .in_tables = statement::table_extend) \
  change(claim, heartbeat, extend_request, receipt, id_row) \
  query(claim, lost, nothing, receipt, id_row, .finds_lost = true) \
  query(claim, peek, read_request, nothing, stored_row) \
  query(claim, list, list_request, nothing, stored_row) \
  TABLEQ_DETAILS(query, list, list_request, nothing, "claim.list") \
  change(claim, redrive, nothing, message_id, id_row) \
  change(claim, remove, states_request, message_id, removed_row) \
  change(claim, adopt, nothing, restore_item, id_row) \
  change(claim, restore, nothing, restore_item, id_row) \
  query(claim, group_of, nothing, message_id, group_row) \
  query(claim, groups_in_use, advance_request, group_item, group_use_row, \
        .needs = &capabilities::one_writer) \
  change(claim, advance, advance_request, group_item, id_row) \
  change(claim, purge, purge_request, nothing, id_row) \
  query(claim, stats, read_request, nothing, claim_count_row) \
  query(claim, next_due, nothing, nothing, delay_row) \
  change(fifo, dequeue_strict, read_request, nothing, message_row, \
        .lane = lane::read, .order = by_time, .operation = "fifo.dequeue") \
  change(lifo, dequeue_strict, read_request, nothing, message_row, \
        .lane = lane::read, .order = newest_first, .operation = "lifo.dequeue") \
  query(claim, list_ready, list_request, nothing, stored_row, .operation = "claim.list") \
  TABLEQ_DETAILS(query, list_ready, list_request, nothing, "claim.list") \
  query(claim, list_held, list_request, nothing, stored_row, .operation = "claim.list") \
  TABLEQ_DETAILS(query, list_held, list_request, nothing, "claim.list") \
  query(claim, list_waiting, list_request, nothing, stored_row, .operation = "claim.list") \
  TABLEQ_DETAILS(query, list_waiting, list_request, nothing, "claim.list") \
  query(claim, get, nothing, message_id, stored_row) \
  TABLEQ_DETAILS(query, get, nothing, message_id, "claim.get") \
  query(claim, find, key_item, nothing, stored_row) \
  change(claim, cancel, states_request, message_id, id_row) \
  change(claim, set_priority, nothing, priority_item, id_row) \
  query(claim, state_of, nothing, message_id, state_row) \
  query(limits, read, limits_request, nothing, limits_row) \
  record(limits, ask, limits_request, nothing, limits_row) \
  record(limits, lock, limits_request, nothing, limits_lock_row) \
  /* As limits.lock, in a transaction that tableq has begun. */ \
  query(limits, held, limits_request, nothing, limits_lock_row, .operation = "limits.lock") \
  record(limits, spend, spend_request, nothing, nothing) \
  record(limits, pause, pause_request, nothing, nothing) \
  record(limits, set, limits_set_request, nothing, nothing) \
  record(limits, remove, limits_request, nothing, nothing) \
  query(queue, count, room_request, nothing, number_row) \
  query(claim, count, room_request, nothing, number_row) \
  query(claim, leased, read_request, nothing, number_row) \
  query(claim, unseen, nothing, message_id, id_row) \
  query(session, identity, nothing, nothing, database_row) \
  query(catalog, migrator, nothing, nothing, held_row) \
  record(catalog, set_layout, layout_request, nothing, present_row) \
  query(claim, letters, letters_request, nothing, letters_row) \
  query(queue, alter, alter_request, nothing, sessions_row) \
  /* The change of a take after a query, and a payload that this has left out. */ \
  change(claim, lease, lease_request, message_id, id_row, \
        .operation = "claim.take", .optional = true) \
  query(claim, payload, nothing, message_id, payload_row, \
        .operation = "claim.take", .optional = true) \
  change(claim, look, take_request, nothing, look_row, \
        .lane = lane::read, .order = by_priority, .operation = "claim.take", .tells = true, \
        .needs = &capabilities::takes_look) \
  change(claim, take_limited, take_request, nothing, limited_row, \
        .lane = lane::read, .order = by_priority, .operation = "claim.take", .tells = true, \
        .needs = &capabilities::takes_look) \
  query(catalog, queue, name_request, nothing, queue_row, .once = true) \
  record(catalog, set_options, options_request, nothing, present_row) \
  change(claim, make_ready, promote_request, message_id, state_row) \
  query(claim, filter, filter_request, nothing, found_row, .operation = "claim.list") \
  change(claim, progress, nothing, progress_item, id_row) \
  change(claim, keep_result, keep_request, result_item, id_row, \
        .lane = lane::complete, .operation = "claim.complete") \
  query(claim, notes, nothing, message_id, note_row) \
  query(claim, outcome, nothing, message_id, outcome_row) \
  query(claim, groups, groups_request, nothing, waiting_row) \
  query(queue, hidden, nothing, nothing, finding_row) \
  query(schedules, due, read_request, nothing, due_rule_row) \
  record(schedules, fire, fire_request, nothing, periodic_row) \
  query(schedules, list, name_request, nothing, rule_row) \
  record(schedules, remove, name_request, nothing, rule_row) \
  record(schedules, insert, rule_row, nothing, nothing) \
  record(batch, begin, batch_begin_request, nothing, batch_row) \
  record(batch, add, batch_add_request, nothing, batch_row) \
  record(batch, seal, batch_request, nothing, batch_row) \
  query(batch, open, batch_list_request, nothing, batch_open_row) \
  record(batch, lock, batch_request, nothing, batch_end_row) \
  record(batch, finish, batch_request, nothing, batch_counts_row) \
  record(batch, clear, batch_request, nothing, nothing) \
  record(batch, forget, purge_request, nothing, nothing) \
  query(batch, list, batch_list_request, nothing, batch_info_row) \
  query(batch, members, members_page_request, nothing, member_row) \
  query(batch, of, members_request, message_id, batch_of_row) \
  query(batch, strays, members_page_request, nothing, stray_row) \
  record(batch, join, members_request, member_item, nothing) \
  /* Where rows of a change are dear, batch.of and remove take its place. */ \
  record(batch, leave, members_request, message_id, batch_row, \
        .unless = &capabilities::one_writer) \
  record(batch, remove, members_request, message_id, nothing, \
        .needs = &capabilities::one_writer) \
  record(batch, mark, members_request, message_id, batch_row) \
  record(batch, mark_all, members_request, nothing, nothing) \
  record(batch, rejoin, members_request, rejoin_item, nothing) \
  query(claim, tokens, limits_request, group_item, tokens_row) \
  change(claim, hold, nothing, message_id, id_row) \
  change(claim, advance_limited, advance_request, group_item, advanced_row) \
  query(claim, next_groups, next_groups_request, nothing, group_row) \
  query(group, list, group_list_request, nothing, group_limits_row) \
  query(group, others, group_limits_request, nothing, other_limits_row) \
  record(group, remove, group_limits_request, nothing, nothing) \
  record(group, remove_all, group_limits_request, nothing, nothing) \
  record(group, insert, group_limits_request, nothing, nothing) \
  record(group, apply, group_limits_request, nothing, nothing) \
  record(group, start, limits_request, start_item, nothing) \
  record(group, forget, forget_starts_request, nothing, present_row) \
  query(group, late, group_list_request, nothing, group_row) \
  query(table, find, table_request, nothing, found_table_row, .optional = true) \
  query(table, columns, table_request, nothing, table_column_row, .optional = true) \
  query(table, keys, table_request, nothing, unique_column_row, .optional = true) \
  query(table, indexes, table_request, nothing, index_column_row, .optional = true) \
  change(table, insert, nothing, nothing, placed_row, .optional = true) \
  change(table, take, take_request, nothing, placed_row, \
        .lane = lane::read, .order = by_place, .optional = true) \
  /* Settlements wait for no open take: they may be what ends it. */ \
  record(table, complete, nothing, held_row_item, changed_row, \
        .lane = lane::complete, .optional = true) \
  record(table, fail, nothing, failed_row_item, changed_row, \
        .lane = lane::fail, .optional = true) \
  record(table, release, nothing, held_row_item, changed_row, \
        .lane = lane::release, .optional = true) \
  record(table, extend, extend_request, held_row_item, changed_row, \
        .lane = lane::extend, .optional = true) \
  record(table, keep, extend_request, held_row_item, changed_row, .optional = true) \
  query(table, lost, nothing, held_row_item, changed_row, \
        .finds_lost = true, .optional = true) \
  record(table, return, expire_rows_request, nothing, changed_row, \
        .lane = lane::promote, .optional = true) \
  record(table, requeue, requeue_rows_request, nothing, changed_row, .optional = true) \
  query(table, peek, read_request, nothing, placed_row, .optional = true) \
  query(table, count, read_request, nothing, row_count_row, .optional = true) \
  query(table, next, nothing, nothing, delay_row, .optional = true)

// clang-format on

#define TABLEQ_ENUMERATOR(group, name, ...) group##_##name,

enum class statement : std::uint8_t {
  TABLEQ_STATEMENTS(TABLEQ_ENUMERATOR, TABLEQ_ENUMERATOR, TABLEQ_ENUMERATOR) after_all
};
constexpr std::size_t statement_count = static_cast<std::size_t>(statement::after_all);

enum class value_type : std::uint8_t { integer, text, bytes };

/// A parameter or a column.
struct field {
  std::string_view name;
  value_type type;
};

/// Calls of one lane may share a unit of work.
enum class lane : std::uint8_t {
  add,
  add_keyed,  ///< May wait for an open transaction that holds the same key.
  read,
  promote,
  complete,  ///< The first settlement.
  fail,
  release,
  extend,
  none,  ///< Never combined.
};
constexpr std::size_t lane_count = static_cast<std::size_t>(lane::none);

}  // namespace tableq::inline v0::core
