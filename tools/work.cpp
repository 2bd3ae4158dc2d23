#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <tableq/tableq.hpp>

#include "child.hpp"
#include "command_runner.hpp"
#include "commands.hpp"
#include "connection.hpp"
#include "ending.hpp"
#include "exit_status.hpp"
#include "guard.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "signals.hpp"
#include "source.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A queue that `work` serves.
struct work_queue {
  std::string database = {};  ///< The NAME of --also-db; empty: the first database.
  std::string name = {};      ///< Empty: the table of --mapping.
  std::size_t weight = 1;
  int precedence = 0;

  /// As on the command line: `jobs`, `mails:jobs`.
  [[nodiscard]] std::string shown() const {
    return database.empty() ? name : database + ":" + name;
  }
};

/// The same, opened.
struct work_source {
  work_queue which;
  std::string address;  ///< The connection string of its database.
  leasing_queue queue;
};

/// The queues that `work` serves, checked as far as that needs no database.
struct work_plan {
  std::vector<work_queue> queues;
  std::map<std::string, std::string> further;  ///< Addresses by the NAME of --also-db.
  std::string mapping;                         ///< A file, or empty.

  /// Opens all. Each database must answer.
  /// @param commands the most at once.
  /// @throws usage_error for a queue whose reads delete, and the errors of opening; all name the
  ///   database if it is not the first.
  [[nodiscard]] std::vector<work_source> open(const connection_options& first,
                                              std::size_t commands) const;
};

/// The arguments that name the queues of `work`.
struct work_queue_arguments : arguments {
  using arguments::arguments;

  argument queues =
      argument(command, "QUEUE", "",
               "Claim queues, or stored tables, up to 100; those of --also-db as NAME:QUEUE")
          .many();
  argument mapping{command, "--mapping", "FILE",
                   "Instead of QUEUE: the JSON of a mapping of the application's table"};
  argument weight =
      argument(command, "--weight", "QUEUE=N",
               "The queue's share of the commands, 1 to 1000, among those of one precedence (1);\n"
               "commands quicker than a take blur it")
          .repeatable();
  argument precedence =
      argument(command, "--precedence", "QUEUE=N",
               "While messages of a higher precedence are at hand, none of a lower one starts (0)")
          .repeatable();
  argument also_db =
      argument(command, "--also-db", "NAME[=URL]",
               "One more database. Without =URL its address is in TABLEQ_DB_NAME, NAME in upper\n"
               "case: the process list shows =URL, with its password, to other users")
          .repeatable();

  /// @throws usage_error, which repeats no address.
  [[nodiscard]] work_plan plan() const;
};

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether it can be the NAME of a database.
bool is_name(std::string_view text) {
  constexpr std::size_t most_letters = 40;
  return !text.empty() && text.size() <= most_letters && text.front() >= 'a' &&
         text.front() <= 'z' && std::all_of(text.begin(), text.end(), plain);
}

std::map<std::string, std::string> databases_of(const argument& also_db) {
  std::map<std::string, std::string> out;
  for (const std::string& text : also_db.all()) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    // The text may be an address: the complaint must not repeat it.
    if (!is_name(name)) {
      throw usage_error(
          "--also-db takes NAME or NAME=URL; a NAME has up to 40 lower-case letters, digits and _, "
          "and begins with a letter");
    }
    const std::string variable = variable_for("TABLEQ_DB_", name);
    const char* const found = std::getenv(variable.c_str());
    const std::string url = equals < text.size() ? text.substr(equals + 1)
                            : found != nullptr   ? found
                                                 : "";
    if (url.empty()) {
      throw usage_error("no address of database " + in_quotes(name) + ": set " + variable +
                        ", or give --also-db " + name + "=URL");
    }
    if (!out.emplace(name, url).second) {
      throw usage_error("--also-db names database " + in_quotes(name) + " twice");
    }
  }
  return out;
}

