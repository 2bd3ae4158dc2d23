#include <tableq/schedules.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <tableq/database.hpp>
#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/database/busy_beside.hpp"
#include "core/database/open_transaction.hpp"
#include "core/input/codec.hpp"
#include "core/input/identifier.hpp"
#include "core/queue/effects.hpp"
#include "core/schedule/rules.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

constexpr std::size_t next_times = 5;

schedule rule_of(const rule_row& row) {
  return {.name = row.name,
          .queue = row.queue,
          .cron = row.cron.value_or(""),
          .every = row.every.value_or(std::chrono::milliseconds(0)),
          .zone = row.zone,
          .payload = row.payload,
          .headers = to_headers(row.headers).value_or(headers()),
          .key = row.key,
          .group = row.group,
          .priority = row.priority,
          .catch_up = row.catch_up,
          .not_later_than = row.latest,
          .skip_if_running = row.skip};
}

rule_row row_of(const schedule& rule, std::string_view owner, bool narrow_texts) {
  rule_row out;
  out.name = rule.name;
  if (!owner.empty()) out.owner = owner;
  out.queue = rule.queue;
  if (!rule.cron.empty()) out.cron = rule.cron;
  if (rule.cron.empty()) out.every = rule.every;
  out.zone = rule.zone;
  static_cast<std::string&>(out.payload) = rule.payload;
  if (!rule.headers.empty()) out.headers = encode_headers(rule.headers, narrow_texts);
  out.key = rule.key;
  out.group = rule.group;
  out.priority = rule.priority;
  out.catch_up = rule.catch_up;
  out.latest = rule.not_later_than;
  out.skip = rule.skip_if_running;
  return out;
}

schedule_info info_of(const rule_row& row) {
  schedule_info out{.rule = rule_of(row),
                    .owner = row.owner.value_or(""),
                    .enabled = row.enabled,
                    .problem = row.problem.value_or(""),
                    .last = row.last};
  if (!row.kind && out.problem.empty()) out.problem = "its queue " + row.queue + " does not exist";
  if (!row.enabled) return out;
  if (row.due && *row.due <= row.clock) out.overdue = row.due;
  try {
    const timing when(row.cron, row.every, row.zone);
    timestamp time = row.due && !out.overdue ? *row.due : when.after(row.clock);
    for (std::size_t i = 0; i < next_times; ++i, time = when.after(time)) out.next.push_back(time);
  } catch (const error& failure) {
    if (out.problem.empty()) out.problem = failure.what();
  }
  return out;
}

/// @param name of one of them; empty: all.
std::vector<rule_row> stored_rules(database_state& database, std::string_view name = {}) {
  return database.on_session([&](connection& session) -> std::vector<rule_row> {
    if (!has_feature_tables(database, session)) return {};
    return run(session, names_for(database.options(), {}), statements::schedules_list,
               {.name = name});
  });
}

std::optional<rule_row> first(std::vector<rule_row> rows) {
  return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
}
std::optional<rule_row> stored_rule(database_state& database, std::string_view name) {
  if (name.empty()) return std::nullopt;  // The statement would read all.
  return first(stored_rules(database, name));
}

/// The changes of rules in one transaction, under the catalogue's lock.
class change_of_rules {
  using touched = std::map<std::string, bool>;

 public:
  change_of_rules(database_state& database, connection& session)
      : database_(database), session_(session), names_(names_for(database.options(), {})) {
    run(session_, names_, statements::catalog_lock);
    need_feature_tables(database_, session_, "schedules need");
  }

  [[nodiscard]] std::vector<rule_row> all() const {
    return run(session_, names_, statements::schedules_list, {});
  }
  [[nodiscard]] std::optional<rule_row> find(std::string_view name) const {
    return first(run(session_, names_, statements::schedules_list, {.name = name}));
  }
  /// Waits for a process that follows the rule: what it returns stays true.
  std::optional<rule_row> remove(std::string_view name) {
    auto out = first(run(session_, names_, statements::schedules_remove, {.name = name}));
    if (out) touched_.try_emplace(out->queue, false);
    return out;
  }
  void insert(const schedule& rule, std::string_view owner) {
    store(row_of(rule, owner, database_.narrow_texts()), true);
  }
  /// @param anew its times begin after now.
  void store(const rule_row& rule, bool anew) {
    touched_[rule.queue] = true;
    run(session_, names_, statements::schedules_insert, rule);
    if (!anew) return;
    const rule_row made = find(rule.name).value();  // with the clock
    const timing when(made.cron, made.every, made.zone);
    const timestamp now = std::chrono::floor<std::chrono::seconds>(made.clock);
    fire_request first{made};
    first.next = when.after(std::max(now, made.last.value_or(now)));
    run(session_, names_, statements::schedules_fire, first);
  }
  void replace(const rule_row& before, const schedule& rule) {
    rule_row now = row_of(rule, before.owner.value_or(""), database_.narrow_texts());
    const bool same = before.enabled && now.every == before.every && now.cron == before.cron &&
                      now.zone == before.zone;
    now.enabled = before.enabled || before.problem;
    now.last = before.last;
    if (same) now.due = before.due;
    store(now, now.enabled && !now.due);
  }
  /// Tells the processes that use the queues whether there are rules.
  /// @return the queues.
  std::set<std::string> end() {
    if (!std::ranges::all_of(touched_, &touched::value_type::second)) {
      for (const rule_row& rule : all()) {
        const auto found = touched_.find(rule.queue);
        if (found != touched_.end()) found->second = true;
      }
    }
    std::set<std::string> out;
    for (const auto& [queue, any] : touched_) {
      edit_options(database_, session_, queue,
                   [any = any](queue_info& info) { info.schedules = any; });
      out.insert(queue);
    }
    return out;
  }

