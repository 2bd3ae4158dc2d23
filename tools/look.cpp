#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "figures.hpp"
#include "format.hpp"
#include "messages.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "row_json.hpp"
#include "source.hpp"

namespace tool {

namespace {

/// A row has no payload: it is JSON always.
std::string peek_line(const tableq::row& one, bool /*as_json*/) {
  return row_json(one);
}
template <class Message>
std::string peek_line(const Message& one, bool as_json) {
  return as_json ? message_json(one) : one.payload;
}

exit_status peek(const connection_options& connection, const source_arguments& from,
                 std::size_t count, bool as_json) {
  tableq::database db = connect(connection);
  const any_source opened = from.open(db);
  output out;
  const bool any = std::visit(
      [&](const auto& queue) {
        const auto messages = queue.peek(count);
        for (const auto& one : messages) out.line(peek_line(one, as_json));
        return !messages.empty();
      },
      opened);
  out.flush();
  return any ? exit_status::done : exit_status::nothing;
}

std::vector<std::string> cells(const queue_figures& of) {
  std::vector<std::string> row{of.queue, std::string(tableq::to_string(of.kind))};
  for (const figure& each : figures_of(of)) row.push_back(each.text());
  const auto oldest = of.oldest();
  row.push_back(oldest ? iso(*oldest) : "-");
  return row;
}

/// The figures of all queues. A queue that cannot be read is told and left out.
exit_status look_at_all(tableq::database& db, const tableq::stats_options& how,
                        std::vector<queue_figures>& into) {
  exit_status out = exit_status::done;
  for (const auto& queue : db.queues()) {
    try {
      into.push_back(look_at(open_source(db, queue.name), how));
    } catch (const tableq::error& failure) {
      if (!of_one_queue(failure)) throw;
      complain(in_quotes(queue.name) + ": " + sentence_of(failure));
      out = exit_status::refused;
    }
  }
  return out;
}

exit_status stats(const connection_options& connection, const source_arguments& from, bool as_json,
                  bool exact) {
  tableq::database db = connect(connection);
  const tableq::stats_options how{.exact = exact};
  exit_status status = exit_status::done;
  std::vector<queue_figures> all;
  if (from.given()) {
    all.push_back(look_at(from.open(db), how));
  } else {
    status = look_at_all(db, how, all);
  }
  output out;
  std::vector<std::vector<std::string>> rows{
      {"QUEUE", "KIND", "READY", "DELAYED", "LEASED", "HELD", "DONE", "DEAD", "LETTERS", "OLDEST"}};
  for (const queue_figures& one : all) {
    if (as_json) out.line(figures_json(one).dump());
    rows.push_back(cells(one));
  }
  if (!as_json && !all.empty()) {
    for (const std::string& line : aligned(rows)) out.line(line);
  }
  out.flush();
  return all.empty() && status == exit_status::done ? exit_status::nothing : status;
}

/// How many of the queue's messages wait in its dead-letter queue. Without a count: it has none, or
/// this cannot be read.
figure in_dead_letters(tableq::database& db, const tableq::queue_info& queue) {
  if (queue.dead_letters.empty()) return {"in_dead_letters", std::nullopt};
  try {
    const tableq::claim_stats found = db.claim(queue.name).stats();
    return {"in_dead_letters", found.dead_letters, found.dead_letters_at_least};
  } catch (const tableq::error& failure) {  // The list needs no right on the queue itself.
    if (!of_one_queue(failure)) throw;
    return {"in_dead_letters", std::nullopt};
  }
}

json description(const tableq::queue_info& queue, const figure& letters) {
  json result{{"queue", queue.name},
              {"kind", tableq::to_string(queue.kind)},
              {"layout", queue.layout},
              {"created_at", iso(queue.created_at)}};
  if (queue.kind == tableq::kind::fifo || queue.kind == tableq::kind::lifo) {
    result["strict"] = queue.ordering == tableq::ordering::strict;
  }
  if (queue.kind == tableq::kind::claim) {
    result["lease_ms"] = queue.lease.count();
    result["max_attempts"] = queue.max_attempts;
    result["keep"] = queue.keep_completed;
    result["group_limits"] = queue.group_limits;
    result["batches"] = queue.batches;
    result["dead_letters"] = queue.dead_letters.empty() ? json() : json(queue.dead_letters);
    result[std::string(letters.name)] = letters.count ? json(*letters.count) : json();
    result["at_least"] = letters.at_least ? json::array({letters.name}) : json::array();
  }
  if (queue.table) result["mapping"] = json::parse(to_json(*queue.table));
  return result;
}

exit_status list(const connection_options& connection, bool as_json) {
  tableq::database db = connect(connection);
  const std::vector<tableq::queue_info> queues = db.queues();
  output out;
  std::vector<std::vector<std::string>> rows{{"QUEUE", "KIND", "OPTIONS"}};
  for (const tableq::queue_info& one : queues) {
    const figure letters = in_dead_letters(db, one);
    if (as_json) out.line(description(one, letters).dump());
    std::string options = options_text(one);
    if (letters.count) options += " " + std::string(letters.name) + "=" + letters.text();
    rows.push_back({one.name, std::string(tableq::to_string(one.kind)), std::move(options)});
  }
  if (!as_json && !queues.empty()) {
    for (const std::string& line : aligned(rows)) out.line(line);
  }
  out.flush();
  return queues.empty() ? exit_status::nothing : exit_status::done;
}

struct look_arguments {
  explicit look_arguments(CLI::App& command) {
    command.add_flag("--json", as_json, "One object on each line");
  }

