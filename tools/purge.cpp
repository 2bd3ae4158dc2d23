#include <memory>
#include <string>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "filter.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

struct purge_arguments {
  explicit purge_arguments(CLI::App& command)
      : queue(command, "QUEUE", "", "The queue"), filter(command) {
    queue.required();
    command.add_flag("--done", done, "claim: completed and kept messages (the default)");
    command.add_flag("--dead", dead, "claim: dead messages");
    command.add_flag("--yes", yes, "Other kinds: confirm that every message is deleted");
  }

  argument queue;
  bulk_arguments filter;
  bool done = false;
  bool dead = false;
  bool yes = false;
};

std::size_t purge_all(tableq::destructive_queue& queue, const purge_arguments& given) {
  if (given.done || given.dead || given.filter.given() || given.filter.all ||
      given.filter.dry_run) {
    throw usage_error("--done, --dead and conditions are for claim queues only");
  }
  if (!given.yes) {
    throw usage_error("this deletes every message of " + in_quotes(queue.name()) +
                      "; confirm it with --yes");
  }
  return queue.purge();
}

/// Without other conditions than an age: done messages, unless --dead was given.
exit_status purge(const connection_options& connection, const purge_arguments& given) {
  const bool named = given.done || given.dead;
  if (given.done && given.dead) throw usage_error("--done and --dead exclude each other");
  const tableq::message_filter read = given.filter.read();
  if (named && read.state) throw usage_error("give --done, --dead or --state");
  const auto which = given.dead ? tableq::message_state::dead : tableq::message_state::done;
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  std::size_t count = 0;
  if (auto* claim = std::get_if<tableq::claim_queue>(&opened)) {
    if (!given.filter.only_state() || read.state || read.all || given.filter.dry_run) {
      static_cast<void>(
          given.filter.run("deleted", [&](tableq::message_filter filter, const auto& options) {
            const bool any = filter.state || filter.all;
            if (named || !any) filter.state = which;
            return claim->purge(filter, options);
          }));
      return exit_status::done;
    }
    count = claim->purge(which);
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
                            .details = "In a claim queue done messages, or dead ones, that meet "
                                       "every condition; --all means both.\n"
                                       "In the other kinds every message.",
                            .usage = "QUEUE [--done | --dead] [CONDITIONS] [--dry-run] [--yes]",
                            .examples = "  tableq purge jobs --older-than 7d\n"
                                        "  tableq purge jobs --dead --header tenant=acme\n"
                                        "  tableq purge mail --yes"});
  const auto given = std::make_shared<purge_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return purge(call.connection, *given); }; });
}

}  // namespace tool
