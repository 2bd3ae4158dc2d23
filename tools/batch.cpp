#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

void print(const std::vector<tableq::batch_info>& all, bool as_json) {
  output out;
  std::vector<std::vector<std::string>> rows{{"BATCH", "NAME", "STATE", "TOTAL", "OUTSTANDING",
                                              "COMPLETED", "DEAD", "REMOVED", "GONE", "THEN",
                                              "CREATED"}};
  for (const tableq::batch_info& one : all) {
    if (as_json) out.line(batch_json(one).dump());
    rows.push_back({std::to_string(one.id), one.name.empty() ? "-" : printable(one.name),
                    state_of(one), std::to_string(one.total), std::to_string(one.outstanding),
                    std::to_string(one.completed), std::to_string(one.dead),
                    std::to_string(one.removed), std::to_string(one.gone),
                    one.then.empty() ? "-" : one.then, iso(one.created_at)});
  }
  if (!as_json && !all.empty()) {
    for (const std::string& line : aligned(rows)) out.line(line);
  }
  out.flush();
}

exit_status list_batches(const connection_options& connection, std::size_t count, bool as_json) {
  constexpr std::size_t page = 1000;
  const tableq::database db = connect(connection);
  std::vector<tableq::batch_info> all;
  std::optional<std::int64_t> before;
  while (all.size() < count) {
    const auto found = db.batches({.max = std::min(page, count - all.size()), .before = before});
    if (found.empty()) break;
    before = found.back().id;
    all.insert(all.end(), found.begin(), found.end());
  }
  print(all, as_json);
  return all.empty() ? exit_status::nothing : exit_status::done;
}

exit_status missing(std::int64_t id) {
  complain("there is no batch " + std::to_string(id));
  return exit_status::nothing;
}

exit_status get_batch(const connection_options& connection, std::int64_t id) {
  const auto found = connect(connection).batch(id).get();
  if (!found) return missing(id);
  print({*found}, true);
  return exit_status::done;
}

exit_status seal_batch(const connection_options& connection, std::int64_t id) {
  connect(connection).batch(id).seal();
  return exit_status::done;
}

exit_status cancel_batch(const connection_options& connection, std::int64_t id) {
  tableq::database db = connect(connection);
  if (db.batch(id).cancel()) return exit_status::done;
  if (!db.batch(id).get()) return missing(id);
  complain("the batch " + std::to_string(id) + " has ended");
  return exit_status::nothing;
}

using batch_action = exit_status (*)(const connection_options&, std::int64_t);

void add_batch_action(CLI::App& batch, invocation& call, const char* name, const command_help& text,
                      batch_action act) {
  CLI::App& command = add_database_command(batch, call, name, text);
  const auto id =
      std::make_shared<argument>(command, "ID", "", "A batch, as `batch list` prints it");
  id->required();
  command.callback([&call, id, act] {
    call.run = [&call, id, act] {
      return act(call.connection, parse_number("ID", id->text(), 1, highest));
    };
  });
}

struct begin_arguments {
  explicit begin_arguments(CLI::App& command)
      : then(command, "--then", "QUEUE", "The queue that gets a message at the end"),
        payload(command, "--payload", "TEXT", "Its payload; empty without it"),
        parent(command, "--parent", "ID", "The batch of which the new one is a member"),
        name(command, "--name", "TEXT", "A name for people, which list and get show") {}

  argument then;
  argument payload;
  argument parent;
  argument name;
};

exit_status begin(const connection_options& connection, const begin_arguments& given) {
  tableq::batch_options options;
  if (given.then.given()) {
    options.then = {.queue = given.then.text(),
                    .payload = given.payload.given() ? given.payload.text() : std::string()};
  } else {
    refuse(given.payload, "--payload", "goes with --then");
  }
  if (given.parent.given()) {
    options.parent =
        tableq::batch_id{.value = parse_number("--parent", given.parent.text(), 1, highest)};
  }
  if (given.name.given()) options.name = given.name.text();
  tableq::database db = connect(connection);
  const tableq::batch made = db.begin_batch(options);
  output out;
  out.line(std::to_string(made.id()));
  out.flush();
  return exit_status::done;
}

void add_begin(CLI::App& batch, invocation& call) {
  CLI::App& command = add_database_command(
      batch, call, "begin",
      {.description = "Begin a batch, and print its id",
       .details = "Messages of all queues that were created with --batches may belong to it.",
       .usage = "[--name TEXT] [--then QUEUE [--payload TEXT]] [--parent ID]",
       .examples = "  id=$(tableq batch begin --then reports --payload 'import is done')"});
  const auto given = std::make_shared<begin_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return begin(call.connection, *given); }; });
}

void add_batch_list(CLI::App& batch, invocation& call) {
  CLI::App& command = add_database_command(
      batch, call, "list",
      {.description = "Show batches, the newest first",
       .details = "Batches that ended over 30 days ago are forgotten. Exit status 1 when there is "
                  "none.",
       .usage = "[--count N] [--json]",
       .examples = "  tableq batch list\n"
                   "  tableq batch list --json | jq .outstanding"});
  const auto count = std::make_shared<argument>(command, "--count", "N", "At most N (20)");
  const auto as_json = std::make_shared<bool>(false);
  command.add_flag("--json", *as_json, "One object on each line");
  command.callback([&call, count, as_json] {
    call.run = [&call, count, as_json] {
      return list_batches(call.connection, count_or(*count, "--count", 20, 1'000'000'000),
                          *as_json);
    };
  });
}

}  // namespace

void add_batch(CLI::App& app, invocation& call) {
  CLI::App& batch = add_command(
      app, "batch",
      {.description = "Begin, list, seal or cancel batches of messages",
       .details =
           "`tableq enqueue --batch ID` adds messages to a batch. When it is sealed and each "
           "of them is\n"
           "completed, dead or removed, one message comes to another queue.",
       .usage = "begin | list | get | seal | cancel ...",
       .examples = "  id=$(tableq batch begin --then reports --payload 'import is done')\n"
                   "  tableq enqueue jobs --batch \"$id\" 'part 1' 'part 2'\n"
                   "  tableq batch seal \"$id\""});
  batch.require_subcommand(1);
  add_begin(batch, call);
  add_batch_list(batch, call);
  add_batch_action(batch, call, "get",
                   {.description = "Show a batch as a JSON object",
                    .details = "Exit status 1 when it is not there.",
                    .usage = "ID",
                    .examples = "  tableq batch get 17"},
                   get_batch);
  add_batch_action(
      batch, call, "seal",
      {.description = "No more messages are added to a batch; when they are done, it ends",
       .details = "",
       .usage = "ID",
       .examples = "  tableq batch seal 17"},
      seal_batch);
  add_batch_action(
      batch, call, "cancel",
      {.description = "Seal a batch and remove its messages that wait",
       .details = "Handlers that run see their stop token. The batch ends when they have "
                  "ended.\nExit status 1 when it has ended or is not there.",
       .usage = "ID",
       .examples = "  tableq batch cancel 17"},
      cancel_batch);
}

}  // namespace tool
