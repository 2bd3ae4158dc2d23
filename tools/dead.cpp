#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "figures.hpp"
#include "filter.hpp"
#include "format.hpp"
#include "messages.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

const char* const only_claim = "only claim queues have dead messages";

struct dead_arguments {
  explicit dead_arguments(CLI::App& command) : queue(command, "QUEUE", "", "A claim queue") {
    queue.required();
  }

  argument queue;
};

std::vector<std::string> row_of(const tableq::stored_message& message) {
  return {std::to_string(message.id.value), std::to_string(message.attempts),
          message.finished_at ? iso(*message.finished_at) : "-",
          message.errors.empty() ? "-" : printable(message.errors.back().error)};
}

void note(const std::string& words) {
  if (!words.empty()) status_line().note(words);
}

exit_status list_dead(const connection_options& connection, const std::string& name,
                      std::size_t count, bool as_json) {
  constexpr std::size_t page_size = 100;
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, name);
  const tableq::claim_queue& queue = as_claim(opened, only_claim);
  // Before the first line: a command that fails prints nothing.
  const std::string letters = words_on_dead_letters(db, queue);
  output out;
  std::size_t shown = 0;
  std::optional<tableq::stored_message> last;
  while (shown < count) {
    const std::size_t most = std::min(page_size, count - shown);
    auto messages = queue.list(tableq::message_state::dead, {.max = most, .after = last});
    if (messages.empty()) break;
    std::vector<std::vector<std::string>> rows;
    if (shown == 0) rows.push_back({"ID", "ATTEMPTS", "WHEN", "LAST ERROR"});
    for (const auto& one : messages) {
      if (as_json) out.line(message_json(one));
      rows.push_back(row_of(one));
    }
    if (!as_json) {
      for (const std::string& line : aligned(rows)) out.line(line);
    }
    shown += messages.size();
    last = std::move(messages.back());
    last->payload.clear();
  }
  out.flush();
  note(letters);
  return shown > 0 ? exit_status::done : exit_status::nothing;
}

struct redrive_arguments : dead_arguments {
  explicit redrive_arguments(CLI::App& added)
      : dead_arguments(added),
        ids(added, "ID", "", "Messages, as `dead list` shows them"),
        error(added, "--error", "TEXT", "With --all: only messages whose last error contains TEXT"),
        count(added, "--count", "N", "With --all: at most N"),
        rate(added, "--rate", "N", "With --all: at most N a second") {
    ids.many();
    added.add_flag("--all", all, "All dead messages");
  }

  /// The options of --all.
  [[nodiscard]] tableq::redrive_options choice() const {
    tableq::redrive_options out;
    if (error.given()) {
      out.filter = [text = error.text()](const tableq::stored_message& each) {
        return !each.errors.empty() && each.errors.back().error.find(text) != std::string::npos;
      };
    }
    if (count.given()) out.max = count_or(count, "--count", 1, 1'000'000'000);
    if (rate.given()) {
      out.per_second = static_cast<double>(parse_number("--rate", rate.text(), 1, 1'000'000));
    }
    return out;
  }

  argument ids;
  argument error;
  argument count;
  argument rate;
  bool all = false;
};

exit_status redrive(const connection_options& connection, const redrive_arguments& given) {
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  if (given.all == !ids.empty()) throw usage_error("give either ID or --all");
  if (!given.all) {
    refuse(given.error, "--error", "goes with --all");
    refuse(given.count, "--count", "goes with --all");
    refuse(given.rate, "--rate", "goes with --all");
  }
  const tableq::redrive_options choice = given.choice();
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  tableq::claim_queue& queue = as_claim(opened, only_claim);
  const tableq::redriven result =
      given.all ? queue.redrive_all(choice) : tableq::redriven{.count = queue.redrive(ids)};
  const std::string letters =
      result.count == 0 && !given.all ? words_on_dead_letters(db, queue) : std::string();
  output out;
  out.line(std::to_string(result.count));
  out.flush();
  if (result.key_held > 0) {
    status_line().note("left in the dead-letter queue: " + std::to_string(result.key_held) +
                       ", whose keys other messages hold");
  }
  note(letters);
  return result.count > 0 ? exit_status::done : exit_status::nothing;
}

exit_status purge_dead(const connection_options& connection, const std::string& name,
                       std::chrono::milliseconds older_than) {
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, name);
  tableq::claim_queue& queue = as_claim(opened, only_claim);
  const std::size_t gone = queue.purge(tableq::message_state::dead, {.older_than = older_than});
  const std::string letters = gone == 0 ? words_on_dead_letters(db, queue) : std::string();
  output out;
  out.line(std::to_string(gone));
  out.flush();
  if (!letters.empty()) {
    note(letters + "; `tableq dequeue " + require(db, name).dead_letters + "` deletes them");
  }
  return exit_status::done;
}

