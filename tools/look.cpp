#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

exit_status peek(const connection_options& connection, const std::string& name, std::size_t count,
                 bool as_json) {
  tableq::database db = connect(connection);
  const any_queue opened = open_queue(db, name);
  output out;
  const bool any = std::visit(
      [&](const auto& queue) {
        const auto messages = queue.peek(count);
        for (const auto& one : messages) out.line(as_json ? message_json(one) : one.payload);
        return !messages.empty();
      },
      opened);
  out.flush();
  return any ? exit_status::done : exit_status::nothing;
}

/// One queue's figures; null where the kind has no such figure.
json figures(const any_queue& opened) {
  return std::visit(
      [](const auto& queue) {
        const auto stats = queue.stats();
        json result{{"queue", queue.name()}, {"kind", tableq::to_string(queue.kind())}};
        if constexpr (std::is_same_v<std::decay_t<decltype(stats)>, tableq::claim_stats>) {
          result["ready"] = stats.ready;
          result["delayed"] = stats.delayed;
          result["leased"] = stats.leased;
          result["done"] = stats.done;
          result["dead"] = stats.dead;
        } else {
          result["ready"] = stats.waiting;
          const bool timed = queue.kind() == tableq::kind::pending;
          result["delayed"] = timed ? json(stats.delayed) : json();
          for (const char* none : {"leased", "done", "dead"}) result[none] = nullptr;
        }
        result["oldest"] = iso_or_null(stats.oldest);
        return result;
      },
      opened);
}

std::vector<std::string> cells(const json& object) {
  std::vector<std::string> row;
  for (const auto& value : object) {
    row.push_back(value.is_null()     ? "-"
                  : value.is_string() ? value.get<std::string>()
                                      : value.dump());
  }
  return row;
}

exit_status stats(const connection_options& connection, const std::string& name, bool as_json) {
  tableq::database db = connect(connection);
  std::vector<std::string> names;
  if (!name.empty()) {
    names.push_back(name);
  } else {
    for (const auto& queue : db.queues()) names.push_back(queue.name);
  }
  output out;
  std::vector<std::vector<std::string>> rows{
      {"QUEUE", "KIND", "READY", "DELAYED", "LEASED", "DONE", "DEAD", "OLDEST"}};
  for (const std::string& one : names) {
    const json object = figures(open_queue(db, one));
    if (as_json) out.line(object.dump());
    rows.push_back(cells(object));
  }
  if (!as_json && !names.empty()) {
    for (const std::string& line : aligned(rows)) out.line(line);
  }
  out.flush();
  return names.empty() ? exit_status::nothing : exit_status::done;
}

json description(const tableq::queue_info& queue) {
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
    result["keep"] = queue.keep;
  }
  return result;
}

exit_status list(const connection_options& connection, bool as_json) {
  const tableq::database db = connect(connection);
  const std::vector<tableq::queue_info> queues = db.queues();
  output out;
  std::vector<std::vector<std::string>> rows{{"QUEUE", "KIND", "OPTIONS"}};
  for (const tableq::queue_info& one : queues) {
    if (as_json) out.line(description(one).dump());
    rows.push_back({one.name, std::string(tableq::to_string(one.kind)), options_text(one)});
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
                           {.description = "Print what would be read next, without taking it",
                            .details = "Exit status 1 when there is nothing.",
                            .usage = "QUEUE [--count N] [--json]",
                            .examples = "  tableq peek mail\n"
                                        "  tableq peek jobs --count 20 --json"});
  struct peek_arguments : look_arguments {
    explicit peek_arguments(CLI::App& added)
        : look_arguments(added),
          queue(added, "QUEUE", "", "The queue"),
          count(added, "--count", "N", "At most so many messages, up to 10,000 (1)") {
      queue.required();
    }
    argument queue;
    argument count;
  };
  const auto given = std::make_shared<peek_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] {
      return peek(call.connection, given->queue.text(),
                  count_or(given->count, "--count", 1, 10'000), given->as_json);
    };
  });
}

void add_stats(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "stats",
      {.description = "Count messages by their state",
       .details = "In one queue, or in all. Exit status 1 when there is no queue.",
       .usage = "[QUEUE] [--json]",
       .examples = "  tableq stats\n"
                   "  tableq stats jobs --json | jq .dead"});
  const auto given = std::make_shared<look_arguments>(command);
  const auto queue = std::make_shared<argument>(command, "QUEUE", "", "One queue only");
  command.callback([&call, given, queue] {
    call.run = [&call, given, queue] {
      if (queue->given() && queue->text().empty()) throw usage_error("the queue's name is empty");
      return stats(call.connection, queue->text(), given->as_json);
    };
  });
}

void add_list(CLI::App& app, invocation& call) {
  CLI::App& command =
      add_database_command(app, call, "list",
                           {.description = "Show the queues, their kinds and options",
                            .details = "Exit status 1 when there is none.",
                            .usage = "[--json]",
                            .examples = "  tableq list\n"
                                        "  tableq list --json | jq -r .queue"});
  const auto given = std::make_shared<look_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] { return list(call.connection, given->as_json); };
  });
}

}  // namespace tool