std::vector<work_queue> queues_of(const argument& given,
                                  const std::map<std::string, std::string>& further) {
  constexpr std::size_t most = 100;
  if (given.all().size() > most) throw usage_error("one worker serves up to 100 queues");
  std::vector<work_queue> out;
  std::set<std::string> seen;
  for (const std::string& text : given.all()) {
    if (text.find('=') != std::string::npos) {
      throw usage_error(
          "a QUEUE has no \"=\"; --weight and --precedence take one QUEUE=N: give the option again "
          "for the next one");
    }
    const std::size_t colon = text.find(':');
    work_queue one{.name = text};
    if (colon != std::string::npos) {
      one = {.database = text.substr(0, colon), .name = text.substr(colon + 1)};
      if (!is_name(one.database))
        throw usage_error("a QUEUE is the name of a queue, or NAME:QUEUE");
      if (!further.contains(one.database)) {
        throw usage_error("there is no database " + in_quotes(one.database) +
                          "; name it with --also-db " + one.database);
      }
    }
    if (!seen.insert(text).second)
      throw usage_error("queue " + in_quotes(text) + " is given twice");
    out.push_back(std::move(one));
  }
  for (const auto& each : further) {
    if (std::none_of(out.begin(), out.end(),
                     [&](const work_queue& one) { return one.database == each.first; })) {
      throw usage_error("--also-db " + each.first + " is not used; give a queue of it as " +
                        each.first + ":QUEUE");
    }
  }
  return out;
}

/// The queue and the number in a `QUEUE=N`.
std::pair<work_queue*, std::int64_t> choice_of(const std::string& text, const std::string& option,
                                               std::vector<work_queue>& queues, std::int64_t least,
                                               std::int64_t most) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw usage_error(option + " takes QUEUE=N");
  const std::string queue = text.substr(0, equals);
  const auto found = std::find_if(queues.begin(), queues.end(), [&](const work_queue& one) {
    return !one.name.empty() && one.shown() == queue;
  });
  if (found == queues.end()) {
    const bool good =
        std::all_of(queue.begin(), queue.end(), [](char c) { return plain(c) || c == ':'; });
    throw usage_error(option + " is for a queue that is not served" +
                      (good ? ": " + in_quotes(queue) : std::string()));
  }
  return {&*found, parse_number(option, text.substr(equals + 1), least, most)};
}

template <class Number>
void choose(const argument& given, std::vector<work_queue>& queues, Number work_queue::*member,
            std::int64_t least, std::int64_t most) {
  std::set<const work_queue*> seen;
  for (const std::string& text : given.all()) {
    const auto [queue, number] = choice_of(text, given.name(), queues, least, most);
    if (!seen.insert(queue).second) {
      throw usage_error(given.name() + " is given twice for queue " + in_quotes(queue->shown()));
    }
    queue->*member = static_cast<Number>(number);
  }
}

/// Names the database in what goes wrong there, unless it is the first.
template <class Call>
auto in_database(const std::string& name, Call call) {
  if (name.empty()) return call();
  const std::string where = "database " + in_quotes(name) + ": ";
  try {
    return call();
  } catch (const tableq::error& failed) {
    throw tableq::error(failed.code(), failed.advice(), where + failed.what(),
                        {.sqlstate = failed.sqlstate(), .native = failed.native()});
  } catch (const usage_error& wrong) {
    throw usage_error(where + wrong.what());
  } catch (const refused_error& refused) {
    throw refused_error(where + refused.what());
  }
}

std::vector<work_source> work_plan::open(const connection_options& first,
                                         std::size_t commands) const {
  struct opened {
    std::string address;
    tableq::database db;
  };
  std::map<std::string, opened> databases;
  std::vector<work_source> out;
  for (const work_queue& one : queues) {
    in_database(one.database, [&] {
      auto found = databases.find(one.database);
      if (found == databases.end()) {
        connection_options where = first;
        where.url = one.database.empty() ? address_of(first) : further.at(one.database);
        // A worker takes, settles and extends leases of each queue in a thread of its own.
        const std::size_t sessions = commands + 4 * queues.size();
        found = databases.emplace(one.database, opened{where.url, connect(where, false, sessions)})
                    .first;
      }
      tableq::database& db = found->second.db;
      const any_source source = one.name.empty() && !mapping.empty() ? open_mapping(db, mapping)
                                                                     : open_source(db, one.name);
      out.push_back({one, found->second.address, as_leasing(source)});
      out.back().which.name = tool::name_of(source);
    });
  }
  return out;
}

