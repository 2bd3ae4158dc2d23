#include <chrono>
#include <cstdint>
#include <string>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"

namespace tool {

namespace {

struct wait_arguments : arguments {
  using arguments::arguments;
  argument queue = argument(command, "QUEUE", "", "A claim queue").required();
  argument id =
      argument(command, "ID", "", "The message, as `enqueue` and `list` print it").required();
  argument longest{command, "--for", "TIME", "The longest wait, up to 365 days (30s)"};
};

exit_status wait_for(const connection_options& connection, const wait_arguments& given) {
  const tableq::message_id id{given.id.number(1, INT64_MAX)};
  const auto patience = given.longest.duration(std::chrono::seconds{30});
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  const tableq::awaited found =
      as_claim(opened, "only messages of claim queues end").wait_for(id, {.wait = patience});
  json line{{"id", id.value},
            {"ending", to_string(found.how)},
            {"state", found.state ? json(tableq::to_string(*found.state)) : json()},
            {"error", found.error ? json(found.error->error) : json()}};
  if (found.result) add_bytes(line, "result", *found.result);
  print_line(line_of(line));
  return found.state == tableq::message_state::done ? exit_status::done : exit_status::nothing;
}

}  // namespace

void add_wait(CLI::App& app, invocation& call) {
  add_database_command<wait_arguments>(
      app, call, "wait",
      {.description = "Wait until a message of a claim queue is done or dead",
       .details =
           "Prints its id, how the wait has ended (done, dead, gone: it is not in the queue, "
           "waiting: the time\nis over), its state, last error and result, as JSON. Exit "
           "status 1 unless it is done.",
       .usage = "QUEUE ID [--for TIME]",
       .examples = "  tableq wait jobs 17\n"
                   "  tableq wait jobs 17 --for 10m | jq -r .result"},
      wait_for);
}

}  // namespace tool
