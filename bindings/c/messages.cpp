// Enqueues, destructive reads, and what claim queues do with messages that nobody has taken.

#include <array>
#include <functional>
#include <initializer_list>

#include <tableq/tableq.hpp>

#include "batch.hpp"
#include "fields.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace tableq_c {
namespace {

constexpr const char* destructive_queues = "heap, fifo, lifo and pending queues";

// The outcomes stand in the order of tq_outcome.
int outcome_of(tableq::enqueue_result effect) noexcept {
  static_assert(TQ_OUTCOME_ADDED + static_cast<int>(tableq::enqueue_result::postponed) ==
                TQ_OUTCOME_POSTPONED);
  return TQ_OUTCOME_ADDED + static_cast<int>(effect);
}
int outcome_of(tableq::change_result effect) noexcept {
  static_assert(1 + static_cast<int>(tableq::change_result::not_found) == TQ_OUTCOME_NOT_THERE);
  return effect == tableq::change_result::applied ? TQ_OUTCOME_APPLIED
                                                  : 1 + static_cast<int>(effect);
}
result result_of_changes(const std::vector<tableq::change_result>& changes) {
  std::vector<int> out;
  out.reserve(changes.size());
  for (const tableq::change_result each : changes) out.push_back(outcome_of(each));
  return result_of_outcomes(std::move(out));
}

using tableq::message;
constexpr std::array message_columns = {
    member<message, &message::id>("id"),
    member_as<bytes, message, &message::payload>("payload"),
    member<message, &message::created_at>("created_at"),
    member<message, &message::due_at>("due_at"),
};
result result_of(std::vector<message> messages) {
  return made(std::move(messages), message_columns);
}

constexpr std::array row_columns = {
    member<result>("row"),
};
result result_of(const std::vector<tableq::row>& table_rows) {
  std::vector<result> out;
  out.reserve(table_rows.size());
  for (const tableq::row& each : table_rows) out.push_back(result_of_columns(each));
  return made(std::move(out), row_columns);
}

using tableq::awaited;
constexpr std::array awaited_columns = {
    column<awaited>{"ending", [](const awaited& of) { return as_field(static_cast<int>(of.how)); }},
    member<awaited, &awaited::state>("state"),
    member_as<bytes, awaited, &awaited::result>("result"),
    member<awaited, &awaited::error, &tableq::failure_record::error>("error"),
    member<awaited, &awaited::error, &tableq::failure_record::at>("error_at"),
};
static_assert(static_cast<int>(awaited::ending::done) == TQ_ENDING_DONE);
static_assert(static_cast<int>(awaited::ending::dead) == TQ_ENDING_DEAD);
static_assert(static_cast<int>(awaited::ending::gone) == TQ_ENDING_GONE);
static_assert(static_cast<int>(awaited::ending::waiting) == TQ_ENDING_WAITING);

using tableq::limited_group;
constexpr std::array limited_group_columns = {
    member<limited_group, &limited_group::group>("group"),
    member<limited_group, &limited_group::limits, &tableq::group_limits::running>("running"),
    member<limited_group, &limited_group::limits, &tableq::group_limits::rate>("rate"),
    member<limited_group, &limited_group::limits, &tableq::group_limits::burst>("burst"),
    member<limited_group, &limited_group::limits, &tableq::group_limits::weight>("weight"),
};
using tableq::waiting_group;
constexpr std::array waiting_group_columns = {
    member<waiting_group, &waiting_group::group>("group"),
    member<waiting_group, &waiting_group::waiting>("waiting"),
    member<waiting_group, &waiting_group::oldest>("oldest"),
};
using tableq::redriven;
constexpr std::array redriven_columns = {
    member<redriven, &redriven::count>("count"),
    member<redriven, &redriven::key_held>("key_held"),
};

/// The result of an enqueue.
struct added_row {
  std::int64_t id = 0;
  int outcome = TQ_OUTCOME_ADDED;
  result row = {};  ///< Of a table.
};
constexpr std::array added_columns = {
    member<added_row, &added_row::id>("id"),
    member<added_row, &added_row::outcome>("outcome"),
    member<added_row, &added_row::row>("row"),
};

added_row enqueued(tableq::claim_queue& queue, std::string_view payload,
                   const message_values& values) {
  const tableq::enqueued added = queue.enqueue(payload, values.claim_options(), values.full);
  return {.id = added.id.value, .outcome = outcome_of(added.result)};
}
added_row enqueued(tableq::pending_queue& queue, std::string_view payload,
                   const message_values& values) {
  return {.id = queue.enqueue(payload, values.pending_options(), values.full).value};
}
added_row enqueued(tableq::plain_queue& queue, std::string_view payload,
                   const message_values& values) {
  return {.id = queue.enqueue(payload, values.plain_options(), values.full).value};
}

added_row enqueue(tq_queue* queue, tq_transaction* tx, std::string_view payload,
                  const tq_options* options) {
  return on(queue, tx, [&](auto& bound) -> added_row {
    if constexpr (is_table<std::remove_reference_t<decltype(bound)>>) {
      if (!payload.empty()) refuse("a row has no payload: its columns are its options");
      static_cast<void>(bound.enqueue(values_of<tableq::row>(options)));
      return {};
    } else {
      return enqueued(bound, payload, values_of<message_values>(options));
    }
  });
}

/// For kinds with fewer options.
template <class Message, class Options>
std::vector<Message> narrowed(const tq_batch& batch, Options options_of) {
  message_values all;
  all.keys = batch.keys;
  static_cast<void>(std::invoke(options_of, all));  // Refuses keys that these kinds do not have.
  std::vector<Message> out;
  out.reserve(batch.size());
  for (const tableq::new_claim_message& each : items_of<tq_batch::messages>(batch)) {
    message_values one;
    static_cast<tableq::claim_enqueue_options&>(one) = each.options;
    out.push_back({.payload = each.payload, .options = std::invoke(options_of, one)});
  }
  return out;
}

std::vector<added_row> rows_of_ids(const std::vector<tableq::message_id>& ids) {
  std::vector<added_row> out;
  out.reserve(ids.size());
  for (const tableq::message_id each : ids) out.push_back({.id = each.value});
  return out;
}

std::vector<added_row> enqueued_all(tableq::claim_queue& queue, const tq_batch& batch,
                                    const tableq::when_full& full) {
  std::vector<added_row> out;
  out.reserve(batch.size());
  for (const tableq::enqueued& each :
       queue.enqueue_batch(items_of<tq_batch::messages>(batch), full)) {
    out.push_back({.id = each.id.value, .outcome = outcome_of(each.result)});
  }
  return out;
}
std::vector<added_row> enqueued_all(tableq::pending_queue& queue, const tq_batch& batch,
                                    const tableq::when_full& full) {
  const auto all = narrowed<tableq::new_pending_message>(batch, &message_values::pending_options);
  return rows_of_ids(queue.enqueue_batch(all, full));
}
std::vector<added_row> enqueued_all(tableq::plain_queue& queue, const tq_batch& batch,
                                    const tableq::when_full& full) {
  const auto all = narrowed<tableq::new_message>(batch, &message_values::plain_options);
  return rows_of_ids(queue.enqueue_batch(all, full));
}
std::vector<added_row> enqueued_all(tableq::table_queue& queue, const tq_batch& batch,
                                    const tableq::when_full& full) {
  if (full.wait.count() != 0) refuse("tables have no limits, so nothing waits for room");
  std::vector<added_row> out;
  for (const tableq::row& each : queue.enqueue_batch(items_of<std::vector<tableq::row>>(batch))) {
    out.push_back({.row = result_of_columns(each)});
  }
  return out;
}

tableq::message_state state_of(const char* word) {
  return named<tableq::message_state>(word_of(word), "state");
}

using priorities = std::vector<tableq::new_priority>;
std::vector<tableq::message_id> ids_of(const tq_batch* batch) {
  std::vector<tableq::message_id> out;
  for (const tableq::new_priority& each : items_of<priorities>(checked(batch))) {
    out.push_back(each.id);
  }
  return out;
}

/// The position after a page.
std::optional<tableq::stored_message> last_of(const tq_result& page) {
  const auto* const items = items_of<listed_row>(page);
  if (items != nullptr && items->empty()) return std::nullopt;
  if (items == nullptr || !items->back().message) {  // Of tq_get_batch: no such message.
    refuse("`after` is the previous page, a result of tq_list");
  }
  const tableq::stored_message& last = *items->back().message;
  tableq::stored_message out;
  out.id = last.id;
  out.state = last.state;
  out.priority = last.priority;
  out.created_at = last.created_at;
  out.due_at = last.due_at;
  out.finished_at = last.finished_at;
  return out;
}

std::int64_t purged(tableq::claim_queue& queue, const char* state,
                    const tableq::purge_options& options) {
  return static_cast<std::int64_t>(queue.purge(state_of(state), options));
}
std::int64_t purged(tableq::destructive_queue& queue, const char* state,
                    const tableq::purge_options& /*options*/) {
  if (state != nullptr) refuse("only messages of claim queues have a state; give NULL");
  return static_cast<std::int64_t>(queue.purge());
}
std::int64_t purged(tableq::table_queue& queue, const char* /*state*/,
                    const tableq::purge_options& /*options*/) {
  refuse_kind(queue, "tq_purge", "tableq's own queues");
}

const char* name_among(std::initializer_list<const char*> names, int number) {
  const bool known = number >= 0 && static_cast<std::size_t>(number) < names.size();
  return known ? names.begin()[number] : "unknown";
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

const char* tq_outcome_name(int outcome) {
  return name_among({"applied", "lease_lost", "running", "finished", "not_there", "added",
                     "kept_first", "replaced", "postponed"},
                    outcome);
}

const char* tq_ending_name(int ending) {
  return name_among({"done", "dead", "gone", "waiting"}, ending);
}

int tq_enqueue(tq_queue* queue, tq_transaction* tx, const void* payload, size_t size,
               const tq_options* options, int64_t* id, int* outcome, tq_error** error) {
  if (id != nullptr) *id = 0;
  if (outcome != nullptr) *outcome = 0;
  return calling(error, [&] {
    const added_row added = enqueue(queue, tx, text_of(payload, size), options);
    if (id != nullptr) *id = added.id;
    if (outcome != nullptr) *outcome = added.outcome;
  });
}
int tq_enqueue_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* messages,
                     const tq_options* options, tq_result** added, tq_error** error) {
  if (added != nullptr) *added = nullptr;
  return calling(error, [&] {
    const tq_batch& batch = checked(messages);
    const auto& full = values_of<tableq::when_full>(options);
    std::vector<added_row> stored =
        on(queue, tx, [&](auto& bound) { return enqueued_all(bound, batch, full); });
    if (added != nullptr) *added = made(std::move(stored), added_columns).release();
  });
}

int tq_dequeue(tq_queue* queue, tq_transaction* tx, size_t max, const tq_options* options,
               tq_result** messages, tq_error** error) {
  return making(messages, error, [&] {
    const auto& wanted = values_of<read_values>(options);
    if (wanted.for_claim) refuse("lease_ms and claimed_at are for tq_take");
    return on(queue, tx, [&](auto& bound) -> result {
      if constexpr (leases<std::remove_reference_t<decltype(bound)>>) {
        refuse_kind(bound, "tq_dequeue", destructive_queues);
      } else {
        return result_of(bound.dequeue_batch(max, {.wait = wanted.wait, .stop = wanted.stop}));
      }
    });
  });
}
int tq_peek(tq_queue* queue, size_t max, tq_result** messages, tq_error** error) {
  return making(messages, error, [&] {
    return on(queue, nullptr, [&](auto& plain) { return result_of(plain.peek(max)); });
  });
}
int tq_purge(tq_queue* queue, const char* state, const tq_options* options, int64_t* count,
             tq_error** error) {
  return telling(count, error, [&] {
    const auto& wanted = values_of<tableq::purge_options>(options);
    return on(queue, nullptr, [&](auto& plain) { return purged(plain, state, wanted); });
  });
}

int tq_list(tq_queue* queue, const char* state, size_t max, const tq_result* after,
            const tq_options* look, tq_result** messages, tq_error** error) {
  return on_claim(messages, error, queue, nullptr, "tq_list", [&](auto& claim) {
    tableq::page page{.max = max, .with = values_of<tableq::look_options>(look)};
    if (after != nullptr) {
      page.after = last_of(checked(after));
      if (!page.after) return result_of(std::vector<listed>());
    }
    return result_of(claim.list(state_of(state), page));
  });
}
int tq_get(tq_queue* queue, tq_transaction* tx, int64_t id, const tq_options* look,
           tq_result** message, tq_error** error) {
  return on_claim(message, error, queue, tx, "tq_get", [&](auto& claim) {
    return result_of(listed_if(claim.get({id}, values_of<tableq::look_options>(look))));
  });
}
int tq_get_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* ids, const tq_options* look,
                 tq_result** messages, tq_error** error) {
  return on_claim(messages, error, queue, tx, "tq_get_batch", [&](auto& claim) {
    return result_of(claim.get_batch(ids_of(ids), values_of<tableq::look_options>(look)));
  });
}
int tq_wait_for(tq_queue* queue, int64_t id, const tq_options* options, tq_result** message,
                tq_error** error) {
  return making(message, error, [&] {
    const auto& wanted = values_of<read_values>(options);
    if (wanted.for_claim) refuse("lease_ms and claimed_at are for tq_take");
    return on_claim(queue, nullptr, "tq_wait_for", [&](auto& claim) {
      return made_of_one(claim.wait_for({id}, {.wait = wanted.wait, .stop = wanted.stop}),
                         awaited_columns);
    });
  });
}
int tq_find(tq_queue* queue, tq_transaction* tx, const char* key, size_t key_size,
            const tq_options* look, tq_result** message, tq_error** error) {
  return on_claim(message, error, queue, tx, "tq_find", [&](auto& claim) {
    return result_of(
        listed_if(claim.find(text_of(key, key_size), values_of<tableq::look_options>(look))));
  });
}
int tq_groups(tq_queue* queue, size_t max, tq_result** groups, tq_error** error) {
  return on_claim(groups, error, queue, nullptr, "tq_groups",
                  [&](auto& claim) { return made(claim.groups(max), waiting_group_columns); });
}
int tq_set_group_limits(tq_queue* queue, const char* group, size_t group_size,
                        const tq_options* limits, tq_error** error) {
  return calling(error, [&] {
    on_claim(queue, nullptr, "tq_set_group_limits", [&](auto& claim) {
      claim.set_group_limits(values_of<tableq::group_limits>(limits), text_of(group, group_size));
      return true;
    });
  });
}
int tq_group_limits(tq_queue* queue, size_t max, const char* first, size_t first_size,
                    tq_result** limits, tq_result** next, tq_error** error) {
  if (next != nullptr) *next = nullptr;
  return on_claim(limits, error, queue, nullptr, "tq_group_limits", [&](auto& claim) {
    auto found = claim.group_limits({.max = max, .first = std::string(text_of(first, first_size))});
    result out = made(std::move(found.groups), limited_group_columns);
    std::vector<limited_group> begin;
    if (found.next) begin.push_back({.group = std::move(*found.next)});
    if (next != nullptr) *next = made(std::move(begin), limited_group_columns).release();
    return out;
  });
}
int tq_cancel(tq_queue* queue, tq_transaction* tx, int64_t id, int* outcome, tq_error** error) {
  return on_claim(outcome, error, queue, tx, "tq_cancel",
                  [&](auto& claim) { return outcome_of(claim.cancel({id})); });
}
int tq_cancel_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* ids, tq_result** outcomes,
                    tq_error** error) {
  return on_claim(outcomes, error, queue, tx, "tq_cancel_batch",
                  [&](auto& claim) { return result_of_changes(claim.cancel_batch(ids_of(ids))); });
}
int tq_set_priority(tq_queue* queue, tq_transaction* tx, int64_t id, int32_t priority, int* outcome,
                    tq_error** error) {
  return on_claim(outcome, error, queue, tx, "tq_set_priority",
                  [&](auto& claim) { return outcome_of(claim.set_priority({id}, priority)); });
}
int tq_set_priority_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* changes,
                          tq_result** outcomes, tq_error** error) {
  return on_claim(outcomes, error, queue, tx, "tq_set_priority_batch", [&](auto& claim) {
    return result_of_changes(claim.set_priority_batch(items_of<priorities>(checked(changes))));
  });
}
int tq_make_ready(tq_queue* queue, tq_transaction* tx, int64_t id, int* outcome, tq_error** error) {
  return on_claim(outcome, error, queue, tx, "tq_make_ready",
                  [&](auto& claim) { return outcome_of(claim.make_ready({id})); });
}
int tq_make_ready_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* ids,
                        tq_result** outcomes, tq_error** error) {
  return on_claim(outcomes, error, queue, tx, "tq_make_ready_batch", [&](auto& claim) {
    return result_of_changes(claim.make_ready_batch(ids_of(ids)));
  });
}
int tq_redrive(tq_queue* queue, const tq_batch* ids, int64_t* count, tq_error** error) {
  return telling(count, error, [&] {
    return on_claim(queue, nullptr, "tq_redrive", [&](auto& claim) {
      return static_cast<std::int64_t>(claim.redrive(ids_of(ids)));
    });
  });
}
int tq_redrive_all(tq_queue* queue, const tq_options* options, tq_result** redriven,
                   tq_error** error) {
  return on_claim(redriven, error, queue, nullptr, "tq_redrive_all", [&](auto& claim) {
    return made_of_one(claim.redrive_all(values_of<tableq::redrive_options>(options)),
                       redriven_columns);
  });
}