work_plan work_queue_arguments::plan() const {
  if (mapping.given() && queues.all().size() > 1) {
    throw usage_error(
        "--mapping is for one table alone; store the mapping with tableq create table, and give "
        "the table as a QUEUE");
  }
  if (queues.given() == mapping.given()) throw usage_error("give either QUEUE or --mapping FILE");
  work_plan out;
  out.mapping = mapping.text();
  out.further = databases_of(also_db);
  out.queues = queues_of(queues, out.further);
  if (mapping.given()) out.queues.emplace_back();
  choose(weight, out.queues, &work_queue::weight, 1, 1000);
  choose(precedence, out.queues, &work_queue::precedence, std::numeric_limits<int>::min(),
         std::numeric_limits<int>::max());
  return out;
}

struct work_arguments : arguments {
  using arguments::arguments;

  work_queue_arguments from = work_queue_arguments(command);
  argument concurrency{command, "--concurrency", "N", "The most commands at once, up to 256 (1)"};
  argument lease{command, "--lease", "TIME",
                 "How long this worker has a message before others may take it; extended while it\n"
                 "works (the queue's)"};
  argument child{
      command, "--child", "KIND",
      "job: a command for each message (the default); lines: N lasting commands, each\nof which "
      "handles one message after the other"};
  argument answer_within{command, "--answer-within", "TIME",
                         "With --child lines: how long an answer may take (without end)"};
  argument linger{
      command, "--linger", "TIME",
      "How long a finished message may wait for others, so that one transaction settles\n"
      "them, up to 60s (0s)"};
  argument retry_delay{command, "--retry-delay", "TIME",
                       "Delay after a failure; 0s: at once (the queue's)"};
  argument grace{
      command, "--grace", "TIME",
      "How long running commands may go on after SIGTERM; then they get SIGTERM, 3 s later\n"
      "SIGKILL, and their messages are given back; work ends 2 s later (without end)"};
  flag until_empty{
      command, "--until-empty",
      "End when no queue has a message that is ready, delayed or leased; those of a paused\n"
      "queue are waited for"};
  flag pass_db{command, "--pass-db",
               "Pass the address of the message's database, with its password, to the\n"
               "command as TABLEQ_DB"};
  flag verbose{command, "--verbose", "Print a line on standard error for each message"};
  flag summary{command, "--summary", "Print a line on standard error at the end"};
};

struct work_settings {
  command_settings run;
  std::size_t concurrency = 1;
  std::chrono::milliseconds lease{};
  std::chrono::milliseconds linger{};
  std::optional<std::chrono::milliseconds> grace;
};

