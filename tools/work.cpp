#include <poll.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <tableq/tableq.hpp>

#include "child.hpp"
#include "command_runner.hpp"
#include "commands.hpp"
#include "connection.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "signals.hpp"
#include "source.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct work_arguments {
  explicit work_arguments(CLI::App& command)
      : from(command, "A claim queue, or a stored table"),
        concurrency(command, "--concurrency", "N", "The most commands at once, up to 256 (1)"),
        lease(command, "--lease", "TIME",
              "How long this worker has a message before others may take it"),
        retry_delay(command, "--retry-delay", "TIME", "Delay after a failure (the queue's)") {
    command.add_flag("--until-empty", until_empty,
                     "End when no message is ready, delayed or leased");
    command.add_flag("--pass-db", pass_db,
                     "Pass the database's address, with its password, to the command as TABLEQ_DB");
    command.add_flag("--verbose", verbose, "Print a line on standard error for each message");
    command.add_flag("--summary", summary, "Print a line on standard error at the end");
  }

  source_arguments from;
  argument concurrency;
  argument lease;
  argument retry_delay;
  bool until_empty = false;
  bool pass_db = false;
  bool verbose = false;
  bool summary = false;
};

struct work_settings {
  std::vector<std::string> command;
  std::size_t concurrency = 1;
  std::chrono::milliseconds lease{};
  std::optional<std::chrono::milliseconds> retry_delay;
};

work_settings settings_of(const invocation& call, const work_arguments& given) {
  if (!call.tail || call.tail->empty()) throw usage_error("give the COMMAND after --");
  work_settings settings;
  settings.command = *call.tail;
  if (const std::error_code failed = find_command(settings.command.front())) {
    throw usage_error("cannot run " + settings.command.front() + ": " + failed.message());
  }
  settings.concurrency = count_or(given.concurrency, "--concurrency", 1, 256);
  settings.lease = duration_or(given.lease, "--lease", {}, milliseconds{1});
  if (settings.lease > std::chrono::days{365}) throw usage_error("--lease must be at most 365d");
  if (given.retry_delay.given()) {
    settings.retry_delay = duration_or(given.retry_delay, "--retry-delay", {});
  }
  return settings;
}

std::string in_words(const tableq::worker_counts& counts) {
  std::string text = "completed " + std::to_string(counts.completed) + ", failed " +
                     std::to_string(counts.failed) + ", lease lost " +
                     std::to_string(counts.lease_lost);
  if (counts.given_back > 0) text += ", given back " + std::to_string(counts.given_back);
  if (counts.unknown > 0) text += ", unknown " + std::to_string(counts.unknown);
  return text;
}

/// A line for each message with --verbose, and always for trouble.
void report(status_line& status, bool verbose, const tableq::worker_event& event) {
  using kind = tableq::worker_event::kind;
  std::string said;
  switch (event.what) {
    case kind::trouble:
      status.trouble("trying again: " + std::string(event.why));
      return;
    case kind::completed:
      said = "completed";
      break;
    case kind::failed:
    case kind::given_up:
      said = "failed: " + std::string(event.why);
      break;
    case kind::given_back:
      said = "given back";
      break;
    case kind::settled_by_handler:
      said = "settled";
      break;
    case kind::lease_lost:
      said = "lease lost, another worker may have it";
      break;
    case kind::unknown:
      said = "settled, or taken again later: the database did not say";
      if (!event.why.empty()) said += ": " + std::string(event.why);
      break;
  }
  if (verbose || event.what == kind::unknown) {
    status.note("message " + std::to_string(event.id.value) + ", attempt " +
                std::to_string(event.attempt) + ": " + said);
  }
}

void show_progress(status_line& status, const tableq::worker& pool,
                   steady_clock::time_point begin) {
  if (!status.shown()) return;
  const tableq::worker_counts counts = pool.counts();
  status.show(in_words(counts) + ", running " + std::to_string(counts.running) + ", " +
              rate(counts.completed, steady_clock::now() - begin));
}

/// The first signal stops the worker, the second the commands; further ones are for commands that
/// ignore SIGTERM.
void obey(tableq::worker& pool, command_runner& commands, status_line& status, bool verbose,
          int signals_so_far) {
  const bool tell = (verbose || status.shown()) && pool.counts().running > 0;
  if (signals_so_far == 1) {
    pool.stop();
    if (tell) status.note("finishing running commands; repeat to give their messages back");
    return;
  }
  pool.abandon();
  if (signals_so_far > 2) commands.signal_all(SIGKILL);
  if (tell) status.note("ending running commands; repeat to kill them");
}

