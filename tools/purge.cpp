#include <memory>
#include <string>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

struct purge_arguments {
  explicit purge_arguments(CLI::App& command)
      : queue(command, "QUEUE", "", "The queue"),
        older_than(command, "--older-than", "TIME",
                   "claim: only messages that finished at least TIME ago") {
    queue.required();
    command.add_flag("--done", done, "claim: completed and kept messages (the default)");
    command.add_flag("--dead", dead, "claim: dead messages");
    command.add_flag("--yes", yes, "Other kinds: confirm that every message is deleted");
  }

  argument queue;
  argument older_than;
  bool done = false;
  bool dead = false;
  bool yes = false;
};

std::size_t purge_all(tableq::destructive_queue& queue, const purge_arguments& given) {
  if (given.done || given.dead || given.older_than.given()) {
    throw usage_error("--done, --dead and --older-than are for claim queues only");
  }
  if (!given.yes) {
    throw usage_error("this deletes every message of " + in_quotes(queue.name()) +
                      "; confirm it with --yes");
  }
  return queue.purge();
}

exit_status purge(const connection_options& connection, const purge_arguments& given) {
  if (given.done && given.dead) throw usage_error("--done and --dead exclude each other");
  const auto older_than = duration_or(given.older_than, "--older-than", {});
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  std::size_t count = 0;
  if (auto* claim = std::get_if<tableq::claim_queue>(&opened)) {
    const auto which = given.dead ? tableq::message_state::dead : tableq::message_state::done;
    count = claim->purge(which, {.older_than = older_than});
  } else {
    count = purge_all(as_destructive(opened, ""), given);
  }
  output out;
  out.line(std::to_string(count));
  out.flush();
  return exit_status::done;
}

}  // namespace

void add_purge(CLI::App& app, invocation& call) {
  CLI::App& command =
      add_database_command(app, call, "purge",
                           {.description = "Delete messages, and print how many",
                            .details = "In a claim queue done (or dead) messages only; in the "
                                       "other kinds\n"
                                       "every message.",
                            .usage = "QUEUE [--done | --dead] [--older-than TIME] [--yes]",
                            .examples = "  tableq purge jobs --older-than 7d\n"
                                        "  tableq purge jobs --dead\n"
                                        "  tableq purge mail --yes"});
  const auto given = std::make_shared<purge_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return purge(call.connection, *given); }; });
}

}  // namespace tool
