#include <memory>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

struct migrate_arguments {
  explicit migrate_arguments(CLI::App& command)
      : queues(command, "QUEUE", "", "only these queues; tableq is the catalogue itself"),
        to(command, "--to", "N", "The layout to reach (the newest)"),
        wait(command, "--wait", "TIME", "How long to try while others hold locks (1m)") {
    queues.many();
    command.add_flag("--dry-run", dry_run, "Print the SQL instead, for an administrator");
  }

  argument queues;
  argument to;
  argument wait;
  bool dry_run = false;
};

exit_status migrate(const connection_options& connection, const migrate_arguments& given) {
  tableq::migrate_options options{.queues = given.queues.all(), .dry_run = given.dry_run};
  if (given.to.given())
    options.to = static_cast<int>(parse_number("--to", given.to.text(), 1, 1'000'000));
  options.wait = duration_or(given.wait, "--wait", options.wait);
  // A file that is not there is not made.
  tableq::database db = connect(connection);
  if (!given.dry_run) db = connect(connection, true);
  output out;
  const auto told = [](const tableq::migration_step& step) {
    return step.queue + ": layout " + std::to_string(step.from) + " to " + std::to_string(step.to);
  };
  options.done = [&](const tableq::migration_step& step) {
    out.line(told(step));
    out.flush();
  };
  const std::vector<tableq::migration_step> steps = [&] {
    try {
      return db.migrate(options);
    } catch (const tableq::error& failure) {
      if (failure.code() != tableq::errc::busy) throw;
      throw tableq::error(failure.code(), failure.advice(),
                          sentence_of(failure) +
                              "; others use the table: end their transactions, or give --wait more"
                              " time, then run this again");
    }
  }();
  if (steps.empty()) {
    complain("no step is to be done");
  } else if (given.dry_run) {
    out.line(
        "-- The last statement sets the layout's number, so stop at the first error: with psql -v"
        " ON_ERROR_STOP=1, sqlite3 -bail, sqlcmd -b.");
    for (const tableq::migration_step& step : steps) {
      out.line("-- " + told(step));
      out.line(step.sql);
    }
  }
  out.flush();
  return exit_status::done;
}

}  // namespace

void add_migrate(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "migrate",
      {.description = "Bring tables to a newer layout, and print what was done",
       .details =
           "Without QUEUE: the catalogue and all queues. Goes on where an earlier run was "
           "cut.\n"
           "Programs of the version before open nothing afterwards. The SQL of --dry-run must "
           "stop at the\n"
           "first error: psql -v ON_ERROR_STOP=1, sqlite3 -bail.",
       .usage = "[--dry-run] [--to N] [QUEUE...]",
       .examples = "  tableq migrate --dry-run\n"
                   "  tableq migrate\n"
                   "  tableq migrate --to 1 mail"});
  const auto given = std::make_shared<migrate_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return migrate(call.connection, *given); }; });
}

}  // namespace tool