work_settings settings_of(const invocation& call, const work_arguments& given) {
  if (!call.tail || call.tail->empty()) throw usage_error("give the COMMAND after --");
  work_settings settings;
  const std::vector<std::string>& command = settings.run.command = *call.tail;
  try {
    static_cast<void>(find_command(command.front()));
  } catch (const std::system_error& failed) {
    throw usage_error("cannot run " + command.front() + ": " + failed.code().message());
  }
  const std::string child = given.child.given() ? given.child.text() : "job";
  if (child != "job" && child != "lines") throw usage_error("--child is job or lines");
  settings.run.by_lines = child == "lines";
  if (!settings.run.by_lines) refuse(given.answer_within, "goes with --child lines");
  given.answer_within.store(settings.run.answer_within, duration_from(milliseconds{1}));
  if (settings.run.by_lines && given.pass_db && given.from.also_db.given()) {
    throw usage_error("with --child lines, --pass-db is for one database only");
  }
  settings.concurrency = given.concurrency.count(1, 256);
  settings.lease = given.lease.duration({}, milliseconds{1});
  if (settings.lease > std::chrono::days{365}) throw usage_error("--lease must be at most 365d");
  settings.linger = given.linger.duration();
  if (settings.linger > std::chrono::minutes{1}) throw usage_error("--linger must be at most 60s");
  given.retry_delay.store(settings.run.retry_delay, duration_from({}));
  given.grace.store(settings.grace, duration_from({}));
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
/// @param queue its name, where the worker has several.
void report(status_line& status, bool verbose, const std::string& queue,
            const tableq::worker_event& event) {
  using kind = tableq::worker_event::kind;
  std::string said;
  switch (event.what) {
    case kind::trouble:
      status.trouble((queue.empty() ? "" : queue + ": ") +
                     "trying again: " + std::string(event.why));
      return;
    case kind::completed:
      said = "completed";
      break;
    case kind::failed:
    case kind::given_up:
      said = "failed: " + printable(std::string(event.why));
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
    status.note((queue.empty() ? "" : queue + ": ") + "message " + std::to_string(event.id.value) +
                ", attempt " + std::to_string(event.attempt) + ": " + said);
  }
}

void show_progress(status_line& status, const tableq::worker& pool,
                   steady_clock::time_point begin) {
  if (!status.shown()) return;
  const tableq::worker_counts counts = pool.counts();
  status.show(in_words(counts) + ", running " + std::to_string(counts.running) + ", " +
              rate(counts.completed, steady_clock::now() - begin));
}

std::vector<tableq::worker_source> with_commands(const std::vector<work_source>& sources,
                                                 bool pass_db, command_runner& commands,
                                                 const ending& end) {
  std::vector<tableq::worker_source> out;
  for (const work_source& one : sources) {
    const message_origin from{.queue = one.which.name,
                              .database = one.which.database,
                              .db = pass_db ? std::optional(one.address) : std::nullopt};
    const auto handle = [&, from](const tableq::delivery& delivery, const std::stop_token& stop) {
      tableq::handled said = commands.run(from, delivery, stop);
      if (commands.hopeless()) end.give_up();
      return said;
    };
    out.push_back({.queue = one.queue,
                   .work = handle,
                   .weight = one.which.weight,
                   .precedence = one.which.precedence});
  }
  return out;
}

/// The figures of each queue, where there are several, and those of all.
void summarize(status_line& status, const tableq::worker& pool,
               const std::vector<work_source>& sources, steady_clock::time_point begin) {
  for (std::size_t i = 0; sources.size() > 1 && i < sources.size(); ++i) {
    status.note(sources[i].which.shown() + ": " + in_words(pool.counts(i)));
  }
  status.note(in_words(pool.counts()) + ", in " + seconds(steady_clock::now() - begin));
}

exit_status work(const invocation& call, const work_arguments& given) {
  const work_settings settings = settings_of(call, given);
  const work_plan plan = given.from.plan();
  // Before the first thread, which may be one of the library's.
  const signal_queue signals;
  guard watch(settings.concurrency);
  status_line status;
  command_runner commands(settings.run, watch,
                          [&](const std::string& sentence) { status.note(sentence); });
  ending end(signals, watch, commands, status, settings.grace, given.verbose);
  std::vector<work_source> sources;
  end.call([&] { sources = plan.open(call.connection, settings.concurrency); });

  // For reports, which may come until the worker has ended: the sources end beside it.
  std::vector<std::string> names(sources.size());
  for (std::size_t i = 0; sources.size() > 1 && i < sources.size(); ++i)
    names[i] = sources[i].which.shown();
  const completion finished;
  const auto begin = steady_clock::now();
  // If this process dies, what it holds waits for the end of the leases: nothing is prefetched, but
  // for the one message of each queue that a choice among several needs.
  auto pool = std::make_unique<tableq::worker>(
      with_commands(sources, given.pass_db, commands, end),
      tableq::worker_options{
          .threads = settings.concurrency,
          .prefetch = 0,
          .max_kept = settings.concurrency + command_runner::most_kept(),
          .lease = settings.lease.count() > 0 ? std::optional(settings.lease) : std::nullopt,
          .linger = settings.linger,
          .retry_delay = settings.run.retry_delay,
          .until_empty = given.until_empty,
          .observe =
              [&](const tableq::worker_event& event) {
                report(status, given.verbose, names[event.source], event);
              },
          .ended = [&] { finished.set(); }});
  end.serve(pool.get());
  const bool settled = end.wait_for(finished, [&] { show_progress(status, *pool, begin); });
  status.clear();
  if (end.asked() || given.summary || status.shown()) summarize(status, *pool, sources, begin);
  if (!settled) end.leave();
  end.serve(nullptr);
  end.call([&] {
    // Sessions close here, too, which may wait for the database.
    const std::vector<work_source> closed = std::move(sources);
    const std::unique_ptr<tableq::worker> ended = std::move(pool);
    ended->join();
  });
  if (const auto why = commands.hopeless()) throw usage_error(*why);
  return exit_status::done;
}

}  // namespace

