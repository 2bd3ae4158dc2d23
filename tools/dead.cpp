#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "figures.hpp"
#include "filter.hpp"
#include "messages.hpp"
#include "output.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

struct dead_list_arguments : arguments {
  using arguments::arguments;
  argument queue = argument(command, "QUEUE", "", "A claim queue").required();
  argument count{command, "--count", "N", "At most N (100)"};
  flag as_json{command, "--json", "One object on each line"};
};

exit_status list_dead(const connection_options& connection, const dead_list_arguments& given) {
  return list_messages(connection, given.queue.text(), {.state = tableq::message_state::dead},
                       given.count.count(100, 1'000'000'000), given.as_json);
}

struct redrive_arguments : action_arguments {
  using action_arguments::action_arguments;
  argument count{command, "--count", "N", "With --all, or --error alone: at most N (all)"};
  argument rate{command, "--rate", "N",
                "With --all, or --error alone: at most N a second (no limit)"};
};

/// With a number or a rate.
tableq::redriven redrive_some(tableq::claim_queue& queue, const redrive_arguments& given) {
  tableq::redrive_options choice;
  if (given.filter.error.given()) {
    choice.filter = [text = given.filter.error.text()](const tableq::stored_message& each) {
      return !each.errors.empty() && each.errors.back().error.find(text) != std::string::npos;
    };
  }
  if (given.count.given()) choice.max = given.count.count(1, 1'000'000'000);
  if (given.rate.given()) choice.per_second = static_cast<double>(given.rate.number(1, 1'000'000));
  return queue.redrive_all(choice);
}

/// Where a queue that others' dead messages moved to has none of its own. Empty: it is not such a
/// queue.
std::string words_on_sender(const tableq::database& db, const std::string& letters) {
  for (const tableq::queue_info& each : db.queues()) {
    if (each.dead_letters == letters) {
      return "dead messages of " + each.name + " move to " + letters + ": `tableq redrive " +
             each.name + "` brings them back";
    }
  }
  return {};
}

exit_status redrive(const connection_options& connection, const redrive_arguments& given) {
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  const bool filtered = given.filter.by_filter(!ids.empty());
  const bool some = given.count.given() || given.rate.given();
  const tableq::message_filter by = given.filter.read();
  if (some && (!filtered || given.filter.dry_run || by.state || by.older_than || by.header ||
               by.group || by.key_prefix)) {
    throw usage_error("--count and --rate go with --all or --error alone");
  }
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  tableq::claim_queue& queue = as_claim(opened, "only claim queues have dead messages");
  const auto told = [&](exit_status ended, std::string words) {
    if (ended == exit_status::nothing && words.empty()) words = words_on_sender(db, queue.name());
    if (!words.empty()) status_line().note(words);
    return ended;
  };
  if (filtered && !some) {
    const auto fitting = [&](const auto& filter, const auto& options) {
      return queue.redrive(filter, options);
    };
    return told(given.filter.run("ready", fitting), "");
  }
  const tableq::redriven result =
      some ? redrive_some(queue, given) : tableq::redriven{.count = queue.redrive(ids)};
  const std::string letters =
      result.count == 0 && !some ? words_on_dead_letters(db, queue) : std::string();
  given.filter.print({.count = result.count, .key_held = result.key_held});
  return told(result.count > 0 ? exit_status::done : exit_status::nothing, letters);
}

/// @param path the name of the command.
void add_redrive_to(CLI::App& parent, invocation& call, const std::string& path) {
  add_database_command<redrive_arguments>(
      parent, call, "redrive",
      {.description = "Make dead messages of a claim queue ready again, and print how many",
       .details = std::string("Their attempts start again at zero; their error history stays. Also "
                              "what was moved to the\n"
                              "queue's dead-letter queue, but for messages whose keys other "
                              "messages hold by now.\n") +
                  filter_details,
       .usage =
           "QUEUE ID... | CONDITIONS [--dry-run] | --all [--error TEXT] [--count N] [--rate N]",
       .examples = "  tableq " + path + " jobs 17 23\n  tableq " + path +
                   " mail --error 'time-out' --older-than 1h --dry-run\n  tableq " + path +
                   " mail --all --rate 20"},
      redrive);
}

}  // namespace

std::string words_on_dead_letters(const tableq::database& db, const tableq::claim_queue& queue) {
  const std::string& name = queue.name();
  const std::string letters = require(db, name).dead_letters;
  if (letters.empty()) return {};
  const tableq::claim_stats found = queue.stats();
  const figure waiting{"dead_letters", found.dead_letters, found.dead_letters_at_least};
  return "dead messages of " + name + " move to " + letters +
         (waiting.count ? ", where " + waiting.text() + " wait" : "") + ": see `tableq list " +
         letters + "` and `tableq dead redrive " + name + " --all`";
}

void add_dead(CLI::App& app, invocation& call) {
  CLI::App& dead = add_command(app, "dead",
                               {.description = "List, redrive or purge dead messages",
                                .details = "For claim queues.",
                                .usage = "list | redrive | purge ...",
                                .examples = "  tableq dead list jobs\n"
                                            "  tableq dead redrive jobs --all\n"
                                            "  tableq dead purge jobs --older-than 7d"});
  dead.require_subcommand(1);
  add_database_command<dead_list_arguments>(
      dead, call, "list",
      {.description = "Show dead messages, oldest death first",
       .details = "As `tableq list --state dead`; --json shows everything.\n"
                  "Exit status 1 when there is none.",
       .usage = "QUEUE [--count N] [--json]",
       .examples = "  tableq dead list jobs\n"
                   "  tableq dead list jobs --json | jq .errors"},
      list_dead);
  add_redrive_to(dead, call, "dead redrive");
  add_dead_purge(dead, call);
  add_redrive_to(app, call, "redrive");
}

}  // namespace tool
