#include <cstdlib>
#include <stop_token>
#include <string>
#include <thread>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "signals.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

struct move_arguments : arguments {
  using arguments::arguments;

  argument queue =
      argument(command, "QUEUE", "", "A claim queue that both databases have").required();
  argument from{command, "--from", "URL", "The database that has the messages; or TABLEQ_DB"};
  argument to{command, "--to", "URL", "The one that gets them; or TABLEQ_TO in the environment"};
  argument batch{command, "--batch", "N", "Messages in one transaction, up to 1000 (100)"};
  argument lease{command, "--lease", "TIME",
                 "How long another run waits after this one was killed (30s)"};
  flag once{command, "--once", "Do not wait for leased messages, nor for room"};
  flag dry_run{command, "--dry-run", "Check all, and count what would move"};
  flag as_json{command, "--json", "Print one JSON object"};
};

/// The first SIGINT, SIGTERM or SIGHUP asks the move to end, the second one ends the process: the
/// next run goes on either way. Construct it before the databases, which start threads.
class end_by_signal {
 public:
  end_by_signal() : watch_([this](const std::stop_token& over) { watch(over); }) {}

  [[nodiscard]] std::stop_token asked() const { return asked_.get_token(); }

 private:
  void watch(const std::stop_token& over) {
    constexpr std::chrono::milliseconds step{100};
    while (!over.stop_requested()) {
      if (signals_.take_within(step) == 0) continue;
      if (!asked_.request_stop()) std::_Exit(static_cast<int>(exit_status::refused));
    }
  }

  const signal_queue signals_;
  std::stop_source asked_;
  std::jthread watch_;  // the last member, so that it ends first
};

/// Where the messages go. A password in the environment is not in the process list.
std::string target_of(const move_arguments& given) {
  if (given.to.given()) return given.to.text();
  const char* const found = std::getenv("TABLEQ_TO");
  if (found == nullptr || *found == '\0')
    throw usage_error("no target: give --to URL or set TABLEQ_TO");
  return found;
}

/// @param may_write whether the queues of the move may be made there.
tableq::database side(connection_options options, const std::string& url, bool may_write) {
  options.url = url;
  tableq::database db = connect(options);  // a file that is not there is not made
  return may_write ? connect(options, true) : db;
}

json to_json(const tableq::message_move& result) {
  return {{"moved", result.moved},
          {"key_held", result.key_held},
          {"leased", result.leased},
          {"held", result.held},
          {"full", result.full}};
}

void tell_rest(const tableq::message_move& result, bool stopped) {
  const auto left = [](std::size_t count, const char* why) {
    if (count > 0) complain("left in the source: " + std::to_string(count) + ", " + why);
  };
  left(result.key_held, "whose keys messages of the target hold");
  left(result.leased, "which are leased");
  left(result.held, "behind others of their groups");
  if (stopped) complain("ended by a signal: run it again, and it goes on");
  if (result.full) complain("the queue of the target is full: raise its capacity, or read from it");
}

exit_status move(const connection_options& connection, const move_arguments& given) {
  const end_by_signal ending;
  status_line status;
  tableq::move_options options{.once = given.once, .dry_run = given.dry_run};
  options.stop = ending.asked();
  options.batch = given.batch.count(options.batch, 1000);
  options.lease = given.lease.duration(options.lease, std::chrono::milliseconds{1});
  if (status.shown()) {
    options.progress = [&](const tableq::message_move& so_far) {
      status.show(std::to_string(so_far.moved) + " moved");
    };
  }
  for (const argument* each : {&given.from, &given.to}) {
    if (each->given() && each->text().empty())
      throw usage_error(each->name() + " is empty: give it a URL");
  }
  const std::string target = target_of(given);
  tableq::database from = side(connection, given.from.text(), !given.dry_run);
  tableq::database to = side(connection, target, !given.dry_run);
  const tableq::message_move result = tableq::move_messages(from, to, given.queue.text(), options);
  status.clear();
  print_line(given.as_json ? line_of(to_json(result)) : std::to_string(result.moved));
  const bool stopped = options.stop.stop_requested();
  tableq::message_move left = result;
  if (given.dry_run && !given.once) {
    left.leased = 0;  // The move waits for them.
    if (result.leased > 0 && !given.as_json) {
      complain("leased: " + std::to_string(result.leased) +
               ", which follow when they are given back");
    }
  }
  if (!given.as_json) tell_rest(left, stopped);
  return left.complete() && !stopped ? exit_status::done : exit_status::nothing;
}

}  // namespace

void add_move(CLI::App& app, invocation& call) {
  CLI::App& command = add_command(
      app, "move",
      {.description = "Move the messages of a claim queue to another database",
       .details =
           "Both databases, which may be of different kinds, have the queue, with the same "
           "options;\nprograms go on with both. Each message is in one of them, whatever dies: "
           "run it again,\nand it goes on. It ends when the source is empty, and prints how many "
           "moved. Leased\nmessages follow when they are given back. Pause the source first if the "
           "order in groups\nmatters. It uses two queues of its own: QUEUE.out in the source, "
           "QUEUE.in in the target.\nExit status 1 when messages are left.",
       .usage = "[--from URL] --to URL [OPTION]... QUEUE",
       .examples =
           "  tableq move --from sqlite://jobs.db --to postgresql://host/app jobs --dry-run\n"
           "  tableq move --from sqlite://jobs.db --to postgresql://host/app jobs"});
  add_naming_options(command, call.connection);
  on_command<move_arguments>(command, call, move);
}

}  // namespace tool
