#include "core/schema/catalog.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/identifier.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"
#include "core/session/retry.hpp"

namespace tableq::inline v0::core {
namespace {

static_assert(catalog_layout == queue_layout, "a step has one number for all tables");

/// A step to do.
struct planned_step {
  stored_layout table;
  int to = 0;
  table_names names;
  std::vector<step_part> parts;
};

void check_migrate_options(const migrate_options& options) {
  constexpr std::chrono::hours most{365 * 24};
  if (options.to && (*options.to < 1 || *options.to > queue_layout)) {
    refuse("this version knows the layouts 1 to " + std::to_string(queue_layout));
  }
  if (options.wait.count() < 0 || options.wait > most)
    refuse("the wait of a migration is 0 to 365 days");
}

/// Whether this database object may do steps.
void check_allowed(database_state& database) {
  if (database.options().schema == schema_policy::verify_only) {
    refuse(errc::unsupported,
           "the schema policy is to verify only: let an administrator run what `tableq migrate "
           "--dry-run` prints");
  }
  if (database.dialect_driver().pooled()) {
    refuse(errc::unsupported,
           "a pooler may give each statement another session; migrate by an address of the server");
  }
}

/// The chosen ones, in the order of their steps: the catalogue is the first to go up, and the last
/// to go down.
std::vector<stored_layout> chosen_layouts(std::vector<stored_layout> all,
                                          const migrate_options& options) {
  const auto& wanted = options.queues;
  for (const std::string& name : wanted) {
    if (std::none_of(all.begin(), all.end(), [&](const auto& each) { return each.name == name; }))
      refuse(errc::not_found, "the catalogue has no queue of a name that was given: " + name);
  }
  if (!wanted.empty()) {
    std::erase_if(all, [&](const auto& each) {
      return std::find(wanted.begin(), wanted.end(), each.name) == wanted.end();
    });
  }
  const int to = options.to.value_or(queue_layout);
  const bool down =
      std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.layout > to; });
  if (down && !all.empty() && all.front().name == catalog_row_name)
    std::rotate(all.begin(), all.begin() + 1, all.end());
  return all;
}

/// The parts of a step of a table to the next layout, or to the one before.
std::vector<step_part> parts_of(const database_state& database, const stored_layout& table, int to,
                                const table_names& names) {
  const int upper = std::max(table.layout, to);
  const std::string up = std::to_string(upper).append("/").append(table.part);
  std::vector<step_part> forward = step_parts(database.name(), up, names);
  if (to > table.layout || forward.empty()) return forward;
  std::vector<step_part> back = step_parts(database.name(), up + ".down", names);
  if (back.empty()) {
    refuse(errc::unsupported, "the step of " + table.name + " back to layout " +
                                  std::to_string(to) + " would lose something");
  }
  return back;
}

std::vector<planned_step> plan(const database_state& database, std::vector<stored_layout> tables,
                               int to) {
  std::vector<planned_step> out;
  for (stored_layout& table : tables) {
    const std::string_view queue =
        table.name == catalog_row_name ? std::string_view() : std::string_view(table.name);
    const table_names names = names_for(database.options(), queue, table.identity);
    while (table.layout != to) {
      const int next = table.layout + (table.layout < to ? 1 : -1);
      out.push_back({.table = table,
                     .to = next,
                     .names = names,
                     .parts = parts_of(database, table, next, names)});
      table.layout = next;
    }
  }
  return out;
}

layout_request change_of(const planned_step& step) {
  return {.name = step.table.name,
          .identity = step.table.identity,
          .before = step.table.layout,
          .layout = step.to};
}

/// The step as a script.
std::string script_of(const database_state& database, const planned_step& step) {
  const std::string number = statement_text(database.name(), statements::catalog_set_layout.id,
                                            step.names, values_of(change_of(step))) +
                             ";\n";
  std::string out;
  bool told = false;
  for (std::size_t i = 0; i < step.parts.size(); ++i) {
    const step_part& part = step.parts[i];
    told = i + 1 == step.parts.size() && !part.alone;
    out += part.alone ? part.text
                      : in_transaction_text(database.name(), told ? part.text + number : part.text);
  }
  return told ? out : out + number;
}

