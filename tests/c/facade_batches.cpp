// Batches, schedules and groups over tableq.h: see facade.cpp.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "facade.hpp"

namespace tableq::inline v0 {

using namespace tableq_facade;  // NOLINT(google-build-using-namespace): only this file
using core::access;

// ----------------------------------------------------------------------------------------- batches

namespace {

std::vector<batch_info> batches_of(const c_result& result) {
  return all_of<batch_info>(result, [](const row_of& row) {
    return batch_info{.id = row.number("batch"),
                      .name = row.text("name"),
                      .total = row.size("total"),
                      .outstanding = row.size("outstanding"),
                      .completed = row.size("completed"),
                      .dead = row.size("dead"),
                      .removed = row.size("removed"),
                      .gone = row.size("gone"),
                      .sealed = row.number("sealed") != 0,
                      .cancelled = row.number("cancelled") != 0,
                      .then = row.text("then"),
                      .created_at = row.time("created_at"),
                      .finished_at = row.maybe_time("finished_at"),
                      .counted_to = row.maybe_size("counted_to")};
  });
}

}  // namespace

batch claim_queue::begin_batch(const batch_options& options) {
  const where in = access::in(*this);
  const c_options given(TQ_FOR_BATCH);
  if (!options.name.empty()) given.set("name", options.name);
  given.set_batch("parent", options.parent);
  if (options.then) {
    given.set("then", options.then->queue);
    given.set("key", options.then->key);
    given.set("group", options.then->group);
    given.set("priority", options.then->priority);
    given.set_headers(options.then->headers);
  }
  const std::string payload = options.then ? options.then->payload : std::string();
  std::int64_t id = 0;
  done([&](tq_error** e) {
    return tq_queue_begin_batch(in.queue, in.tx(), payload.data(), payload.size(), given.get(), &id,
                                e);
  });
  return {*this, id};
}
std::optional<batch_id> claim_queue::batch_of(const receipt& taken) const {
  const where in = access::in(*this);
  const std::string text = to_string(taken);
  std::int64_t id = 0;
  done([&](tq_error** e) {
    return tq_queue_batch_of(in.queue, in.tx(), text.data(), text.size(), &id, e);
  });
  return id == 0 ? std::nullopt : std::optional(batch_id{.value = id, .member = taken});
}
batch database::batch(std::int64_t id) const {
  claim_queue through = access::claims_of(std::make_shared<c_queue>(access::shared(*this)));
  return {outside_ ? through.outside() : std::move(through), id};
}
std::vector<batch_info> database::batches(const batch_page& page) const {
  if (page.count_to == 0) {  // In C zero means all.
    throw error(errc::invalid_argument, advice::never, "count_to is at least 1");
  }
  return batches_of(asked([&](tq_result** r, tq_error** e) {
    return tq_database_batches(access::of(*this).get(outside_), page.max, page.before.value_or(0),
                               page.count_to.value_or(0), r, e);
  }));
}
void batch::seal() {
  const where in = access::in(through_);
  tableq_facade::done([&](tq_error** e) {
    return tq_database_seal_batch(access::database_of(through_), in.tx(), id_, e);
  });
}
bool batch::cancel() {
  static_cast<void>(access::plain(through_));
  int open = 0;
  tableq_facade::done([&](tq_error** e) {
    return tq_database_cancel_batch(access::database_of(through_), id_, &open, e);
  });
  return open != 0;
}
std::optional<batch_info> batch::get() const {
  const where in = access::in(through_);
  auto found = batches_of(asked([&](tq_result** r, tq_error** e) {
    return tq_database_find_batch(access::database_of(through_), in.tx(), id_, r, e);
  }));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

// --------------------------------------------------------------------------------------- schedules

namespace {

c_options rule_options(const schedule& given) {
  const c_options out(TQ_FOR_SCHEDULE);
  out.set("name", given.name);
  out.set("queue", given.queue);
  out.set("cron", given.cron);
  out.set("every_ms", given.every);
  out.set("zone", given.zone);
  out.set_headers(given.headers);
  out.set("key", given.key);
  out.set("group", given.group);
  out.set("priority", given.priority);
  out.set("catch_up", given.catch_up);
  out.set("not_later_than_ms", given.not_later_than);
  out.set("skip_if_running", given.skip_if_running);
  return out;
}

std::vector<schedule_info> rules_of(const c_result& result) {
  return all_of<schedule_info>(result, [](const row_of& row) {
    schedule_info out{.rule = {.name = row.text("name"),
                               .queue = row.text("queue"),
                               .cron = row.text("cron"),
                               .every = milliseconds(row.number("every_ms")),
                               .zone = row.text("zone"),
                               .payload = row.text("payload"),
                               .headers = row.headers(),
                               .key = row.maybe_text("key"),
                               .group = row.maybe_text("group"),
                               .priority = static_cast<std::int32_t>(row.number("priority")),
                               .catch_up = static_cast<int>(row.number("catch_up")),
                               .not_later_than = row.maybe_length("not_later_than_ms"),
                               .skip_if_running = row.number("skip_if_running") != 0},
                      .owner = row.text("owner"),
                      .enabled = row.number("enabled") != 0,
                      .problem = row.text("problem"),
                      .last = row.maybe_time("last"),
                      .overdue = row.maybe_time("overdue")};
    const tq_result* const next = tq_result_list(row.result, row.row, "next");
    for (std::size_t i = 0; i < tq_result_count(next); ++i) {
      out.next.push_back(row_of{next, i}.time("at"));
    }
    return out;
  });
}

template <class Call>
bool told_by_name(tq_database* db, text_view name, Call call) {
  const std::string_view wanted = name.view();
  int existed = 0;
  done([&](tq_error** e) { return call(db, wanted.data(), wanted.size(), &existed, e); });
  return existed != 0;
}

}  // namespace

schedules::schedules(std::shared_ptr<core::database_state> state, bool outside) noexcept
    : state_(std::move(state)), outside_(outside) {}
schedules database::schedules() const noexcept {
  return {state_, outside_};
}
void schedules::add(const schedule& rule) {
  const c_options given = rule_options(rule);
  done([&](tq_error** e) {
    return tq_schedule_add(access::shared(state_)->get(outside_), rule.payload.data(),
                           rule.payload.size(), given.get(), e);
  });
}
void schedules::change(const schedule& rule) {
  const c_options given = rule_options(rule);
  done([&](tq_error** e) {
    return tq_schedule_change(access::shared(state_)->get(outside_), rule.payload.data(),
                              rule.payload.size(), given.get(), e);
  });
}
bool schedules::change(text_view name, const std::function<void(schedule&)>& edit) {
  const std::string_view wanted = name.view();
  for (int changed = 0;;) {
    const c_result found = asked([&](tq_result** r, tq_error** e) {
      return tq_schedule_find(access::shared(state_)->get(outside_), wanted.data(), wanted.size(),
                              r, e);
    });
    if (tq_result_count(found.get()) == 0) return false;
    schedule rule = rules_of(found).front().rule;
    edit(rule);
    const c_options given = rule_options(rule);
    done([&](tq_error** e) {
      return tq_schedule_change_found(access::shared(state_)->get(outside_), found.get(),
                                      rule.payload.data(), rule.payload.size(), given.get(),
                                      &changed, e);
    });
    if (changed != 0) return true;
  }
}
bool schedules::pause(text_view name) {
  return told_by_name(access::shared(state_)->get(outside_), name, tq_schedule_pause);
}
bool schedules::resume(text_view name) {
  return told_by_name(access::shared(state_)->get(outside_), name, tq_schedule_resume);
}
bool schedules::remove(text_view name) {
  return told_by_name(access::shared(state_)->get(outside_), name, tq_schedule_remove);
}
std::optional<enqueued> schedules::run_now(text_view name) {
  const std::string_view rule = name.view();
  std::int64_t id = 0;
  int outcome = 0;
  done([&](tq_error** e) {
    return tq_schedule_run_now(access::shared(state_)->get(outside_), rule.data(), rule.size(), &id,
                               &outcome, e);
  });
  if (outcome == 0) return std::nullopt;
  return enqueued{.id = {id}, .result = effect_of(outcome)};
}
declared schedules::declare(text_view owner, const batch_view<schedule>& rules) {
  const std::string_view program = owner.view();
  const c_batch all;
  for (const schedule& each : rules.items()) all.add(each.payload, rule_options(each).get());
  const c_result result = asked([&](tq_result** r, tq_error** e) {
    return tq_schedule_declare(access::shared(state_)->get(outside_), program.data(),
                               program.size(), all.get(), r, e);
  });
  const row_of row{result.get(), 0};
  return {
      .added = row.size("added"), .changed = row.size("changed"), .removed = row.size("removed")};
}
std::vector<schedule_info> schedules::list() const {
  return rules_of(asked([&](tq_result** r, tq_error** e) {
    return tq_schedule_list(access::shared(state_)->get(outside_), r, e);
  }));
}
std::optional<schedule_info> schedules::find(text_view name) const {
  const std::string_view wanted = name.view();
  auto found = rules_of(asked([&](tq_result** r, tq_error** e) {
    return tq_schedule_find(access::shared(state_)->get(outside_), wanted.data(), wanted.size(), r,
                            e);
  }));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

// ------------------------------------------------------------------------------------------ groups

std::vector<waiting_group> claim_queue::groups(std::size_t max) const {
  return all_of<waiting_group>(asked([&](tq_result** r, tq_error** e) {
                                 return tq_groups(access::plain(*this), max, r, e);
                               }),
                               [](const row_of& row) {
                                 return waiting_group{.group = row.text("group"),
                                                      .waiting = row.size("waiting"),
                                                      .oldest = row.time("oldest")};
                               });
}
void claim_queue::set_group_limits(const tableq::group_limits& limits, text_view group) {
  const std::string_view name = group.view();
  const c_options given(TQ_FOR_GROUP_LIMITS);
  given.set("running", limits.running);
  given.set("rate", limits.rate);
  given.set("burst", limits.burst);
  given.set("weight", limits.weight);
  done([&](tq_error** e) {
    return tq_set_group_limits(access::plain(*this), name.data(), name.size(), given.get(), e);
  });
}
limited_groups claim_queue::group_limits(const group_limits_page& page) const {
  tq_result* limits = nullptr;
  const c_result next = asked([&](tq_result** r, tq_error** e) {
    return tq_group_limits(access::plain(*this), page.max, page.first.data(), page.first.size(),
                           &limits, r, e);
  });
  limited_groups out;
  out.groups = all_of<limited_group>(c_result(limits), [](const row_of& row) {
    limited_group one{.group = row.text("group")};
    if (row.has("running")) one.limits.running = static_cast<int>(row.number("running"));
    if (row.has("rate")) one.limits.rate = tq_result_double(row.result, row.row, "rate");
    if (row.has("burst")) one.limits.burst = static_cast<int>(row.number("burst"));
    if (row.has("weight")) one.limits.weight = static_cast<int>(row.number("weight"));
    return one;
  });
  if (next.count() != 0) out.next = row_of{next.get(), 0}.text("group");
  return out;
}

}  // namespace tableq::inline v0
