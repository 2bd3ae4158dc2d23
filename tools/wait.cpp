#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

std::string name_of(tableq::awaited::ending how) {
  using ending = tableq::awaited::ending;
  switch (how) {
    case ending::done:
      return "done";
    case ending::dead:
      return "dead";
    case ending::gone:
      return "gone";
    case ending::waiting:
      break;
  }
  return "waiting";
}

exit_status wait_for(const connection_options& connection, const std::string& name,
                     tableq::message_id id, std::chrono::milliseconds patience) {
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, name);
  const tableq::awaited found =
      as_claim(opened, "only messages of claim queues end").wait_for(id, {.wait = patience});
  json line{{"id", id.value},
            {"ending", name_of(found.how)},
            {"state", found.state ? json(tableq::to_string(*found.state)) : json()},
            {"error", found.error ? json(found.error->error) : json()}};
  if (found.result) add_bytes(line, "result", *found.result);
  output out;
  out.line(line.dump());
  out.flush();
  return found.state == tableq::message_state::done ? exit_status::done : exit_status::nothing;
}

}  // namespace

void add_wait(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "wait",
      {.description = "Wait until a message of a claim queue is done or dead",
       .details =
           "Prints its id, how the wait has ended (done, dead, gone: it is not in the queue, "
           "waiting: the time\nis over), its state, last error and result, as JSON. Exit "
           "status 1 unless it is done.",
       .usage = "QUEUE ID [--for TIME]",
       .examples = "  tableq wait jobs 17\n"
                   "  tableq wait jobs 17 --for 10m | jq -r .result"});
  struct wait_arguments {
    explicit wait_arguments(CLI::App& added)
        : queue(added, "QUEUE", "", "A claim queue"),
          id(added, "ID", "", "The message, as `enqueue` and `list` print it"),
          longest(added, "--for", "TIME", "The longest wait, up to 365 days (30s)") {
      queue.required();
      id.required();
    }
    argument queue;
    argument id;
    argument longest;
  };
  const auto given = std::make_shared<wait_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] {
      const tableq::message_id id{
          parse_number("ID", given->id.text(), 1, std::numeric_limits<std::int64_t>::max())};
      return wait_for(call.connection, given->queue.text(), id,
                      duration_or(given->longest, "--for", std::chrono::seconds{30}));
    };
  });
}

}  // namespace tool
