#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <tableq/unstable/dialect.hpp>

#include "core/database/access.hpp"
#include "core/database/database_state.hpp"
#include "core/input/identifier.hpp"
#include "core/seam/contract.hpp"
#include "drivers/blocks.hpp"
#include "drivers/text.hpp"
#include "first/place.hpp"
#include "support/sqlserver_plan.hpp"
#include "support/text.hpp"

namespace tableq_test::first {
namespace {

using tableq::core::contract;
using tableq::core::value;
using tableq::core::value_type;

/// Nothing for the catalogue and limits: tables of a few rows, which a server scans rightly.
std::optional<std::string> kind_of(std::string_view name) {
  const std::string kind(name.substr(0, name.find('.')));
  for (const char* each : {"heap", "fifo", "lifo", "pending", "claim"}) {
    if (kind == each) return kind;
  }
  return {};
}

/// Drops what the others need, belongs to tables of applications, or is no statement of its own.
bool is_left_out(std::string_view name) {
  return name == "queue.drop" || name == "catalog.remove" || name == "catalog.insert" ||
         name.starts_with("table.") || name.starts_with("doctor.");
}

std::string queue_of(std::string_view name) {
  return (name.ends_with("_strict") ? "strict_" : "") + kind_of(name).value_or("claim");
}

/// A plausible number for a parameter; nothing for one that stays NULL.
std::optional<std::int64_t> number_for(const tableq::core::field& of) {
  constexpr std::array nulls{"now",          "due_at",      "retry",      "headers",    "errors",
                             "ttl",          "group",       "delay",      "claimed_at", "past_key",
                             "max_attempts", "finished_at", "expires_at", "cron"};
  constexpr std::array ones{"id",    "identity", "fence",      "running",
                            "burst", "capacity", "concurrency"};
  const auto among = [&](const auto& all) {
    return std::find(all.begin(), all.end(), of.name) != all.end();
  };
  if (among(nulls)) return {};
  if (of.name == "max" || of.name == "limit") return 10;
  if (of.name == "every" || of.name == "rate") return 60'000;
  return among(ones) ? 1 : 0;
}

value bound_for(const tableq::core::field& of) {
  const auto number = number_for(of);
  if (!number) return {};
  if (of.type == value_type::integer) return value(*number);
  return value(of.name == "queue" || of.name == "name" ? std::string_view("claim")
                                                       : std::string_view("first"));
}
std::vector<value> bound_for(std::span<const tableq::core::field> all) {
  std::vector<value> out;
  for (const tableq::core::field& each : all) out.push_back(bound_for(each));
  return out;
}
parameters literals_for(const contract& of) {
  parameters out = {{"own_identity", "0"}};
  for (const auto& fields : {of.shared, of.items}) {
    for (const tableq::core::field& each : fields) {
      const auto number = each.type == value_type::integer ? number_for(each) : std::nullopt;
      out[std::string(each.name)] = number ? std::to_string(*number) : "NULL";
    }
  }
  return out;
}

void report_plan(report& to, sqlserver_client& client, const contract& of,
                 const std::string& text) {
  const std::string name(of.name);
  to.attempt("plan of " + name, [&] {
    const std::string plan = client.plans(with_variables(text, literals_for(of)));
    const std::string steps = sqlserver_steps(plan);
    to.note(name + ": " + steps);
    if (!kind_of(name)) return;
    const auto complaint = sqlserver_complaint(plan);
    if (complaint) to.finding("plan of " + name + ": " + *complaint);
    if (contains(text, "FORCESEEK") && !contains(steps, "Seek")) {
      to.finding("plan of " + name + ": FORCESEEK, but no seek");
    }
    if (complaint) to.note("whole plan: " + plan);
  });
}

void run_one(report& to, tableq::database& db, const place& on, const contract& of) {
  const auto names = tableq::core::names_for({.schema_name = on.schema}, queue_of(of.name));
  to.attempt("run " + std::string(of.name), [&] {
    const std::vector<value> shared = bound_for(of.shared);
    std::vector<value> items = bound_for(of.items);
    // Three items fill a text of four rows, so that NULL stands in the fourth.
    for (int i = 0; i < 2 && !of.items.empty(); ++i) {
      for (const tableq::core::field& each : of.items) {
        // Others of the same id or key would be there already.
        items.push_back(each.name == "key"  ? value(i == 0 ? std::string_view("two") : "three")
                        : each.name == "id" ? value(std::int64_t{i} + 2)
                                            : bound_for(each));
      }
    }
    tableq::core::access::state_of(db).on_session([&](tableq::core::connection& session) {
      // Ends with a rollback, so that no statement sees another's work.
      const tableq::core::unit_of_work undone(session);
      session.execute(of, names, shared, items);
      return true;
    });
  });
}

/// Rows to find: three waiting messages in each queue.
void add_some(report& to, tableq::database& db) {
  for (int i = 0; i < 3; ++i) {
    const auto fill = [&](const char* name, auto queue) {
      to.attempt(std::string("fill ") + name, [&] { queue.enqueue("some"); });
    };
    fill("heap", db.heap("heap"));
    fill("fifo", db.fifo("fifo"));
    fill("lifo", db.lifo("lifo"));
    fill("strict fifo", db.fifo("strict_fifo"));
    fill("strict lifo", db.lifo("strict_lifo"));
    fill("pending", db.pending("pending"));
    to.attempt("fill claim", [&] { db.claim("claim").enqueue("some", {.priority = i}); });
  }
}

}  // namespace

void run_statements(report& to, const place& on) {
  const tableq::dialect definition = tableq::find_dialect("sqlserver");
  const auto blocks = tableq::drivers::split_blocks(definition.statements);
  // Without repeats, each failure is seen.
  tableq::database db = on.open(std::chrono::milliseconds(0));
  sqlserver_client client = on.client();
  for (const std::string& each : definition.setup) client.run(each);
  add_some(to, db);
  std::size_t run = 0;
  for (const contract& of : tableq::core::contracts()) {
    const auto block = blocks.find(of.name);
    if (block == blocks.end() || is_left_out(of.name)) continue;
    if (interrupted) return;
    const auto names = tableq::core::names_for({.schema_name = on.schema}, queue_of(of.name));
    report_plan(to, client, of, tableq::drivers::fill_names(block->second, definition, names));
    run_one(to, db, on, of);
    ++run;
  }
  to.note(std::to_string(run) + " statements");
}

}  // namespace tableq_test::first
