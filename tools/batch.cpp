#include <algorithm>
#include <cstdint>
#include <limits>
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

struct batch_list_arguments : arguments {
  using arguments::arguments;
  argument count{command, "--count", "N", "At most N (20)"};
  flag as_json{command, "--json", "One object on each line"};
};

exit_status list_batches(const connection_options& connection, const batch_list_arguments& given) {
  constexpr std::size_t page = 1000;
  const std::size_t count = given.count.count(20, 1'000'000'000);
  const tableq::database db = connect(connection);
  tell_of_no_queues(db, connection);
  listing shown(given.as_json, {"BATCH", "NAME", "STATE", "TOTAL", "OUTSTANDING", "COMPLETED",
                                "DEAD", "REMOVED", "GONE", "THEN", "CREATED"});
  std::optional<std::int64_t> before;
  for (std::size_t left = count; left > 0;) {
    const auto found = db.batches({.max = std::min(page, left), .before = before});
    if (found.empty()) break;
    before = found.back().id;
    left -= found.size();
    for (const tableq::batch_info& one : found) {
      shown.add(
          line_of(batch_json(one)),
          {std::to_string(one.id), one.name.empty() ? "-" : printable(one.name), state_of(one),
           std::to_string(one.total), std::to_string(one.outstanding),
           std::to_string(one.completed), std::to_string(one.dead), std::to_string(one.removed),
           std::to_string(one.gone), one.then.empty() ? "-" : one.then, iso(one.created_at)});
    }
  }
  shown.print();
  return shown.status();
}

exit_status missing(std::int64_t id) {
  complain("there is no batch " + std::to_string(id));
  return exit_status::nothing;
}

exit_status print_batch(const tableq::database& db, std::int64_t id) {
  const auto found = db.batch(id).get();
  if (!found) return missing(id);
  print_line(line_of(batch_json(*found)));
  return exit_status::done;
}

struct id_argument : arguments {
  using arguments::arguments;
  argument id = argument(command, "ID", "", "A batch, as `batch list` prints it").required();
};
struct id_and_json : id_argument {
  using id_argument::id_argument;
  flag as_json{command, "--json", "Print the batch as `batch get` does"};
};

exit_status get_batch(const connection_options& connection, const id_argument& given) {
  const std::int64_t id = given.id.number(1, highest);
  return print_batch(connect(connection), id);
}

exit_status seal_batch(const connection_options& connection, const id_and_json& given) {
  const std::int64_t id = given.id.number(1, highest);
  const tableq::database db = connect(connection);
  try {
    db.batch(id).seal();
  } catch (const tableq::error& failure) {
    if (failure.code() != tableq::errc::invalid_argument) throw;
    return missing(id);
  }
  return given.as_json ? print_batch(db, id) : exit_status::done;
}

exit_status cancel_batch(const connection_options& connection, const id_and_json& given) {
  const std::int64_t id = given.id.number(1, highest);
  const tableq::database db = connect(connection);
  if (db.batch(id).cancel()) return given.as_json ? print_batch(db, id) : exit_status::done;
  if (!db.batch(id).get()) return missing(id);
  complain("the batch " + std::to_string(id) + " has ended");
  return exit_status::nothing;
}

struct begin_arguments : arguments {
  using arguments::arguments;
  argument then{command, "--then", "QUEUE", "The queue that gets a message at the end"};
  argument payload{command, "--payload", "TEXT", "Its payload; empty without it"};
  argument parent{command, "--parent", "ID", "The batch of which the new one is a member"};
  argument name{command, "--name", "TEXT", "A name for people, which list and get show"};
  flag as_json{command, "--json", "Print the batch as `batch get` does"};
};

exit_status begin(const connection_options& connection, const begin_arguments& given) {
  tableq::batch_options options{.name = given.name.text()};
  if (given.then.given()) {
    if (given.then.text().empty()) throw usage_error("--then is empty: name a queue");
    options.then = {.queue = given.then.text(), .payload = given.payload.text()};
  } else {
    refuse(given.payload, "goes with --then");
  }
  if (given.parent.given()) {
    options.parent = tableq::batch_id{.value = given.parent.number(1, highest)};
  }
  tableq::database db = connect(connection);
  const std::int64_t id = db.begin_batch(options).id();
  if (given.as_json) return print_batch(db, id);
  print_line(std::to_string(id));
  return exit_status::done;
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
  add_database_command<begin_arguments>(
      batch, call, "begin",
      {.description = "Begin a batch, and print its id",
       .details = "Messages of all queues that were created with --batches may belong to it.",
       .usage = "[--name TEXT] [--then QUEUE [--payload TEXT]] [--parent ID] [--json]",
       .examples = "  id=$(tableq batch begin --then reports --payload 'import is done')"},
      begin);
  add_database_command<batch_list_arguments>(
      batch, call, "list",
      {.description = "Show batches, the newest first",
       .details = "Batches that ended over 30 days ago are forgotten. Exit status 1 when there is "
                  "none.",
       .usage = "[--count N] [--json]",
       .examples = "  tableq batch list\n"
                   "  tableq batch list --json | jq .outstanding"},
      list_batches);
  add_database_command<id_argument>(batch, call, "get",
                                    {.description = "Show a batch as a JSON object",
                                     .details = "Exit status 1 when it is not there.",
                                     .usage = "ID",
                                     .examples = "  tableq batch get 17"},
                                    get_batch);
  add_database_command<id_and_json>(
      batch, call, "seal",
      {.description = "No more messages are added to a batch; when they are done, it ends",
       .details = "Exit status 1 when it is not there.",
       .usage = "ID [--json]",
       .examples = "  tableq batch seal 17"},
      seal_batch);
  add_database_command<id_and_json>(
      batch, call, "cancel",
      {.description = "Seal a batch and remove its messages that wait",
       .details = "Handlers that run see their stop token. The batch ends when they have "
                  "ended.\nExit status 1 when it has ended or is not there.",
       .usage = "ID [--json]",
       .examples = "  tableq batch cancel 17"},
      cancel_batch);
}

}  // namespace tool