 private:
  database_state& database_;
  connection& session_;
  const table_names names_;
  touched touched_;  // Queues, and whether they are known to have rules.
};

template <class Work>
auto operation(database_state& database, std::string_view name, bool outside, Work work) {
  return named(database.name(), name, [&] {
    database.check_here();
    check_beside(database, beside::of_database, outside);
    return with_busy_explained(database, [&] {
      return database.observed({.name = name, .backend = database.name()},
                               [&](const observation& /*observing*/) { return work(); });
    });
  });
}

/// Of several rules the error names the wrong one.
void check_one_of(database_state& database, std::span<const schedule> rules, const schedule& rule) {
  try {
    check_rule(rule, *target_of(database, rule.queue));
  } catch (const error& failure) {
    if (rules.size() == 1 || rule.name.empty() || rule.name.size() > 100 ||
        !is_plain_utf8(rule.name)) {
      throw;
    }
    throw locate(failure, database.name(), "the schedule " + rule.name);
  }
}

/// @param rules to be checked first: this needs sessions of its own.
template <class Work>
auto changing(database_state& database, std::string_view name, bool outside,
              std::span<const schedule> rules, Work work) {
  return operation(database, name, outside, [&] {
    for (const schedule& each : rules) check_one_of(database, rules, each);
    std::set<std::string> queues;
    auto out = database.in_transaction([&](connection& session) {
      change_of_rules change(database, session);
      auto result = work(change);
      queues = change.end();
      return result;
    });
    // Their readers ask for the options before they wait again.
    for (const std::string& queue : queues) {
      const auto info = find_queue(database, queue);
      if (!info || info->kind == kind::table) continue;
      const queue_state told(database.shared_from_this(), *info);
      told.limits().forget();
      apply(told, nullptr, {.readable = 1});
    }
    return out;
  });
}

/// Pauses a rule, or lets it go on with its next time.
bool set_enabled(database_state& database, std::string_view operation, bool outside,
                 std::string_view name, bool enabled) {
  return changing(database, operation, outside, {}, [&](change_of_rules& change) {
    auto rule = change.remove(name);
    if (!rule) return false;
    rule->enabled = enabled;
    rule->problem.reset();
    if (enabled) rule->due.reset();
    change.store(*rule, enabled);
    return true;
  });
}

}  // namespace

std::vector<finding> inspect_rules(database_state& database, std::span<const queue_info> queues) {
  constexpr std::chrono::minutes late{1};
  std::vector<finding> out;
  for (const rule_row& row : stored_rules(database)) {
    const schedule_info info = info_of(row);
    const std::string subject = "the schedule " + row.name;
    const auto queue = std::ranges::find(queues, row.queue, &queue_info::name);
    if (!info.problem.empty()) {
      const bool stopped = !row.enabled;
      out.push_back({stopped ? finding::level::problem : finding::level::warning, row.queue,
                     subject + (stopped ? " is disabled: " : " adds no messages: ") + info.problem,
                     stopped ? "mend it, then: tableq schedules resume " + row.name
                             : "mend the cause; it goes on by itself"});
    } else if (row.enabled && queue != queues.end() && !queue->schedules) {
      out.push_back({finding::level::warning, row.queue,
                     "no process knows of " + subject + ": the queue's options lack it",
                     "tell them: tableq schedules resume " + row.name});
    } else if (info.overdue &&
               row.clock - *info.overdue > late + database.options().poll_interval) {
      out.push_back({finding::level::warning, row.queue,
                     "nobody follows " + subject + ", which is overdue",
                     "let a process with the rights of the role scheduler take from a queue with "
                     "schedules, or wait for its messages"});
    }
  }
  return out;
}

}  // namespace core

