#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tableq::inline v0::core {

// clang-format off

/// The statement before it with other columns: see message_detail.
#define TABLEQ_DETAILS(query, name, shared, items)    \
  query(claim, name##_outline, shared, items, stored_row) \
  query(claim, name##_seen, shared, items, stored_row)

/// Every statement that core needs of a database: both parts of its name, then the types of the
/// shared parameters, of each item, and of each row (core/seam/*_requests.hpp). Its text is in
/// drivers/*/statements.sql under its name. Those from `table_insert` on are on tables of applications:
/// the mapping makes their parameters, and their texts are from drivers/*/tables.sql.
/// @param query only reads. @param change may change messages. @param record changes anything else.
#define TABLEQ_STATEMENTS(query, change, record)                        \
  query(catalog, exists, nothing, nothing, place_row)                   \
  query(catalog, lock, nothing, nothing, nothing)                       \
  query(catalog, list, nothing, nothing, catalog_row)                   \
  query(catalog, find, name_request, nothing, catalog_row)              \
  record(catalog, insert, new_queue_request, nothing, nothing)          \
  record(catalog, remove, name_request, nothing, nothing)               \
  query(table, exists, nothing, nothing, present_row)                   \
  query(queue, lock, nothing, identity_request, nothing)                       \
  record(queue, drop, nothing, nothing, nothing)                        \
  query(notify, send, notice_request, nothing, nothing)                 \
  query(listen, begin, nothing, nothing, nothing)                       \
  query(listen, hold, identity_request, nothing, held_row)              \
  query(listen, quiet, identity_request, nothing, held_row)             \
  query(listen, drop, identity_request, nothing, nothing)               \
  query(listen, end, nothing, nothing, nothing)                         \
  query(doctor, database, doctor_request, nothing, finding_row)         \
  query(doctor, queue, doctor_request, nothing, finding_row)            \
  query(doctor, ids, nothing, nothing, finding_row)                     \
  change(heap, enqueue, clock_request, plain_item, id_row)              \
  change(heap, dequeue, timed_read_request, nothing, message_row)       \
  query(heap, peek, timed_read_request, nothing, message_row)           \
  change(heap, purge, timed_read_request, nothing, id_row)              \
  query(heap, stats, timed_read_request, nothing, count_row)            \
  change(fifo, enqueue, clock_request, plain_item, id_row)              \
  change(fifo, dequeue, timed_read_request, nothing, message_row)       \
  query(fifo, peek, timed_read_request, nothing, message_row)           \
  change(fifo, purge, timed_read_request, nothing, id_row)              \
  query(fifo, stats, timed_read_request, nothing, count_row)            \
  change(lifo, enqueue, clock_request, plain_item, id_row)              \
  change(lifo, dequeue, timed_read_request, nothing, message_row)       \
  query(lifo, peek, timed_read_request, nothing, message_row)           \
  change(lifo, purge, timed_read_request, nothing, id_row)              \
  query(lifo, stats, timed_read_request, nothing, count_row)            \
  change(pending, enqueue, clock_request, pending_item, id_row)         \
  change(pending, dequeue, timed_read_request, nothing, message_row)    \
  query(pending, peek, timed_read_request, nothing, message_row)        \
  change(pending, purge, timed_read_request, nothing, id_row)           \
  query(pending, stats, timed_read_request, nothing, count_row)         \
  query(pending, next_due, clock_request, nothing, delay_row)           \
  change(claim, enqueue, clock_request, claim_item, id_row)             \
  query(claim, find_key, nothing, key_item, id_row)                     \
  change(claim, replace, replace_request, claim_item, id_row)         \
  change(claim, forget, clock_request, key_item, id_row)                \
  change(claim, free, clock_request, key_item, id_row)                  \
  change(claim, take, take_request, nothing, delivery_row)              \
  change(claim, promote, promote_request, nothing, state_row)           \
  change(claim, complete, nothing, receipt, id_row)                \
  change(claim, keep, keep_request, receipt, id_row)               \
  change(claim, fail, fail_request, fail_item, state_row)               \
  change(claim, release, clock_request, receipt, id_row)           \
  change(claim, extend, extend_request, receipt, id_row)           \
  change(claim, heartbeat, extend_request, receipt, id_row)        \
  query(claim, lost, nothing, receipt, id_row)                     \
  query(claim, peek, timed_read_request, nothing, stored_row)           \
  query(claim, list, list_request, nothing, stored_row)        \
  TABLEQ_DETAILS(query, list, list_request, nothing)                    \
  change(claim, redrive, clock_request, message_id, id_row)                \
  change(claim, remove, states_request, message_id, removed_row)           \
  change(claim, adopt, nothing, restore_item, id_row)                   \
  change(claim, restore, clock_request, restore_item, id_row)           \
  query(claim, group_of, nothing, message_id, group_row)                   \
  change(claim, advance, advance_request, group_item, id_row)           \
  change(claim, purge, purge_request, nothing, id_row)                  \
  query(claim, stats, timed_read_request, nothing, claim_count_row)     \
  query(claim, next_due, clock_request, nothing, delay_row)             \
  change(fifo, dequeue_strict, timed_read_request, nothing, message_row) \
  change(lifo, dequeue_strict, timed_read_request, nothing, message_row) \
  query(claim, list_ready, list_request, nothing, stored_row)     \
  TABLEQ_DETAILS(query, list_ready, list_request, nothing)              \
  query(claim, list_held, list_request, nothing, stored_row)      \
  TABLEQ_DETAILS(query, list_held, list_request, nothing)               \
  query(claim, list_waiting, list_request, nothing, stored_row) \
  TABLEQ_DETAILS(query, list_waiting, list_request, nothing)            \
  query(claim, get, nothing, message_id, stored_row)                       \
  TABLEQ_DETAILS(query, get, nothing, message_id)                       \
  query(claim, find, key_request, nothing, stored_row)                  \
  change(claim, cancel, states_request, message_id, id_row)                \
  change(claim, set_priority, nothing, priority_item, id_row)           \
  query(claim, state_of, nothing, message_id, state_row)                   \
  query(limits, read, limits_request, nothing, limits_row)              \
  record(limits, ask, limits_request, nothing, limits_row)              \
  record(limits, lock, limits_request, nothing, limits_lock_row)        \
  /* As limits.lock, in a transaction that tableq has begun. */         \
  query(limits, held, limits_request, nothing, limits_lock_row)         \
  record(limits, spend, spend_request, nothing, nothing)                \
  record(limits, pause, pause_request, nothing, nothing)                \
  record(limits, set, limits_set_request, nothing, nothing)             \
  record(limits, remove, limits_request, nothing, nothing)              \
  query(queue, count, room_request, nothing, number_row)                \
  query(claim, count, room_request, nothing, number_row)                \
  query(claim, leased, timed_read_request, nothing, number_row)             \
  query(claim, unseen, nothing, message_id, id_row)                        \
  query(session, identity, nothing, nothing, database_row)              \
  query(catalog, migrator, nothing, nothing, held_row)                  \
  record(catalog, set_layout, layout_request, nothing, present_row)     \
  query(claim, letters, letters_request, nothing, letters_row)          \
  query(queue, alter, alter_request, nothing, sessions_row)             \
  query(claim, lengthy, nothing, nothing, id_row)                       \
  change(claim, look, take_request, nothing, look_row)                  \
  change(claim, take_limited, take_request, nothing, limited_row) \
  query(catalog, queue, name_request, nothing, queue_row)               \
  record(catalog, set_options, options_request, nothing, present_row)   \
  change(claim, make_ready, regroup_request, message_id, state_row)        \
  query(claim, filter, filter_request, nothing, found_row)              \
  change(claim, progress, clock_request, progress_item, id_row)         \
  change(claim, keep_result, keep_request, result_item, id_row)         \
  query(claim, notes, nothing, message_id, note_row)                       \
  query(claim, outcome, nothing, message_id, outcome_row)                  \
  query(claim, groups, groups_request, nothing, waiting_row)            \
  query(queue, hidden, nothing, nothing, finding_row)                   \
  query(schedules, due, timed_read_request, nothing, due_rule_row)       \
  record(schedules, fire, fire_request, nothing, periodic_row)          \
  record(schedules, problem, rule_problem_request, nothing, nothing)    \
  query(schedules, list, rule_request, nothing, rule_row)               \
  record(schedules, remove, rule_request, nothing, rule_row)            \
  record(schedules, insert, rule_row, nothing, nothing)                 \
  record(batch, begin, batch_begin_request, nothing, batch_row)         \
  record(batch, add, batch_add_request, nothing, batch_row)             \
  record(batch, seal, batch_seal_request, nothing, batch_row)           \
  query(batch, open, batch_after_request, nothing, batch_open_row)      \
  record(batch, lock, batch_request, nothing, batch_end_row)            \
  record(batch, finish, batch_request, nothing, batch_counts_row)       \
  record(batch, clear, batch_request, nothing, nothing)                 \
  record(batch, forget, batch_forget_request, nothing, nothing)         \
  query(batch, list, batch_list_request, nothing, batch_info_row)       \
  query(batch, members, batch_members_request, nothing, member_row)     \
  query(batch, of, member_queue_request, message_id, batch_of_row)         \
  query(batch, strays, batch_after_request, nothing, stray_row)         \
  record(batch, join, member_queue_request, member_item, nothing)       \
  /* Where rows of a change are dear, batch.of and remove take its place. */ \
  record(batch, leave, member_queue_request, message_id, batch_row)        \
  record(batch, remove, member_queue_request, message_id, nothing)         \
  record(batch, mark, member_mark_request, message_id, batch_row)          \
  record(batch, mark_all, member_mark_request, nothing, nothing)        \
  record(batch, rejoin, member_queue_request, rejoin_item, nothing)     \
  query(claim, tokens, limits_request, group_item, tokens_row)          \
  change(claim, hold, nothing, message_id, id_row)                         \
  change(claim, advance_limited, advance_request, group_item, advanced_row) \
  query(claim, next_groups, next_groups_request, nothing, group_row)    \
  query(group, list, group_list_request, nothing, group_limits_row)     \
  record(group, remove, group_limits_request, nothing, nothing)         \
  record(group, insert, group_limits_request, nothing, nothing)         \
  record(group, apply, group_limits_request, nothing, nothing)          \
  record(group, start, limits_request, start_item, nothing)             \
  record(group, forget, forget_starts_request, nothing, nothing)        \
  query(table, find, table_request, nothing, found_table_row)           \
  query(table, columns, table_request, nothing, table_column_row)       \
  query(table, keys, table_request, nothing, unique_column_row)         \
  query(table, indexes, table_request, nothing, index_column_row)       \
  change(table, insert, nothing, nothing, nothing)                      \
  change(table, take, nothing, nothing, nothing)                        \
  /* Settlements wait for no open take: they may be what ends it. */    \
  record(table, complete, nothing, nothing, nothing)                    \
  record(table, fail, nothing, nothing, nothing)                        \
  record(table, release, nothing, nothing, nothing)                     \
  record(table, extend, nothing, nothing, nothing)                      \
  record(table, keep, nothing, nothing, nothing)                        \
  query(table, lost, nothing, nothing, nothing)                         \
  record(table, return, nothing, nothing, nothing)                      \
  record(table, requeue, nothing, nothing, nothing)                     \
  query(table, peek, nothing, nothing, nothing)                         \
  query(table, count, nothing, nothing, nothing)                        \
  query(table, next, nothing, nothing, nothing)

// clang-format on

#define TABLEQ_ENUMERATOR(group, name, ...) group##_##name,

enum class statement : std::uint8_t {
  TABLEQ_STATEMENTS(TABLEQ_ENUMERATOR, TABLEQ_ENUMERATOR, TABLEQ_ENUMERATOR)
};

/// How many there are.
inline constexpr std::size_t statement_count = static_cast<std::size_t>(statement::table_next) + 1;

enum class value_type : std::uint8_t { integer, text, bytes };

/// A parameter or a column.
struct field {
  std::string_view name;
  value_type type;
};

}  // namespace tableq::inline v0::core
