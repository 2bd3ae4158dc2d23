#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "source.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using tableq::receipt;
using tableq::settle_result;

/// Shared by complete, fail, release and extend.
struct receipt_arguments : arguments {
  using arguments::arguments;
  argument queue =
      argument(command, "QUEUE", "", "The claim queue, or the stored table").required();
  argument receipts =
      argument(command, "RECEIPT", "", "As `tableq take` printed them").required().many();
  flag as_json{command, "--json", "One object on each line"};

  /// @throws usage_error for a text that is no receipt, before anything is changed.
  [[nodiscard]] std::vector<receipt> parsed() const {
    std::vector<receipt> out;
    for (std::size_t i = 0; i < receipts.all().size(); ++i) {
      try {
        out.push_back(tableq::parse_receipt(receipts.all()[i]));
      } catch (const tableq::error&) {
        throw usage_error("RECEIPT " + std::to_string(i + 1) +
                          " is not a receipt: give the text that `tableq take` printed");
      }
    }
    return out;
  }
};

using settlement =
    std::function<std::vector<settle_result>(tableq::leased_queue&, const std::vector<receipt>&)>;

/// A line for each; exit status 1 if a lease was lost.
/// @param done the word for a settlement that took effect.
exit_status print(const receipt_arguments& given, const std::vector<settle_result>& results,
                  const std::string& done) {
  output out;
  exit_status status = exit_status::done;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool applied = results[i] == settle_result::applied;
    const std::string& of = given.receipts.all()[i];
    const nlohmann::ordered_json told{{"receipt", of}, {"outcome", applied ? done : "lease_lost"}};
    out.line(given.as_json ? told.dump() : of + ' ' + (applied ? done : "lease lost"));
    if (!applied) status = exit_status::nothing;
  }
  out.flush();
  return status;
}

exit_status settle(const connection_options& connection, const receipt_arguments& given,
                   const std::string& done, const settlement& how) {
  const std::vector<receipt> receipts = given.parsed();
  tableq::database db = connect(connection);
  leasing_queue queue = as_leasing(open_source(db, given.queue.text()));
  return print(given, how(leases_of(queue), receipts), done);
}

struct fail_arguments : receipt_arguments {
  using receipt_arguments::receipt_arguments;
  argument error =
      argument(command, "--error", "TEXT", "The reason, for the message's history").required();
  argument delay{command, "--delay", "TIME",
                 "Time until it is ready again; 0s: at once (the queue's)"};
  flag give_up{command, "--final", "It is dead at once, even with attempts left"};
};

exit_status fail(const connection_options& connection, const fail_arguments& given) {
  tableq::fail_options options{.give_up = given.give_up};
  if (given.give_up) refuse(given.delay, "and --final exclude each other");
  given.delay.store(options.delay, duration_from({}));
  return settle(
      connection, given, "failed",
      [&](tableq::leased_queue& queue, const std::vector<receipt>& taken) {
        std::vector<tableq::failure> failures;
        failures.reserve(taken.size());
        for (const receipt& one : taken) {
          failures.push_back({.receipt = one, .error = given.error.text(), .options = options});
        }
        return queue.fail_batch(failures);
      });
}

constexpr const char* printed_lines =
    "Prints a line for each: the receipt, and what became of it. Exit status 1 if one says \"lease "
    "lost\":\n"
    "the lease had ended and another take has the message, or it was settled before.";

struct complete_arguments : receipt_arguments {
  using receipt_arguments::receipt_arguments;
  argument result{
      command, "--result", "TEXT",
      "What the work has returned, up to 64 KiB, for `wait` and `get`: kept with the message\nin a "
      "queue that keeps completed ones"};
};

exit_status complete(const connection_options& connection, const complete_arguments& given) {
  if (!given.result.given()) {
    return settle(connection, given, "completed", &tableq::leased_queue::complete_batch);
  }
  const std::vector<receipt> receipts = given.parsed();
  if (receipts.size() != 1) throw usage_error("--result goes with one RECEIPT");
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  return print(given,
               {as_claim(opened, "only messages of claim queues have a result")
                    .complete(receipts.front(), given.result.text())},
               "completed");
}

exit_status release(const connection_options& connection, const receipt_arguments& given) {
  return settle(connection, given, "released", &tableq::leased_queue::release_batch);
}

struct extend_arguments : receipt_arguments {
  using receipt_arguments::receipt_arguments;
  argument lease = argument(command, "--lease", "TIME", "They end so long from now").required();
};

exit_status extend(const connection_options& connection, const extend_arguments& given) {
  const milliseconds until = given.lease.duration({}, milliseconds{1});
  return settle(connection, given, "extended",
                [&](tableq::leased_queue& queue, const std::vector<receipt>& taken) {
                  return queue.extend_batch(taken, until);
                });
}

}  // namespace

void add_settlements(CLI::App& app, invocation& call) {
  add_database_command<complete_arguments>(
      app, call, "complete",
      {.description = "Complete messages that `tableq take` has printed",
       .details = printed_lines,
       .usage = "QUEUE RECEIPT... | QUEUE RECEIPT --result TEXT",
       .examples = "  tableq complete jobs 11.100000001.c\n"
                   "  tableq complete jobs 11.100000001.c --result \"$(cat report.json)\""},
      complete);
  add_database_command<fail_arguments>(
      app, call, "fail",
      {.description = "Record a failed attempt for messages that `tableq take` has printed",
       .details = std::string("They are ready again after a delay, or dead after their last "
                              "attempt.\n") +
                  printed_lines,
       .usage = "QUEUE RECEIPT... --error TEXT [--delay TIME | --final]",
       .examples = "  tableq fail jobs 11.100000001.c --error 'no such file' --delay 5m\n"
                   "  tableq fail jobs 11.100000001.c --error 'not a picture' --final"},
      fail);
  add_database_command<receipt_arguments>(
      app, call, "release",
      {.description = "Give messages back that `tableq take` has printed",
       .details =
           std::string("They are ready at once, and the attempt is not counted.\n") + printed_lines,
       .usage = "QUEUE RECEIPT...",
       .examples = "  tableq release jobs 11.100000001.c"},
      release);
  add_database_command<extend_arguments>(
      app, call, "extend",
      {.description = "Prolong the leases of messages that `tableq take` has printed",
       .details =
           std::string("The leases end TIME from now. The receipts stay valid.\n") + printed_lines,
       .usage = "QUEUE RECEIPT... --lease TIME",
       .examples = "  tableq extend jobs 11.100000001.c --lease 10m"},
      extend);
}

}  // namespace tool
