#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"

namespace tool {

namespace {

struct drop_arguments : queue_argument {
  using queue_argument::queue_argument;
  flag yes{command, "--yes", "Yes, delete it"};
  flag as_json{command, "--json", "Print an object with queue and outcome"};
};

exit_status drop(const connection_options& connection, const drop_arguments& given) {
  const std::string name = given.queue.text();
  tableq::database db = connect(connection);
  const tableq::queue_info found = require(db, name);
  if (!given.yes) {
    const bool stored = found.kind == tableq::kind::table;
    throw usage_error(stored ? "this deletes the stored mapping, and the table stays; confirm with "
                               "--yes"
                             : "this deletes the queue with all its messages; confirm with --yes");
  }
  const std::vector<tableq::queue_info> before = db.queues();
  db.drop(name);
  for (const tableq::queue_info& each : before) {
    if (each.dead_letters != name || each.name == name) continue;
    complain("the queue " + each.name + " moves its dead messages to " + name +
             "; make that again, or change it: tableq alter " + each.name + " --dead-letters none");
  }
  if (given.as_json) print_line(line_of({{"queue", name}, {"outcome", "dropped"}}));
  return exit_status::done;
}

}  // namespace

void add_drop(CLI::App& app, invocation& call) {
  add_database_command<drop_arguments>(
      app, call, "drop",
      {.description = "Delete a queue with all its messages",
       .details = "Of a table of the application it deletes the stored mapping only.",
       .usage = "QUEUE --yes [--json]",
       .examples = "  tableq drop mail --yes"},
      drop);
}

}  // namespace tool