void add_work(CLI::App& app, invocation& call) {
  add_database_command<work_arguments>(
      app, call, "work",
      {.description = "Run a command for each message of claim queues, or row of tables",
       .details =
           "The payload is the command's standard input. Its environment has TABLEQ_MESSAGE_ID, "
           "TABLEQ_ATTEMPT,\n"
           "TABLEQ_QUEUE, TABLEQ_DATABASE (the NAME of --also-db, or empty), and "
           "TABLEQ_HEADER_NAME for each\n"
           "header, with the name in upper case and _ for other characters; TRACEPARENT and "
           "TRACESTATE "
           "are those\nof the message.\n"
           "TABLEQ_DB and TABLEQ_DB_NAME, which may hold passwords, are removed; --pass-db sets "
           "TABLEQ_DB.\n"
           "Exit status 0 completes the message, all else fails it; after its last attempt it is "
           "dead.\n"
           "A row of the application's table is one JSON object on the standard input; its mapping "
           "is stored by\n"
           "`tableq create table`, or in the file of --mapping.\n"
           "The lease is extended while a command runs; if it is lost, the command gets SIGTERM.\n"
           "126 and 127 say that a program is missing: the message is given back, but for each "
           "fourth "
           "in a row,\n"
           "and those that come after a command that could start. While no command succeeds, they "
           "run with\n"
           "pauses of up to 5 s. If work itself is killed, so are its commands.\n"
           "With --child lines a command lasts: it reads a JSON line for each message, and answers "
           "with one:\n"
           "{\"receipt\": R, \"settle\": \"complete\"}, or \"release\", or \"fail\" with "
           "\"error\", \"delay_ms\" or \"final\".\n"
           "A command that dies, answers something else or exceeds --answer-within fails its "
           "message, and is replaced.\n"
           "Several queues share --concurrency, and the signals. All databases must answer at the "
           "start; if one is\n"
           "away later, the queues of the others go on. --prefix and --schema are for all "
           "databases.\n"
           "SIGTERM, SIGINT: take no more, finish running commands, exit with 0. A second signal "
           "sends\n"
           "them SIGTERM and gives their messages back, a third one sends SIGKILL; --grace does "
           "the "
           "same by time.\n"
           "2 s after SIGKILL, or with a fourth signal, work ends even if the database does not "
           "answer, with exit\n"
           "status 3 if it still has messages: they can be taken again after their leases.",
       .usage = "QUEUE... | --mapping FILE [OPTIONS] -- COMMAND [ARG...]",
       .examples =
           "  tableq work jobs -- sh -c 'sha256sum \"$(cat)\"'\n"
           "  tableq work jobs --concurrency 4 --until-empty -- ./handle-one\n"
           "  tableq work jobs --lease 5m --retry-delay 30s --summary -- python3 resize.py\n"
           "  tableq work jobs --child lines --concurrency 4 -- python3 handler.py\n"
           "  tableq work jobs --grace 25s -- ./handle-one   # under Kubernetes, which waits for "
           "30 s\n"
           "  tableq work --mapping emails.json -- ./send-email\n"
           "  tableq work urgent jobs --precedence urgent=1 -- ./handle-one\n"
           "  TABLEQ_DB_SHOP=postgresql://... tableq work jobs shop:orders --also-db shop "
           "--weight jobs=3 -- ./handle-one"},
      work);
}

}  // namespace tool
