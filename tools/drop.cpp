#include <memory>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "output.hpp"

namespace tool {

namespace {

exit_status drop(const connection_options& connection, const std::string& name, bool yes) {
  tableq::database db = connect(connection);
  if (!yes) {
    const auto found = db.find(name);
    const bool stored = found && found->kind == tableq::kind::table;
    throw usage_error(stored ? "this deletes the stored mapping, and the table stays; confirm with "
                               "--yes"
                             : "this deletes the queue with all its messages; confirm with --yes");
  }
  const std::vector<tableq::queue_info> before = db.queues();
  if (!db.drop(name)) {
    complain("there is no queue " + in_quotes(name));
    return exit_status::nothing;
  }
  for (const tableq::queue_info& each : before) {
    if (each.dead_letters != name || each.name == name) continue;
    complain("the queue " + each.name + " moves its dead messages to " + name +
             "; make that again, or change it: tableq alter " + each.name + " --dead-letters none");
  }
  return exit_status::done;
}

}  // namespace

void add_drop(CLI::App& app, invocation& call) {
  CLI::App& command =
      add_database_command(app, call, "drop",
                           {.description = "Delete a queue with all its messages",
                            .details = "Exit status 1 when there is no such queue. Of a table of "
                                       "the application it deletes the stored\n"
                                       "mapping only.",
                            .usage = "QUEUE --yes",
                            .examples = "  tableq drop mail --yes"});
  const auto queue = std::make_shared<argument>(command, "QUEUE", "", "The queue");
  queue->required();
  const auto yes = std::make_shared<bool>(false);
  command.add_flag("--yes", *yes, "Yes, delete it");
  command.callback([&call, queue, yes] {
    call.run = [&call, queue, yes] { return drop(call.connection, queue->text(), *yes); };
  });
}

}  // namespace tool