schedules::schedules(std::shared_ptr<core::database_state> state, bool outside) noexcept
    : state_(std::move(state)), outside_(outside) {}

void schedules::add(const schedule& rule) {
  core::changing(*state_, "schedules.add", outside_, std::span(&rule, 1),
                 [&](core::change_of_rules& change) {
                   if (change.find(rule.name))
                     core::refuse("there is a schedule of this name; change it instead");
                   change.insert(rule, {});
                   return true;
                 });
}

void schedules::change(const schedule& rule) {
  if (change(rule.name, [&](schedule& stored) { stored = rule; })) return;
  throw error(errc::not_found, advice::never, "there is no schedule of this name; add it",
              {.backend = state_->name(), .operation = "schedules.change"});
}

bool schedules::change(text_view name, const std::function<void(schedule&)>& edit) {
  for (;;) {
    const std::optional<schedule_info> stored = find(name);
    if (!stored) return false;
    schedule rule = stored->rule;
    edit(rule);
    if (rule.name != name.view()) {
      core::refuse("the name of a schedule stays: remove it, and add another one");
    }
    const bool done = core::changing(*state_, "schedules.change", outside_, std::span(&rule, 1),
                                     [&](core::change_of_rules& change) {
                                       const auto now = change.find(rule.name);
                                       if (!now || core::rule_of(*now) != stored->rule)
                                         return false;
                                       if (const auto before = change.remove(rule.name))
                                         change.replace(*before, rule);
                                       return true;
                                     });
    if (done) return true;
  }
}

bool schedules::pause(text_view name) {
  return core::set_enabled(*state_, "schedules.pause", outside_, name.view(), false);
}

bool schedules::resume(text_view name) {
  return core::set_enabled(*state_, "schedules.resume", outside_, name.view(), true);
}

bool schedules::remove(text_view name) {
  return core::changing(
      *state_, "schedules.remove", outside_, {},
      [&](core::change_of_rules& change) { return change.remove(name.view()).has_value(); });
}

std::optional<enqueued> schedules::run_now(text_view name) {
  const auto run_it = [&]() -> std::optional<enqueued> {
    const auto rule = core::stored_rule(*state_, name.view());
    if (!rule) return std::nullopt;
    const auto target = core::target_of(*state_, rule->queue);
    return core::in_one_transaction(*state_, nullptr, [&](core::transaction_state& tx) {
      return core::add_messages(*target, tx, rule->name, *rule, std::span(&rule->clock, 1)).front();
    });
  };
  return core::operation(*state_, "schedules.run_now", outside_, run_it);
}

declared schedules::declare(text_view owner, const batch_view<schedule>& rules) {
  return core::changing(
      *state_, "schedules.declare", outside_, rules.items(), [&](core::change_of_rules& change) {
        const std::string_view who = owner.view();
        if (who.empty() || who.size() > 100 || !core::is_plain_utf8(who)) {
          core::refuse("an owner is 1 to 100 bytes of UTF-8 without NUL");
        }
        declared out;
        std::set<std::string_view> given;
        for (const schedule& rule : rules.items()) {
          if (!given.insert(rule.name).second) core::refuse("two of the rules have one name");
          const auto stored = change.find(rule.name);
          if (!stored) {
            change.insert(rule, who);
            ++out.added;
            continue;
          }
          if (stored->owner.value_or("") != who) {
            core::refuse("the schedule " + rule.name + " belongs to another owner, or to none");
          }
          if (core::rule_of(*stored) == rule) continue;
          if (const auto before = change.remove(rule.name)) change.replace(*before, rule);
          ++out.changed;
        }
        for (const core::rule_row& each : change.all()) {
          if (each.owner != who || given.contains(each.name)) continue;
          change.remove(each.name);
          ++out.removed;
        }
        return out;
      });
}

std::vector<schedule_info> schedules::list() const {
  return core::operation(*state_, "schedules.list", outside_, [&] {
    std::vector<schedule_info> out;
    for (const core::rule_row& row : core::stored_rules(*state_)) out.push_back(core::info_of(row));
    return out;
  });
}

std::optional<schedule_info> schedules::find(text_view name) const {
  return core::operation(*state_, "schedules.list", outside_,
                         [&]() -> std::optional<schedule_info> {
                           const auto rule = core::stored_rule(*state_, name.view());
                           return rule ? std::optional(core::info_of(*rule)) : std::nullopt;
                         });
}

schedules database::schedules() const noexcept {
  return {state_, outside_};
}

}  // namespace tableq::inline v0