  bool as_json = false;
};

}  // namespace

void add_peek(CLI::App& app, invocation& call) {
  CLI::App& command =
      add_database_command(app, call, "peek",
                           {.description = "Print the next messages, without taking them",
                            .details = "Exit status 1 when there is none.",
                            .usage = "QUEUE | --mapping FILE [--count N] [--json]",
                            .examples = "  tableq peek mail\n"
                                        "  tableq peek jobs --count 20 --json\n"
                                        "  tableq peek --mapping emails.json"});
  struct peek_arguments : look_arguments {
    explicit peek_arguments(CLI::App& added)
        : look_arguments(added),
          from(added, "The queue"),
          count(added, "--count", "N", "At most N messages, up to 10,000 (1)") {}
    source_arguments from;
    argument count;
  };
  const auto given = std::make_shared<peek_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] {
      return peek(call.connection, given->from, count_or(given->count, "--count", 1, 10'000),
                  given->as_json);
    };
  });
}

void add_stats(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "stats",
      {.description = "Count messages by their state",
       .details =
           "In one queue, or in all. Each count stops at 10,000, shown as 10000+ and named "
           "in the member\n"
           "at_least of the JSON; --exact counts to the end. LETTERS: dead messages of the queue "
           "that wait in its\n"
           "dead-letter queue; - if it has none, or you may not read it. Exit status 1 when "
           "there is no queue.",
       .usage = "[QUEUE | --mapping FILE] [--json] [--exact]",
       .examples = "  tableq stats\n"
                   "  tableq stats jobs --json | jq .dead\n"
                   "  tableq stats --exact"});
  struct stats_arguments : look_arguments {
    explicit stats_arguments(CLI::App& added)
        : look_arguments(added), from(added, "One queue only") {
      added.add_flag("--exact", exact, "Count all messages");
    }
    source_arguments from;
    bool exact = false;
  };
  const auto given = std::make_shared<stats_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] {
      const argument& queue = given->from.queue;
      if (queue.given() && queue.text().empty()) throw usage_error("the queue's name is empty");
      return stats(call.connection, given->from, given->as_json, given->exact);
    };
  });
}

void add_list(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "list",
      {.description = "Show the queues, or the messages of a claim queue",
       .details = "Without QUEUE: all queues, their kinds and options. With it: its messages that "
                  "meet every condition.\n"
                  "With a state alone, ready unless given: ready and held ones in the order of "
                  "takes, delayed and leased\n"
                  "ones by their time, done and dead ones by the time at which they finished; "
                  "otherwise by id.\n"
                  "Exit status 1 when there is none.",
       .usage = "[--json] | QUEUE [CONDITIONS] [--count N] [--json]",
       .examples = "  tableq list\n"
                   "  tableq list --json | jq -r .queue\n"
                   "  tableq list jobs --state leased\n"
                   "  tableq list jobs --header tenant=acme --older-than 1h\n"
                   "  tableq list jobs --state delayed --count 1000 --json | jq .due_at"});
  struct list_arguments : look_arguments {
    explicit list_arguments(CLI::App& added)
        : look_arguments(added),
          queue(added, "QUEUE", "", "The messages of this claim queue"),
          filter(added),
          count(added, "--count", "N", "At most N messages (100)") {}
    argument queue;
    filter_arguments filter;
    argument count;
  };
  const auto given = std::make_shared<list_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] {
      if (!given->queue.given()) {
        if (given->filter.given()) throw usage_error("a condition needs a QUEUE");
        refuse(given->count, "--count", "needs a QUEUE");
        return list(call.connection, given->as_json);
      }
      return list_messages(call.connection, given->queue.text(), given->filter,
                           count_or(given->count, "--count", 100, 1'000'000'000), given->as_json);
    };
  });
}

}  // namespace tool
