#include <algorithm>
#include <array>
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
#include "messages.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

using tableq::change_result;
using tableq::message_state;

const char* const not_of_claim = "only messages of claim queues can be looked up";

std::vector<std::string> message_row(const tableq::stored_message& message) {
  const auto time = message.finished_at ? message.finished_at : message.due_at;
  return {std::to_string(message.id.value),
          std::to_string(message.priority),
          std::to_string(message.attempts),
          iso(message.created_at),
          time ? iso(*time) : "-",
          message.key ? printable(*message.key) : "-",
          message.errors.empty() ? "-" : printable(message.errors.back().error)};
}

tableq::message_id parse_id(const std::string& text) {
  return {parse_number("ID", text, 1, std::numeric_limits<std::int64_t>::max())};
}

std::vector<tableq::message_id> parse_ids(const argument& given) {
  std::vector<tableq::message_id> ids;
  ids.reserve(given.all().size());
  for (const std::string& each : given.all()) ids.push_back(parse_id(each));
  return ids;
}

std::string_view in_words(change_result result, std::string_view done) {
  switch (result) {
    case change_result::applied:
      return done;
    case change_result::running:
      return "running";
    case change_result::finished:
      return "finished";
    case change_result::not_found:
      return "not found";
  }
  return "not found";
}

/// A line for each; exit status 1 unless one was changed.
exit_status report(const std::vector<tableq::message_id>& ids,
                   const std::vector<change_result>& results, std::string_view done) {
  output out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out.line(std::to_string(ids[i].value) + " " + std::string(in_words(results[i], done)));
  }
  out.flush();
  return std::find(results.begin(), results.end(), change_result::applied) == results.end()
             ? exit_status::nothing
             : exit_status::done;
}

/// Shared by get, cancel and priority.
struct id_arguments {
  explicit id_arguments(CLI::App& command)
      : queue(command, "QUEUE", "", "A claim queue"),
        ids(command, "ID", "", "Messages, as `list` and `enqueue` print them") {
    queue.required();
    ids.many();
  }
  argument queue;
  argument ids;
};

exit_status get(const connection_options& connection, const id_arguments& given,
                const argument& key) {
  if (given.ids.given() == key.given()) throw usage_error("give either ID or --key");
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  const tableq::claim_queue& queue = as_claim(opened, not_of_claim);
  auto found = key.given() ? std::vector{queue.find(key.text())} : queue.get_batch(ids);
  output out;
  bool any = false;
  for (const auto& one : found) {
    if (!one) continue;
    any = true;
    out.line(message_json(*one));
  }
  out.flush();
  return any ? exit_status::done : exit_status::nothing;
}

exit_status cancel(const connection_options& connection, const id_arguments& given) {
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  return report(ids, as_claim(opened, not_of_claim).cancel_batch(ids), "cancelled");
}

exit_status set_priority(const connection_options& connection, const id_arguments& given,
                         const argument& priority) {
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto to = static_cast<std::int32_t>(parse_number("PRIORITY", priority.text(), least, most));
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  std::vector<tableq::new_priority> changes;
  changes.reserve(ids.size());
  for (const tableq::message_id id : ids) changes.push_back({id, to});
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  return report(ids, as_claim(opened, not_of_claim).set_priority_batch(changes), "changed");
}

}  // namespace

message_state parse_state(const std::string& text) {
  for (const message_state each :
       {message_state::ready, message_state::leased, message_state::delayed, message_state::done,
        message_state::dead, message_state::held}) {
    if (text == to_string(each)) return each;
  }
  throw usage_error("--state is ready, delayed, leased, held, done or dead");
}

exit_status list_messages(const connection_options& connection, const std::string& name,
                          message_state state, std::size_t count, bool as_json) {
  constexpr std::size_t page_size = 100;
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, name);
  const tableq::claim_queue& queue = as_claim(opened, "see what is next with: tableq peek");
  output out;
  std::size_t shown = 0;
  std::optional<tableq::stored_message> last;
  while (shown < count) {
    auto messages = queue.list(state, {.max = std::min(page_size, count - shown), .after = last});
    if (messages.empty()) break;
    std::vector<std::vector<std::string>> rows;
    if (shown == 0) {
      rows.push_back({"ID", "PRIORITY", "ATTEMPTS", "CREATED", "TIME", "KEY", "LAST ERROR"});
    }
    for (const auto& one : messages) {
      if (as_json) out.line(message_json(one));
      rows.push_back(message_row(one));
    }
    if (!as_json) {
      for (const std::string& line : aligned(rows)) out.line(line);
    }
    shown += messages.size();
    last = std::move(messages.back());
    last->payload.clear();
  }
  out.flush();
  return shown > 0 ? exit_status::done : exit_status::nothing;
}

void add_get(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "get",
      {.description = "Print messages of a claim queue by id or key, as JSON, in any state",
       .details = "Exit status 1 when there is none.",
       .usage = "QUEUE ID... | QUEUE --key KEY",
       .examples = "  tableq get jobs 17\n"
                   "  tableq get jobs --key invoice-42 | jq .state"});
  const auto given = std::make_shared<id_arguments>(command);
  const auto key =
      std::make_shared<argument>(command, "--key", "KEY", "The message that holds this key");
  command.callback([&call, given, key] {
    call.run = [&call, given, key] { return get(call.connection, *given, *key); };
  });
}

void add_cancel(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "cancel",
      {.description = "Remove messages of a claim queue that are not leased",
       .details = "Prints a line for each: its id, and cancelled, running, finished (done and "
                  "kept: see purge)\nor not found. Exit status 1 when none was cancelled.",
       .usage = "QUEUE ID...",
       .examples = "  tableq cancel jobs 17 23"});
  const auto given = std::make_shared<id_arguments>(command);
  given->ids.required();
  command.callback(
      [&call, given] { call.run = [&call, given] { return cancel(call.connection, *given); }; });
}

void add_priority(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "priority",
      {.description = "Change the priority of waiting messages of a claim queue",
       .details = "Prints a line for each: its id, and changed, running, finished or not found.\n"
                  "Exit status 1 when none was changed.",
       .usage = "QUEUE ID... --to PRIORITY",
       .examples = "  tableq priority jobs 17 --to 10\n"
                   "  tableq priority jobs 17 23 --to=-1"});
  const auto given = std::make_shared<id_arguments>(command);
  given->ids.required();
  const auto priority =
      std::make_shared<argument>(command, "--to", "PRIORITY", "Higher comes first");
  priority->required();
  command.callback([&call, given, priority] {
    call.run = [&call, given, priority] {
      return set_priority(call.connection, *given, *priority);
    };
  });
}

}  // namespace tool