/// @throws usage_error for a queue whose reads delete.
struct worker_maker {
  template <class Queue>
  std::unique_ptr<tableq::worker> operator()(const Queue& queue) const {
    if constexpr (std::is_constructible_v<tableq::worker, const Queue&, tableq::handler>) {
      return std::make_unique<tableq::worker>(queue, handle, options);
    } else {
      throw usage_error("queue " + in_quotes(queue.name()) + " is of kind " +
                        std::string(tableq::to_string(queue.kind())) +
                        ", not claim; its messages go to: tableq dequeue");
    }
  }
  tableq::handler handle;
  tableq::worker_options options;
};

exit_status work(const invocation& call, const work_arguments& given) {
  const work_settings settings = settings_of(call, given);
  // Before the first thread, which may be one of the library's.
  const signal_queue signals;
  tableq::database db = connect(call.connection, false, settings.concurrency + 4);
  const any_source source = given.from.open(db);

  status_line status;
  command_runner commands(
      name_of(source), settings.command, settings.retry_delay,
      given.pass_db ? std::optional(address_of(call.connection)) : std::nullopt);
  const completion finished;
  bool hopeless = false;
  const completion give_up;
  const auto begin = steady_clock::now();
  // Nothing is prefetched: if this process dies, its messages wait for the end of their leases.
  const auto handle = [&](const tableq::delivery& delivery, const std::stop_token& stop) {
    tableq::handled said = commands.run(delivery, stop);
    if (commands.hopeless()) give_up.set();
    return said;
  };
  const auto made = std::visit(
      worker_maker{
          handle,
          {.threads = settings.concurrency,
           .prefetch = 0,
           .lease = settings.lease.count() > 0 ? std::optional(settings.lease) : std::nullopt,
           .retry_delay = settings.retry_delay,
           .until_empty = given.until_empty,
           .observe =
               [&](const tableq::worker_event& event) { report(status, given.verbose, event); },
           .ended = [&] { finished.set(); }}},
      source);
  tableq::worker& pool = *made;

  int seen = 0;
  for (bool running = true; running;) {
    pollfd events[] = {{signals.handle(), POLLIN, 0},
                       {finished.handle(), POLLIN, 0},
                       {hopeless ? -1 : give_up.handle(), POLLIN, 0}};
    ::poll(events, 3, status.shown() ? 250 : -1);
    running = events[1].revents == 0;
    if (events[2].revents != 0) {
      hopeless = true;
      pool.stop();
    }
    while (signals.take() != 0) obey(pool, commands, status, given.verbose, ++seen);
    show_progress(status, pool, begin);
  }
  status.clear();
  if (seen > 0 || given.summary || status.shown()) {
    status.note(in_words(pool.counts()) + ", in " + seconds(steady_clock::now() - begin));
  }
  pool.join();
  if (const auto why = commands.hopeless()) throw usage_error(*why);
  return exit_status::done;
}

}  // namespace

void add_work(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "work",
      {.description = "Run a command for each message of a claim queue, or row of a table",
       .details =
           "The payload is the command's standard input. Its environment has TABLEQ_MESSAGE_ID, "
           "TABLEQ_ATTEMPT,\n"
           "TABLEQ_QUEUE, and TABLEQ_HEADER_NAME for each header, with the name in upper case and "
           "_ for other "
           "characters.\n"
           "TABLEQ_DB, which may hold a password, is removed unless --pass-db is given.\n"
           "Exit status 0 completes the message, all else fails it; after its last attempt it is "
           "dead.\n"
           "A row of the application's table is one JSON object on the standard input; its mapping "
           "is stored by\n"
           "`tableq create table`, or in the file of --mapping.\n"
           "The lease is extended while a command runs; if it is lost, the command gets SIGTERM.\n"
           "SIGTERM, SIGINT: take no more, finish running commands, exit with 0. A second signal "
           "sends\n"
           "them SIGTERM and gives their messages back, a third one sends SIGKILL.",
       .usage = "QUEUE | --mapping FILE [OPTIONS] -- COMMAND [ARG...]",
       .examples =
           "  tableq work jobs -- sh -c 'sha256sum \"$(cat)\"'\n"
           "  tableq work jobs --concurrency 4 --until-empty -- ./handle-one\n"
           "  tableq work jobs --lease 5m --retry-delay 30s --summary -- python3 resize.py\n"
           "  tableq work --mapping emails.json -- ./send-email"});
  const auto given = std::make_shared<work_arguments>(command);
  command.callback([&call, given] {
    call.takes_tail = true;
    call.run = [&call, given] { return work(call, *given); };
  });
}

}  // namespace tool