/// Does steps, one after the other.
class migrator {
 public:
  migrator(database_state& database, std::chrono::milliseconds wait)
      : database_(database), wait_(wait) {}

  /// @return whether this call did it; another migrator may have been faster.
  bool run_step(const planned_step& step) {
    const auto& parts = step.parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool last = i + 1 == parts.size() && !parts[i].alone;
      if (parts[i].alone) {
        repeat([&](connection& session) {
          session.define(parts[i].name, step.names);
          return true;
        });
      } else if (!change(step, &parts[i], last)) {
        return false;
      } else if (last) {
        return true;
      }
    }
    return change(step, nullptr, true);
  }

 private:
  /// Runs a part in a transaction, if the table still has the layout before the step.
  /// @param part may be null. @param last sets the number of the layout.
  bool change(const planned_step& step, const step_part* part, bool last) {
    return repeat([&](connection& session) {
      unit_of_work unit(session);
      run(session, step.names, statements::catalog_lock);
      const auto now = find_layout(database_, session, step.table.name);
      if (!now || now->identity != step.table.identity || now->layout != step.table.layout)
        return false;
      if (part != nullptr) session.define(part->name, step.names);
      if (last &&
          run(session, step.names, statements::catalog_set_layout, change_of(step)).size() != 1)
        return false;
      unit.commit();
      return true;
    });
  }

  /// Runs `work(connection&)`, again while others hold its locks, and on a new session if the last
  /// one is lost.
  template <class Work>
  bool repeat(Work work) {
    return repeating(wait_, contact::known, [&] { return work(session()); });
  }

  /// The session that keeps other migrators out.
  connection& session() {
    if (session_ != nullptr && session_->usable()) return *session_;
    leased_.reset();
    own_.reset();
    if (database_.capabilities().max_sessions) {  // such a database cannot be opened again
      leased_ = database_.sessions().lease();
      session_ = leased_.get();
    } else {
      own_ = database_.dialect_driver().connect();
      session_ = own_.get();
    }
    if (!run(*session_, names_for(database_.options(), {}), statements::catalog_migrator)
             .at(0)
             .held) {
      session_ = nullptr;
      throw error(errc::busy, advice::transaction,
                  "another session migrates queues of this database; wait until it has ended");
    }
    return *session_;
  }

  database_state& database_;
  std::chrono::milliseconds wait_;
  leased_session leased_;
  // Closed at the end, and with it its lock and its settings.
  std::unique_ptr<connection> own_;
  connection* session_ = nullptr;
};

/// Each queue must have its table.
void check_tables(const database_state& database, connection& session,
                  const std::vector<stored_layout>& tables) {
  for (const stored_layout& each : tables) {
    if (each.name == catalog_row_name || each.part == to_string(kind::table)) continue;
    const table_names names = names_for(database.options(), each.name);
    if (!run(session, names, statements::table_exists).at(0).present) {
      refuse(errc::schema_mismatch,
             "the catalogue has the queue " + each.name + " but its table is gone; drop the queue");
    }
  }
}

}  // namespace

std::vector<migration_step> migrate(database_state& database, const migrate_options& options) {
  check_migrate_options(options);
  if (!options.dry_run) check_allowed(database);
  const std::vector<stored_layout> tables = database.on_session([&](connection& session) {
    std::vector<stored_layout> found = chosen_layouts(list_layouts(database, session), options);
    check_tables(database, session, found);
    return found;
  });
  migrator doing(database, options.wait);
  std::vector<migration_step> out;
  for (const planned_step& each : plan(database, tables, options.to.value_or(queue_layout))) {
    const std::string what = "layout of " + each.table.name;
    if (!options.dry_run && !named(database.name(), what, [&] { return doing.run_step(each); }))
      continue;
    out.push_back({.queue = each.table.name,
                   .from = each.table.layout,
                   .to = each.to,
                   .sql = script_of(database, each)});
    if (options.done && !options.dry_run) options.done(out.back());
  }
  return out;
}

}  // namespace tableq::inline v0::core
