#include <tableq/database.hpp>

#include <algorithm>
#include <utility>

#include <tableq/testing.hpp>

#include "core/base/errors.hpp"
#include "core/batch/batch_hook.hpp"
#include "core/batch/ends.hpp"
#include "core/claim/dead_letters.hpp"
#include "core/claim/lease_table.hpp"
#include "core/claim/messages.hpp"
#include "core/database/access.hpp"
#include "core/database/busy_beside.hpp"
#include "core/database/database_state.hpp"
#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/move/leftover.hpp"
#include "core/queue/queue_state.hpp"
#include "core/schedule/rules.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"
#include "core/table/index_report.hpp"
#include "core/table/open_table.hpp"
#include "core/tenants/group_limits.hpp"

namespace tableq::inline v0 {
namespace {

using shared_state = std::shared_ptr<core::database_state>;

/// Before an operation on a handle: checks that this process opened the database, and that work
/// beside a transaction of the thread is allowed.
void check(const shared_state& state, std::string_view operation, core::beside work, bool outside) {
  core::named(state->name(), operation, [&] {
    state->check_here();
    core::check_beside(*state, work, outside);
  });
}

std::string_view view(const shared_state& state, std::string_view operation, text_view name) {
  return core::named(state->name(), operation, [&] { return name.view(); });
}

std::shared_ptr<core::queue_state> shared(std::unique_ptr<core::queue_state> made) {
  return {made.release(), core::end_at_home()};
}

template <class Work>
auto observed(const core::database_state& database, observed_operation operation, Work work) {
  operation.backend = database.name();
  return core::named(database.name(), operation.name, [&] {
    return core::with_busy_explained(database, [&] {
      return database.observed(operation,
                               [&](const core::observation& /*observing*/) { return work(); });
    });
  });
}

std::shared_ptr<core::queue_state> opened(const shared_state& database, std::string_view name,
                                          const queue_settings& settings) {
  return observed(*database, {.name = "open", .queue = name, .kind = settings.kind}, [&] {
    return shared(
        std::make_unique<core::queue_state>(database, core::open_queue(*database, name, settings)));
  });
}

std::shared_ptr<core::queue_state> opened_letters(const shared_state& database,
                                                  const std::string& letters, std::string_view of) {
  core::named(database->name(), "open", [&] {
    const auto stored = core::find_queue(*database, letters);
    if (!stored || stored->kind == kind::claim) return;
    core::refuse(errc::kind_mismatch, "the queue " + letters + " is of the kind " +
                                          std::string(to_string(stored->kind)) +
                                          " and cannot be the dead-letter queue of " +
                                          std::string(of) +
                                          "; name a claim queue, or one that does not exist");
  });
  return opened(database, letters, {.kind = kind::claim});
}

/// The dead-letter queue that the catalogue names. Where it is missing and may not be made, the
/// queue itself opens, and calls that need the other one say that it is missing.
std::shared_ptr<core::queue_state> stored_letters(const shared_state& database,
                                                  const std::string& letters, std::string_view of) {
  if (database->options().schema == schema_policy::verify_only &&
      !core::find_queue(*database, letters)) {
    return shared(std::make_unique<core::queue_state>(
        database, core::settle_options(letters, {.kind = kind::claim})));
  }
  return opened_letters(database, letters, of);
}

/// The dead-letter queue is opened first, after all other checks, so that a call that fails creates
/// nothing.
std::shared_ptr<core::queue_state> opened_claim(const shared_state& database, std::string_view name,
                                                const queue_settings& settings) {
  core::named(database->name(), "open", [&] { core::settle_options(name, settings); });
  std::string wanted = settings.claim.dead_letters.value_or(std::string());
  std::shared_ptr<core::queue_state> letters;
  if (!wanted.empty()) {
    core::named(database->name(), "open", [&] {
      if (const auto stored = core::find_queue(*database, name))
        core::merge_options(*stored, settings);
    });
    letters = opened_letters(database, wanted, name);
  }
  queue_info info = observed(*database, {.name = "open", .queue = name, .kind = settings.kind},
                             [&] { return core::open_queue(*database, name, settings); });
  if (wanted.empty() && !info.dead_letters.empty()) {
    letters = stored_letters(database, info.dead_letters, name);
  }
  auto made = std::make_unique<core::queue_state>(database, std::move(info), std::move(letters));
  made->follow(settings,
               [weak = std::weak_ptr(database), of = std::string(name)](
                   const std::string& now) -> std::shared_ptr<const core::queue_state> {
                 return stored_letters(shared_state(weak), now, of);
               });
  return shared(std::move(made));
}

/// Before a queue is opened. @return its name.
std::string_view openable(const shared_state& database, bool outside, text_view given) {
  check(database, "open", core::beside::read_only, outside);
  const std::string_view name = view(database, "open", given);
  if (!outside && core::in_transaction(*database)) {
    core::named(database->name(), "open", [&] {
      if (core::find_queue(*database, name)) return;
      core::refuse(
          "this thread runs a transaction of the database, and no queue is made inside one: open "
          "it before, or write database.outside()");
    });
  }
  return name;
}

/// @param faults as for make_driver.
database connected(text_view url, const open_options& options,
                   std::shared_ptr<core::fault_plan> faults) {
  return core::named({}, "connect", [&] {
    shared_state state(new core::database_state(url.view(), options, std::move(faults)),
                       core::end_at_home());
    state->attended_by(core::make_rule_upkeep());
    state->attended_by(core::make_group_upkeep());
    const auto batches = std::make_shared<core::batch_hook>(*state);
    state->set_hook(batches);
    state->attended_by([batches](const core::queue_state& queue, const queue_info& stored) {
      return batches->attend(queue, stored);
    });
    core::named(state->name(), "connect", [&] {
      state->connect();
      core::check_catalog(*state);
    });
    return core::access::make(std::move(state));
  });
}

/// Schedules that wait for their last message need keys until completion.
void check_schedules(const shared_state& database, std::string_view queue,
                     const queue_changes& changes) {
  const bool keeps = changes.keys.value_or(key_scope::active) == key_scope::active &&
                     changes.key_window.value_or(std::chrono::milliseconds{0}).count() <= 0;
  const auto stored = keeps ? std::nullopt : core::find_queue(*database, queue);
  if (!stored || !stored->schedules) return;
  const auto rules = database->on_session([&](core::connection& session) {
    return core::run(session, core::names_for(database->options(), {}),
                     core::statements::schedules_list);
  });
  for (const core::rule_row& each : rules) {
    if (each.queue != queue || !each.skip) continue;
    core::refuse("the schedule " + each.name + " of the queue " + stored->name +
                 " has skip_if_running, which needs a queue whose messages hold their keys until "
                 "they are completed: change the schedule first");
  }
}

/// Checks that an opened table is not one of tableq's own.
std::shared_ptr<core::queue_state> not_own(const shared_state& database,
                                           std::shared_ptr<core::queue_state> opened) {
  const core::table_layout& found = core::mapped_of(*opened).layout();
  const auto has = [&](std::string_view column) {
    return core::find_column(found.columns, column).has_value();
  };
  core::refuse_own_table(*database, core::mapped_of(*opened).mapping().schema, found.table,
                         has("id") && has("payload"));
  return opened;
}

/// Whether an error is about a mapping and its table, not about the session.
bool is_about_the_table(const error& failure) {
  return failure.code() == errc::not_found || failure.code() == errc::invalid_argument ||
         failure.code() == errc::unsupported;
}

/// The findings on a table whose mapping the catalogue has.
std::vector<finding> inspect_stored(const shared_state& database, const queue_info& stored) {
  try {
    const auto opened =
        core::open_table(database, stored.table->table, stored.table->mapping, stored.name);
    std::vector<finding> out = core::inspect(*database, core::mapped_of(*opened));
    for (finding& each : out) {
      each.subject = stored.name;
      if (const auto at = each.fix.find("MAPPING"); at != std::string::npos) {
        each.fix.replace(at, std::string_view("MAPPING").size(), stored.name);
      }
    }
    return out;
  } catch (const error& failure) {
    if (!is_about_the_table(failure)) throw;
    return {{finding::level::problem, stored.name, failure.what(),
             "store a mapping that fits the table: tableq create table " + stored.name +
                 " --mapping FILE"}};
  }
}

/// A dead-letter queue that is missing, or has dead messages that nobody looks for.
/// @param all the queues of the database.
std::vector<finding> buried(const shared_state& database, const queue_info& queue,
                            const std::vector<queue_info>& all) {
  const auto stored = std::find_if(all.begin(), all.end(), [&](const queue_info& each) {
    return each.name == queue.dead_letters && each.kind == kind::claim;
  });
  if (stored == all.end()) {
    if (queue.dead_letters.empty()) return {};
    return {{finding::level::problem, queue.name,
             "its dead-letter queue " + queue.dead_letters +
                 " is missing: messages cannot die, and come back again and again",
             "make it: tableq create claim " + queue.dead_letters +
                 ", and start the programs that read " + queue.name + " again"}};
  }
  const std::size_t most = stats_options().count_to;
  const core::queue_state letters(database, *stored);
  const auto found = core::letters_in(letters, queue.name, most);
  if (!found || found->letters == 0) return {};
  return {{finding::level::warning, queue.name,
           (found->seen < most ? "" : "at least ") + std::to_string(found->letters) +
               " of its messages are dead and wait in the dead-letter queue " + stored->name,
           "see why: tableq list " + stored->name + " --json; then bring them back: tableq " +
               "dead redrive " + queue.name + " --all"}};
}

/// Finished messages that nothing removes.
/// @param age of the queue's retention, if it has one.
std::optional<finding> unending(const core::queue_state& queue, message_state state,
                                const std::optional<std::chrono::milliseconds>& age,
                                std::size_t count, timestamp now) {
  const bool done = state == message_state::done;
  const std::string name(done ? "done" : "dead");
  if (!age) {
    constexpr std::size_t many = 10'000;
    if (count < many) return {};
    return finding{finding::level::warning, queue.name(),
                   "at least 10000 of its messages are " + name + ", and nothing removes them",
                   "remove them by their age: tableq alter " + queue.name() + " --retain-" + name +
                       " 30d; or now and then: tableq purge " + queue.name() + " --" + name +
                       " --older-than 30d"};
  }
  // Takes and settlements look every ten seconds.
  constexpr std::chrono::hours grace{1};
  const auto oldest = core::list(queue, state, {.max = 1});
  if (oldest.empty() || *oldest.front().finished_at >= now - *age - grace) return {};
  return finding{finding::level::warning, queue.name(),
                 "messages that are " + name + " stay longer than its retention says",
                 "let a program with the rights of a consumer take from it, or remove them: tableq "
                 "purge " +
                     queue.name() + " --" + name + " --older-than " + std::to_string(age->count()) +
                     "ms"};
}

std::vector<finding> unending(const shared_state& database, const queue_info& stored) {
  std::vector<finding> out;
  if (stored.kind != kind::claim) return out;
  const core::queue_state queue(database, stored);
  const claim_stats found = core::leases_of(queue).stats(queue, {});
  const auto add = [&](message_state state, const auto& age, std::size_t count) {
    if (auto one = unending(queue, state, age, count, found.as_of)) out.push_back(*std::move(one));
  };
  if (found.dead > 0) {
    const bool all = !found.counted_to || found.dead < *found.counted_to;
    out.push_back(
        {finding::level::warning, stored.name,
         (all ? "" : "at least ") + std::to_string(found.dead) + " of its messages are dead",
         "see why: tableq dead list " + stored.name +
             "; then bring them back: tableq dead redrive " + stored.name + " --all"});
  }
  add(message_state::done, stored.retention.done, found.done);
  add(message_state::dead, stored.retention.dead, found.dead);
  return out;
}

/// Limits of groups that no process follows.
std::vector<finding> unfollowed(const shared_state& database, const queue_info& stored) {
  if (!stored.groups || stored.layout < core::layout_with_group_limits) return {};
  return core::inspect_group_limits(core::queue_state(database, stored));
}

/// Adds the findings of `look()`. A user who may not read that gets the other ones.
template <class Look>
void add_findings(std::vector<finding>& to, Look look) {
  try {
    for (finding& one : look()) to.push_back(std::move(one));
  } catch (const error& failure) {
    const bool unread =
        failure.code() == errc::permission_denied || failure.code() == errc::not_found;
    if (!unread) throw;
  }
}

std::shared_ptr<core::transaction_state> begun(const shared_state& database) {
  return core::named(database->name(), "begin", [&] {
    return core::with_busy_explained(*database,
                                     [&] { return core::begin_for_application(database); });
  });
}

}  // namespace

database::database(std::shared_ptr<core::database_state> state) noexcept
    : state_(std::move(state)) {}

database database::open(text_view url, const open_options& options) {
  return connected(url, options, nullptr);
}
database testing::faults::open(text_view url, const open_options& options) const {
  return connected(url, options, plan_);
}

heap_queue database::heap(text_view name) {
  return heap_queue(opened(state_, openable(state_, outside_, name), {.kind = kind::heap}));
}
fifo_queue database::fifo(text_view name, const order_options& options) {
  return fifo_queue(
      opened(state_, openable(state_, outside_, name), {.kind = kind::fifo, .order = options}));
}
lifo_queue database::lifo(text_view name, const order_options& options) {
  return lifo_queue(
      opened(state_, openable(state_, outside_, name), {.kind = kind::lifo, .order = options}));
}
pending_queue database::pending(text_view name) {
  return pending_queue(opened(state_, openable(state_, outside_, name), {.kind = kind::pending}));
}
claim_queue database::claim(text_view name, const claim_options& options) {
  return claim_queue(opened_claim(state_, openable(state_, outside_, name),
                                  {.kind = kind::claim, .claim = options}));
}

table_queue database::table(text_view name, const table_mapping& mapping) {
  check(state_, "open", core::beside::read_only, outside_);
  const std::string_view wanted = view(state_, "open", name);
  return table_queue(observed(*state_, {.name = "open", .queue = wanted, .kind = kind::table}, [&] {
    return not_own(state_, core::open_table(state_, wanted, mapping));
  }));
}

table_queue database::stored_table(text_view name) {
  check(state_, "open", core::beside::read_only, outside_);
  const std::string_view wanted = view(state_, "open", name);
  return table_queue(observed(*state_, {.name = "open", .queue = wanted, .kind = kind::table}, [&] {
    const table_definition found = core::stored_table(*state_, wanted);
    return core::open_table(state_, found.table, found.mapping, wanted);
  }));
}
void database::store_table(text_view name, const table_definition& definition) {
  check(state_, "store_table", core::beside::of_database, outside_);
  const std::string_view wanted = view(state_, "store_table", name);
  observed(*state_, {.name = "store_table", .queue = wanted, .kind = kind::table}, [&] {
    not_own(state_, core::open_table(state_, definition.table, definition.mapping));
    core::store_table(*state_, wanted, definition);
  });
}

transaction database::begin() {
  check(state_, "begin", core::beside::begin, outside_);
  return core::access::make(begun(state_));
}

void database::run_transaction(const std::function<void(transaction&)>& body) {
  check(state_, "transact", core::beside::of_database, outside_);
  const auto once = [&] {
    transaction tx = core::access::make(begun(state_));
    {
      const core::transact_scope beside_refused(*state_, *core::access::state_of(tx));
      body(tx);
    }
    tx.commit();
  };
  state_->observed(
      {.name = "transact", .backend = state_->name()}, [&](const core::observation& observing) {
        core::repeating(state_->options().retry_for, core::contact::known, once, &observing);
      });
}

database database::outside() const noexcept {
  database out(*this);
  out.outside_ = true;
  return out;
}

std::vector<queue_info> database::queues() const {
  check(state_, "queues", core::beside::read_only, outside_);
  return observed(*state_, {.name = "queues"}, [&] { return core::list_queues(*state_); });
}
std::optional<queue_info> database::find(text_view name) const {
  check(state_, "find", core::beside::read_only, outside_);
  const std::string_view wanted = view(state_, "find", name);
  return observed(*state_, {.name = "find", .queue = wanted},
                  [&] { return core::find_queue(*state_, wanted); });
}
bool database::drop(text_view name) {
  check(state_, "drop", core::beside::of_database, outside_);
  const std::string_view wanted = view(state_, "drop", name);
  return observed(*state_, {.name = "drop", .queue = wanted},
                  [&] { return core::drop_queue(*state_, wanted); });
}
std::vector<option_change> database::alter(text_view name, const queue_changes& changes,
                                           const alter_options& options) {
  check(state_, "alter", options.dry_run ? core::beside::read_only : core::beside::of_database,
        outside_);
  const std::string_view wanted = view(state_, "alter", name);
  return observed(*state_, {.name = "alter", .queue = wanted}, [&] {
    check_schedules(state_, wanted, changes);
    if (changes.dead_letters && !changes.dead_letters->empty()) {
      // Checks all before the dead-letter queue is made.
      core::alter_queue(*state_, wanted, changes, {.dry_run = true});
      if (!options.dry_run) opened_letters(state_, *changes.dead_letters, wanted);
    }
    return core::alter_queue(*state_, wanted, changes, options);
  });
}
std::vector<migration_step> database::migrate(const migrate_options& options) {
  check(state_, "migrate", options.dry_run ? core::beside::read_only : core::beside::of_database,
        outside_);
  return observed(*state_, {.name = "migrate"}, [&] { return core::migrate(*state_, options); });
}
std::vector<finding> database::inspect() const {
  check(state_, "inspect", core::beside::read_only, outside_);
  return observed(*state_, {.name = "inspect"}, [&] {
    std::vector<finding> out = core::inspect(*state_);
    const std::vector<queue_info> all = core::list_queues(*state_);
    add_findings(out, [&] { return core::inspect_rules(*state_, all); });
    for (const queue_info& each : all) {
      add_findings(out, [&] { return buried(state_, each, all); });
      add_findings(out, [&] { return core::inspect_move(state_, each, all); });
      add_findings(out, [&] { return unending(state_, each); });
      add_findings(out, [&] { return unfollowed(state_, each); });
      if (each.kind == kind::table) {
        for (finding& one : inspect_stored(state_, each)) out.push_back(std::move(one));
      }
    }
    if (std::ranges::any_of(all, &queue_info::batches)) {
      add_findings(out, [&] { return core::inspect_batches(*state_); });
    }
    return out;
  });
}
const std::string& database::backend() const noexcept {
  return state_->name();
}

}  // namespace tableq::inline v0
