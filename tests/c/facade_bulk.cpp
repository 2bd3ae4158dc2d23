// Lists and actions by filter, and changes of a queue's options, over tableq.h: see facade.cpp.

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "facade.hpp"

namespace tableq::inline v0 {

using namespace tableq_facade;  // NOLINT(google-build-using-namespace): only this file
using core::access;

namespace {

/// A place in C is a text without a meaning; here it is the four numbers in it.
std::string place_text(const filter_place& place) {
  return std::to_string(place.part) + ":" + std::to_string(place.at) + ":" +
         std::to_string(place.id) + ":" + std::to_string(place.until);
}
filter_place place_of(const std::string& text) {
  std::array<std::int64_t, 4> numbers = {};
  const char* at = text.data();
  for (std::int64_t& each : numbers) {
    at = std::from_chars(at, text.data() + text.size(), each).ptr + 1;
  }
  return {static_cast<int>(numbers[0]), numbers[1], numbers[2], numbers[3]};
}

c_options filter_options(const message_filter& given, const std::optional<filter_place>& after) {
  const c_options out(TQ_FOR_FILTER);
  out.set("state", given.state);
  out.set("older_than_ms", given.older_than);
  if (given.header) out.set_header(given.header->name, given.header->value);
  out.set("group", given.group);
  out.set("key_prefix", given.key_prefix);
  out.set("error", given.error);
  out.set("all", given.all);
  if (after) out.set("after", place_text(*after));
  return out;
}

/// One action. `call(tq_options*, tq_result**, tq_error**)`.
template <class Call>
bulk_result acted(const message_filter& filter, const bulk_options& how, Call call) {
  if (how.progress) refuse("C calls no function of the caller");
  c_options given = filter_options(filter, how.after);
  given.set("dry_run", how.dry_run);
  given.set("batch", how.batch);
  given.set_stop(how.stop);
  const c_result result =
      asked([&](tq_result** r, tq_error** e) { return call(given.get(), r, e); });
  const row_of row{result.get(), 0};
  bulk_result out{.count = row.size("count"),
                  .running = row.size("running"),
                  .changed = row.size("changed"),
                  .key_held = row.size("key_held")};
  if (row.has("stopped_at")) out.stopped_at = place_of(row.text("stopped_at"));
  return out;
}

}  // namespace

filtered_messages claim_queue::list(const message_filter& filter, const filter_page& page) const {
  const c_options given = filter_options(filter, page.after);
  given.set("max", page.max);
  given.set("detail", page.with.detail);
  given.set("progress", page.with.progress);
  given.set("result", page.with.result);
  tq_result* messages = nullptr;
  const c_result next = asked([&](tq_result** r, tq_error** e) {
    return tq_list_by(access::plain(*this), given.get(), &messages, r, e);
  });
  filtered_messages out{.messages = present(c_result(messages))};
  if (next.count() != 0) out.next = place_of(row_of{next.get(), 0}.text("place"));
  return out;
}
bulk_result claim_queue::cancel(const message_filter& filter, const bulk_options& options) {
  return acted(filter, options, [&](tq_options* given, tq_result** r, tq_error** e) {
    return tq_cancel_by(access::plain(*this), given, r, e);
  });
}
bulk_result claim_queue::set_priority(const message_filter& filter, std::int32_t priority,
                                      const bulk_options& options) {
  return acted(filter, options, [&](tq_options* given, tq_result** r, tq_error** e) {
    return tq_set_priority_by(access::plain(*this), priority, given, r, e);
  });
}
bulk_result claim_queue::make_ready(const message_filter& filter, const bulk_options& options) {
  return acted(filter, options, [&](tq_options* given, tq_result** r, tq_error** e) {
    return tq_make_ready_by(access::plain(*this), given, r, e);
  });
}
bulk_result claim_queue::redrive(const message_filter& filter, const bulk_options& options) {
  return acted(filter, options, [&](tq_options* given, tq_result** r, tq_error** e) {
    return tq_redrive_by(access::plain(*this), given, r, e);
  });
}
bulk_result claim_queue::purge(const message_filter& filter, const bulk_options& options) {
  return acted(filter, options, [&](tq_options* given, tq_result** r, tq_error** e) {
    return tq_purge_by(access::plain(*this), given, r, e);
  });
}
change_result claim_queue::make_ready(message_id id) {
  const where in = access::in(*this);
  int outcome = 0;
  done([&](tq_error** e) { return tq_make_ready(in.queue, in.tx(), id.value, &outcome, e); });
  return change_of(outcome);
}
std::vector<change_result> claim_queue::make_ready_batch(const batch_view<message_id>& ids) {
  const where in = access::in(*this);
  const c_batch batch = batch_with(ids.items());
  return changes_of(asked([&](tq_result** r, tq_error** e) {
    return tq_make_ready_batch(in.queue, in.tx(), batch.get(), r, e);
  }));
}

std::vector<option_change> database::alter(text_view name, const queue_changes& changes,
                                           const alter_options& options) {
  const c_options given(TQ_FOR_ALTER);
  given.set("lease_ms", changes.lease);
  given.set("max_attempts", changes.max_attempts);
  given.set("keep_completed", changes.keep_completed);
  given.set_retry(changes.retry);
  given.set("time_to_live_ms", changes.time_to_live);
  given.set("keys", changes.keys);
  given.set("key_window_ms", changes.key_window);
  given.set("group_limit", changes.group_limit);
  given.set("group_on_failure", changes.group_on_failure);
  given.set("dead_letters", changes.dead_letters);
  given.set("retain_done_ms", changes.retain_done);
  given.set("retain_dead_ms", changes.retain_dead);
  given.set("ordering", changes.ordering);
  given.set("groups", changes.groups);
  given.set("group_by_turns", changes.groups_by_turns);
  given.set("dry_run", options.dry_run);
  const std::string_view wanted = name.view();
  return all_of<option_change>(
      asked([&](tq_result** r, tq_error** e) {
        return tq_database_alter(access::of(*this).get(outside_), wanted.data(), wanted.size(),
                                 given.get(), r, e);
      }),
      [](const row_of& row) {
        return option_change{.option = row.text("option"),
                             .before = row.text("before"),
                             .after = row.text("after"),
                             .refused_at_open = row.number("refused_at_open") != 0};
      });
}

}  // namespace tableq::inline v0
