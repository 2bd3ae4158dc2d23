#include <string>

#include <tableq/tableq.hpp>

#include "bench_queue.hpp"
#include "bench_run.hpp"
#include "commands.hpp"
#include "connection.hpp"
#include "measure.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;

struct bench_arguments : arguments {
  using arguments::arguments;

  argument kinds =
      argument(command, "--kind", "KIND", "heap, fifo, lifo, pending or claim; may be repeated")
          .repeatable();
  argument queue{command, "--queue", "NAME",
                 "This queue instead of new ones; it must be empty, and is emptied at the end"};
  argument time{command, "--time", "TIME", "Time for each figure, from 10ms to 10m (3s)"};
  argument threads{command, "--threads", "N", "Threads in the rows with many, 1 to 1000 (16)"};
  argument batch{command, "--batch", "N", "Messages in a batch, 2 to 10000 (100)"};
  argument payload{command, "--payload-size", "BYTES", "Size of each message, 0 to 1000000 (200)"};
  argument sessions{command, "--sessions", "N", "The most connections to the database (16)"};
  flag as_json{command, "--json", "One object on each line"};
};

bench_settings settings_of(const bench_arguments& given) {
  bench_settings out;
  if (given.kinds.given()) {
    out.kinds.clear();
    for (const std::string& text : given.kinds.all()) out.kinds.push_back(tableq::parse_kind(text));
  }
  out.time = given.time.duration(out.time, milliseconds{10});
  if (out.time > std::chrono::minutes{10}) throw usage_error("--time must be at most 10m");
  out.threads = given.threads.count(out.threads, 1000);
  given.batch.store(out.batch, number_from<std::size_t>(2, 10'000));
  given.payload.store(out.payload, number_from<std::size_t>(0, 1'000'000));
  constexpr std::size_t most_bytes = std::size_t{64} * 1024 * 1024;
  if (out.batch * out.payload > most_bytes) {
    throw usage_error("--batch times --payload-size must be at most 64 MiB");
  }
  out.as_json = given.as_json;
  return out;
}

exit_status bench(const connection_options& connection, const bench_arguments& given) {
  const bool creates = !given.queue.given();
  if (connection.verify_only && creates) {
    throw usage_error(
        "--verify-only needs --queue: without it bench measures queues that it makes");
  }
  if (!creates && given.kinds.given()) {
    throw usage_error("--kind and --queue exclude each other: the queue has a kind");
  }
  bench_settings settings = settings_of(given);
  const std::size_t sessions = given.sessions.count(16, 1000);
  bench::end_on_signals();
  tableq::database db = connect(connection, creates, sessions);
  if (!creates) {
    settings.queue = given.queue.text();
    settings.kinds = {require(db, settings.queue).kind};
    const bench_queue checked(db, settings.queue, 0);  // Refuses it before the table's heading.
  }
  output out;
  status_line status;
  bench_run run(db, settings, out, status);
  try {
    run.heading();
    for (const tableq::kind kind : settings.kinds) run.measure(kind);
  } catch (const bench::interruption&) {
    status.clear();
    throw refused_error(creates ? "interrupted; its queues are dropped" : "interrupted");
  }
  return exit_status::done;
}

}  // namespace

void add_bench(CLI::App& app, invocation& call) {
  add_database_command<bench_arguments>(
      app, call, "bench",
      {.description = "Measure queues in your database, in about a minute",
       .details = "Creates its own queues (bench-...), measures single calls, batches and many "
                  "threads, and drops the\n"
                  "queues, also on Ctrl-C. It loads the database and writes up to some hundred "
                  "MiB. P50 and P99 are of\n"
                  "one call; TO SINGLE compares the rate with that of one thread with one message "
                  "a call.\n"
                  "--queue measures a queue with its own options, or where this command may not "
                  "create one. Messages that\n"
                  "others add to it meanwhile are removed, too.\n"
                  "scripts/bench.sh of the sources measures the database without tableq.",
       .usage = "[--kind KIND]... [--queue NAME] [--time TIME] [--threads N] [--batch N] [--json]",
       .examples = "  tableq bench\n"
                   "  tableq bench --kind claim --threads 64\n"
                   "  tableq create claim trial --keep-completed && tableq bench --queue trial\n"
                   "  tableq --db sqlite:///var/lib/app/jobs.db bench --time 500ms\n"
                   "  tableq bench --json | jq -r '[.kind, .what, .threads, .rate] | @tsv'"},
      bench);
}

}  // namespace tool