void add_dead_list(CLI::App& dead, invocation& call) {
  CLI::App& command = add_database_command(
      dead, call, "list",
      {.description = "Show dead messages, oldest death first",
       .details = "Shows id, attempts, time and last error; --json shows everything.\n"
                  "Exit status 1 when there is none.",
       .usage = "QUEUE [--count N] [--json]",
       .examples = "  tableq dead list jobs\n"
                   "  tableq dead list jobs --json | jq .errors"});
  struct list_arguments : dead_arguments {
    explicit list_arguments(CLI::App& added)
        : dead_arguments(added), count(added, "--count", "N", "At most N (100)") {
      added.add_flag("--json", as_json, "One object on each line");
    }
    argument count;
    bool as_json = false;
  };
  const auto given = std::make_shared<list_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] {
      return list_dead(call.connection, given->queue.text(),
                       count_or(given->count, "--count", 100, 1'000'000'000), given->as_json);
    };
  });
}

void add_dead_redrive(CLI::App& dead, invocation& call) {
  CLI::App& command = add_database_command(
      dead, call, "redrive",
      {.description = "Make dead messages ready again, and print how many",
       .details = "Their attempts start again at zero; their error history stays.\n"
                  "--all also brings back what was moved to the queue's dead-letter queue, but for "
                  "messages\n"
                  "whose keys other messages hold by now.\n"
                  "Exit status 1 when there were none.",
       .usage = "QUEUE ID... | --all [--error TEXT] [--count N] [--rate N]",
       .examples = "  tableq dead redrive jobs 17 23\n"
                   "  tableq dead redrive jobs --all\n"
                   "  tableq dead redrive mail --all --error 'time-out' --rate 20"});
  const auto given = std::make_shared<redrive_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return redrive(call.connection, *given); }; });
}

void add_dead_purge(CLI::App& dead, invocation& call) {
  CLI::App& command =
      add_database_command(dead, call, "purge",
                           {.description = "Delete dead messages, and print how many",
                            .details = "",
                            .usage = "QUEUE [--older-than TIME]",
                            .examples = "  tableq dead purge jobs --older-than 7d\n"
                                        "  tableq dead purge jobs"});
  struct purge_arguments : dead_arguments {
    explicit purge_arguments(CLI::App& added)
        : dead_arguments(added),
          older_than(added, "--older-than", "TIME", "Only messages that died at least TIME ago") {}
    argument older_than;
  };
  const auto given = std::make_shared<purge_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] {
      return purge_dead(call.connection, given->queue.text(),
                        duration_or(given->older_than, "--older-than", {}));
    };
  });
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
  add_dead_list(dead, call);
  add_dead_redrive(dead, call);
  add_dead_purge(dead, call);
}

void add_redrive(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "redrive",
      {.description = "Make dead messages of a claim queue ready again, and print how many",
       .details = std::string("As `dead redrive`, which also has --count and --rate; also what was "
                              "moved to the queue's dead-letter queue.\n") +
                  filter_details,
       .usage = "QUEUE ID... | CONDITIONS [--dry-run]",
       .examples = "  tableq redrive jobs 17 23\n"
                   "  tableq redrive mail --error 'time-out' --older-than 1h --dry-run"});
  struct arguments : dead_arguments {
    explicit arguments(CLI::App& added)
        : dead_arguments(added),
          ids(added, "ID", "", "Messages, as `list --state dead` shows them"),
          filter(added) {
      ids.many();
    }
    argument ids;
    bulk_arguments filter;
  };
  const auto given = std::make_shared<arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] {
      const std::vector<tableq::message_id> ids = parse_ids(given->ids);
      const bool filtered = given->filter.by_filter(!ids.empty());
      tableq::database db = connect(call.connection);
      any_queue opened = open_queue(db, given->queue.text());
      tableq::claim_queue& queue = as_claim(opened, only_claim);
      if (filtered) {
        return given->filter.run("ready", [&](const auto& filter, const auto& options) {
          return queue.redrive(filter, options);
        });
      }
      const std::size_t count = queue.redrive(ids);
      output out;
      out.line(std::to_string(count));
      out.flush();
      return count > 0 ? exit_status::done : exit_status::nothing;
    };
  });
}

}  // namespace tool
