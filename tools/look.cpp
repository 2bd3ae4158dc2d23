#include <chrono>
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

struct look_arguments : arguments {
  using arguments::arguments;
  flag as_json{command, "--json", "One object on each line"};
};

struct peek_arguments : look_arguments {
  using look_arguments::look_arguments;
  source_arguments from{command, "The queue"};
  argument count{command, "--count", "N", "At most N messages, up to 10,000 (1)"};
};

struct stats_arguments : look_arguments {
  using look_arguments::look_arguments;
  source_arguments from{command, "One queue only"};
  flag exact{command, "--exact", "Count all messages, which is slow where there are many"};
};

struct list_arguments : look_arguments {
  using look_arguments::look_arguments;
  argument queue{command, "QUEUE", "", "The messages of this claim queue"};
  filter_arguments filter = filter_arguments(command);
  argument count{command, "--count", "N", "At most N messages (100)"};
};

/// A row has no payload: it is JSON always.
std::string peek_line(const tableq::row& one, bool /*as_json*/) {
  return row_json(one);
}
template <class Message>
std::string peek_line(const Message& one, bool as_json) {
  return as_json ? message_json(one) : one.payload;
}

exit_status peek(const connection_options& connection, const peek_arguments& given) {
  const std::size_t count = given.count.count(1, 10'000);
  tableq::database db = connect(connection);
  const any_source opened = given.from.open(db);
  output out;
  const bool any = std::visit(
      [&](const auto& queue) {
        const auto messages = queue.peek(count);
        for (const auto& one : messages) out.line(peek_line(one, given.as_json));
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

exit_status stats(const connection_options& connection, const stats_arguments& given) {
  tableq::database db = connect(connection);
  const tableq::stats_options how{.exact = given.exact};
  exit_status status = exit_status::done;
  std::vector<queue_figures> all;
  if (given.from.given()) {
    all.push_back(look_at(given.from.open(db), how));
  } else {
    status = look_at_all(db, how, all);
  }
  listing shown(given.as_json, {"QUEUE", "KIND", "READY", "DELAYED", "LEASED", "HELD", "DONE",
                                "DEAD", "LETTERS", "OLDEST"});
  for (const queue_figures& one : all) shown.add(line_of(figures_json(one)), cells(one));
  shown.print();
  if (all.empty()) tell_of_no_queues(db, connection);
  return status == exit_status::done ? shown.status() : status;
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

json milliseconds_or_null(const std::optional<std::chrono::milliseconds>& time) {
  return time ? json(time->count()) : json();
}

/// The names of options are those of the C interface.
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
    result["keep_completed"] = queue.keep_completed;
    json retry = json::array();
    for (const auto each : queue.retry.after) retry.push_back(each.count());
    result["retry_ms"] = std::move(retry);
    result["retry_jitter"] = queue.retry.jitter;
    result["time_to_live_ms"] = milliseconds_or_null(queue.time_to_live);
    result["keys"] = to_string(queue.keys);
    result["key_window_ms"] = queue.key_window.count();
    const auto& groups = queue.groups;
    result["group_limit"] = groups ? json(groups->limit) : json();
    result["group_on_failure"] = groups ? json(to_string(groups->on_failure)) : json();
    result["group_by_turns"] = groups ? json(groups->by_turns) : json();
    result["group_limits"] = queue.group_limits;
    result["retain_done_ms"] = milliseconds_or_null(queue.retention.done);
    result["retain_dead_ms"] = milliseconds_or_null(queue.retention.dead);
    result["batches"] = queue.batches;
    result["dead_letters"] = queue.dead_letters.empty() ? json() : json(queue.dead_letters);
    result[std::string(letters.name)] = letters.count ? json(*letters.count) : json();
    result["at_least"] = letters.at_least ? json::array({letters.name}) : json::array();
  }
  if (queue.table) result["mapping"] = json::parse(to_json(*queue.table));
  return result;
}

exit_status list_queues(const connection_options& connection, bool as_json) {
  tableq::database db = connect(connection);
  tell_of_no_queues(db, connection);
  listing shown(as_json, {"QUEUE", "KIND", "OPTIONS"});
  for (const tableq::queue_info& one : db.queues()) {
    const figure letters = in_dead_letters(db, one);
    std::string options = options_text(one);
    if (letters.count) options += " " + std::string(letters.name) + "=" + letters.text();
    shown.add(line_of(description(one, letters)),
              {one.name, std::string(tableq::to_string(one.kind)), std::move(options)});
  }
  shown.print();
  return shown.status();
}

exit_status list(const connection_options& connection, const list_arguments& given) {
  if (!given.queue.given()) {
    if (given.filter.given()) throw usage_error("a condition needs a QUEUE");
    refuse(given.count, "needs a QUEUE");
    return list_queues(connection, given.as_json);
  }
  return list_messages(connection, given.queue.text(), given.filter.read(),
                       given.count.count(100, 1'000'000'000), given.as_json);
}

}  // namespace

void add_looks(CLI::App& app, invocation& call) {
  add_database_command<peek_arguments>(
      app, call, "peek",
      {.description = "Print the next messages, without taking them",
       .details = "Exit status 1 when there is none.",
       .usage = "QUEUE | --mapping FILE [--count N] [--json]",
       .examples = "  tableq peek mail\n"
                   "  tableq peek jobs --count 20 --json\n"
                   "  tableq peek --mapping emails.json"},
      peek);
  add_database_command<stats_arguments>(
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
                   "  tableq stats --exact"},
      stats);
  add_database_command<list_arguments>(
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
                   "  tableq list jobs --state delayed --count 1000 --json | jq .due_at"},
      list);
}

}  // namespace tool
