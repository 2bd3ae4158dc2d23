#include <chrono>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "row_json.hpp"
#include "source.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;

struct take_arguments : arguments {
  using arguments::arguments;
  argument queue = argument(command, "QUEUE", "", "A claim queue, or a stored table").required();
  argument count{command, "--count", "N", "At most N messages, up to 10,000 (1)"};
  argument wait{command, "--wait", "TIME", "Wait at most TIME for the first message (0s)"};
  argument lease{command, "--lease", "TIME", "How long others may not take them (the queue's)"};
  flag as_json{command, "--json", "One object on each line"};
};

/// Messages leave the command only if standard output accepts all of them.
void print(tableq::leased_queue& queue, const std::vector<tableq::delivery>& taken, bool as_json) {
  output out;
  try {
    for (const tableq::delivery& one : taken) {
      out.line(as_json ? delivery_json(one)
                       : to_string(one.receipt) + ' ' +
                             (one.row.empty() ? one.payload : row_json(one.row)));
    }
    out.flush();
  } catch (const output_error& failure) {
    static_cast<void>(queue.release_batch(taken));
    throw output_error(std::string(failure.what()) + "; the messages were given back");
  }
}

exit_status take_messages(const connection_options& connection, const take_arguments& given) {
  const std::size_t count = given.count.count(1, 10'000);
  tableq::take_options options{.wait = given.wait.duration()};
  given.lease.store(options.lease, duration_from(milliseconds{1}));
  tableq::database db = connect(connection);
  leasing_queue opened = as_leasing(open_source(db, given.queue.text()));
  tableq::leased_queue& queue = leases_of(opened);
  const std::vector<tableq::delivery> taken = queue.take(count, options);
  print(queue, taken, given.as_json);
  return taken.empty() ? exit_status::nothing : exit_status::done;
}

}  // namespace

void add_take(CLI::App& app, invocation& call) {
  add_database_command<take_arguments>(
      app, call, "take",
      {.description = "Take messages of a claim queue under a lease, and print their receipts",
       .details =
           "A line has the receipt, a blank and the payload; for payloads of several lines use "
           "--json. A row of a\n"
           "stored table is one JSON object. Settle each message before its lease ends, with "
           "tableq complete,\n"
           "fail or release, or prolong the lease with extend; else another take gets it. `tableq "
           "work` does\n"
           "all of that for a command. Exit status 1 when there was no message.",
       .usage = "QUEUE [--count N] [--wait TIME] [--lease TIME] [--json]",
       .examples =
           "  tableq take jobs --wait 10s --lease 5m --json\n"
           "  if read -r receipt payload < <(tableq take jobs); then   # payloads of one line\n"
           "    ./handle \"$payload\" && tableq complete jobs \"$receipt\"\n"
           "  fi"},
      take_messages);
}

}  // namespace tool
