#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

struct migrate_arguments : arguments {
  using arguments::arguments;
  argument queues =
      argument(command, "QUEUE", "", "only these queues; tableq is the catalogue itself").many();
  argument to{command, "--to", "N", "The layout to reach (the newest)"};
  argument wait{command, "--wait", "TIME", "How long to try while others hold locks (1m)"};
  flag dry_run{command, "--dry-run", "Print the SQL instead, for an administrator"};
};

exit_status migrate(const connection_options& connection, const migrate_arguments& given) {
  tableq::migrate_options options{.queues = given.queues.all(), .dry_run = given.dry_run};
  given.to.store(options.to, number_from<int>(1, 1'000'000));
  options.wait = given.wait.duration(options.wait);
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
    complain("there is nothing to do");
    tell_of_no_queues(db, connection);
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
  add_database_command<migrate_arguments>(
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
                   "  tableq migrate --to 1 mail"},
      migrate);
}

}  // namespace tool
