#include <optional>
#include <string>
#include <variant>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "filter.hpp"
#include "messages.hpp"
#include "output.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

struct purge_arguments : queue_argument {
  using queue_argument::queue_argument;
  bulk_arguments filter = bulk_arguments(command);
  flag done{command, "--done", "claim: completed and kept messages (the default)"};
  flag dead{command, "--dead", "claim: dead messages"};
  flag yes{command, "--yes", "Other kinds: confirm that every message is deleted"};
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

/// Deletes messages, and says where others have moved.
exit_status purge_claim(tableq::database& db, tableq::claim_queue& queue,
                        const bulk_arguments& given, std::optional<tableq::message_state> which) {
  const exit_status found =
      given.run("deleted", [&](tableq::message_filter filter, const auto& options) {
        if (which) filter.state = which;
        return queue.purge(filter, options);
      });
  if (found == exit_status::nothing && which == tableq::message_state::dead) {
    const std::string words = words_on_dead_letters(db, queue);
    if (!words.empty()) {
      status_line().note(words + "; `tableq cancel " + require(db, queue.name()).dead_letters +
                         " --state ready` deletes them");
    }
  }
  return exit_status::done;
}

/// Without a state: done messages, unless --dead was given.
exit_status purge(const connection_options& connection, const purge_arguments& given) {
  if (given.done && given.dead) throw usage_error("--done and --dead exclude each other");
  const tableq::message_filter read = given.filter.read();
  if ((given.done || given.dead) && read.state) throw usage_error("give --done, --dead or --state");
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  if (auto* const claim = std::get_if<tableq::claim_queue>(&opened)) {
    std::optional<tableq::message_state> which;
    if (given.dead) which = tableq::message_state::dead;
    if (given.done || !(given.dead || read.state || read.all)) which = tableq::message_state::done;
    return purge_claim(db, *claim, given.filter, which);
  }
  given.filter.print({.count = purge_all(as_destructive(opened, ""), given)});
  return exit_status::done;
}

struct dead_purge_arguments : queue_argument {
  using queue_argument::queue_argument;
  bulk_arguments filter = bulk_arguments(command);
};

exit_status purge_dead(const connection_options& connection, const dead_purge_arguments& given) {
  refuse(given.filter.state, "is dead here");
  static_cast<void>(given.filter.read());
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  return purge_claim(db, as_claim(opened, "only claim queues have dead messages"), given.filter,
                     tableq::message_state::dead);
}

}  // namespace

void add_purge(CLI::App& app, invocation& call) {
  add_database_command<purge_arguments>(
      app, call, "purge",
      {.description = "Delete messages, and print how many",
       .details = "In a claim queue done messages, or dead ones, that meet every condition; --all "
                  "means both.\n"
                  "In the other kinds every message.",
       .usage = "QUEUE [--done | --dead] [CONDITIONS] [--dry-run] [--yes] [--json]",
       .examples = "  tableq purge jobs --older-than 7d\n"
                   "  tableq purge jobs --dead --header tenant=acme\n"
                   "  tableq purge mail --yes"},
      purge);
}

void add_dead_purge(CLI::App& dead, invocation& call) {
  add_database_command<dead_purge_arguments>(
      dead, call, "purge",
      {.description = "Delete dead messages, and print how many",
       .details = "All that meet every condition; without one all of them.",
       .usage = "QUEUE [CONDITIONS] [--dry-run] [--json]",
       .examples = "  tableq dead purge jobs --older-than 7d\n"
                   "  tableq dead purge jobs"},
      purge_dead);
}

}  // namespace tool
