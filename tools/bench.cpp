#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "measure.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "statistics.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

template <class Queue>
constexpr bool claims = std::is_same_v<Queue, tableq::claim_queue>;

template <class Queue>
auto batch_of(const Queue& /*queue*/, std::string_view payload, std::size_t count) {
  if constexpr (claims<Queue>) {
    return std::vector<tableq::new_claim_message>(count, {std::string(payload)});
  } else if constexpr (std::is_same_v<Queue, tableq::pending_queue>) {
    return std::vector<tableq::new_pending_message>(count, {std::string(payload)});
  } else {
    return std::vector<tableq::new_message>(count, {std::string(payload)});
  }
}

std::size_t settle(tableq::claim_queue& queue, const std::vector<tableq::delivery>& taken) {
  if (taken.empty()) return 0;
  if (taken.size() == 1) {
    return queue.complete(taken.front().receipt) == tableq::settle_result::applied ? 1 : 0;
  }
  return queue.complete_batch(taken).size();
}

/// Messages of any state.
std::size_t held(const any_queue& queue) {
  return std::visit(
      [](const auto& opened) -> std::size_t {
        const auto found = opened.stats();
        if constexpr (claims<std::decay_t<decltype(opened)>>) {
          return found.ready + found.delayed + found.leased + found.held + found.done + found.dead;
        } else {
          return found.waiting + found.delayed;
        }
      },
      queue);
}

void remove_all(any_queue& queue) {
  if (auto* const claim = std::get_if<tableq::claim_queue>(&queue)) {
    constexpr std::size_t many = 1000;
    for (auto taken = claim->take(many); !taken.empty(); taken = claim->take(many)) {
      static_cast<void>(claim->complete_batch(taken));
    }
    claim->purge(tableq::message_state::done);
    claim->purge(tableq::message_state::dead);
  } else {
    as_destructive(queue, "").purge();
  }
}

std::string fresh_name(tableq::kind kind) {
  std::random_device random;
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", random());
  return "bench-" + std::to_string(::getpid()) + '-' + text.data() + '-' +
         std::string(tableq::to_string(kind));
}

/// A queue for measurements.
class bench_queue {
 public:
  /// Creates it under an unused name. The destructor drops it.
  bench_queue(tableq::database& db, tableq::kind kind, std::size_t payload_bytes)
      : db_(db),
        created_(true),
        name_(fresh_name(kind)),
        payload_(payload_bytes, 'x'),
        queue_(open_as(db, name_, {.kind = kind})) {}
  /// Takes an existing queue. The destructor empties it.
  /// @throws refused_error if it holds messages, is paused or has a rate.
  bench_queue(tableq::database& db, const std::string& name, std::size_t payload_bytes)
      : db_(db),
        created_(false),
        name_(name),
        payload_(payload_bytes, 'x'),
        queue_(open_queue(db, name)) {
    if (std::visit([](const auto& queue) { return queue.paused() || queue.limits().rate; },
                   queue_)) {
      throw refused_error(
          "queue " + in_quotes(name_) +
          " is paused or has a rate, so that it could not be emptied at the end; use `tableq "
          "resume`, or `tableq limit --rate none`");
    }
    if (held(queue_) > 0) {
      throw refused_error("queue " + in_quotes(name_) +
                          " holds messages; name an empty queue, which no other program uses");
    }
  }
  bench_queue(const bench_queue&) = delete;
  bench_queue& operator=(const bench_queue&) = delete;
  /// Names a queue that it cannot drop or empty on standard error.
  ~bench_queue() {
    try {
      if (created_) {
        db_.drop(name_);
        return;
      }
      remove_all(queue_);
      if (held(queue_) > 0) {
        complain("queue " + in_quotes(name_) +
                 " still holds messages: it was paused or limited meanwhile, or another program "
                 "uses it");
      }
    } catch (const std::exception& failure) {
      // A destructor must not throw; the remaining queue is reported.
      complain("queue " + in_quotes(name_) + (created_ ? " stays behind: " : " is not empty: ") +
               failure.what());
    }
  }

  [[nodiscard]] std::string read_name() const {
    return std::holds_alternative<tableq::claim_queue>(queue_) ? "take + complete" : "dequeue";
  }
  /// A call for one thread that adds this number of messages.
  [[nodiscard]] bench::operation adding(std::size_t batch) {
    return std::visit(
        [this, batch](const auto& queue) -> bench::operation {
          if (batch == 1) {
            return [this, own = queue]() mutable {
              own.enqueue(payload_);
              return std::size_t{1};
            };
          }
          return [own = queue, all = batch_of(queue, payload_, batch)]() mutable {
            own.enqueue_batch(all);
            return all.size();
          };
        },
        queue_);
  }
  /// A call for one thread that reads this number of messages.
  [[nodiscard]] bench::operation reading(std::size_t batch) {
    return std::visit(
        [batch](const auto& queue) -> bench::operation {
          using type = std::decay_t<decltype(queue)>;
          return [own = queue, batch]() mutable -> std::size_t {
            if constexpr (claims<type>) {
              return settle(own, own.take(batch));
            } else {
              return batch == 1 ? (own.dequeue() ? 1U : 0U) : own.dequeue_batch(batch).size();
            }
          };
        },
        queue_);
  }
  /// Waits for one message and reads it.
  /// @return whether one came.
  bool receive(milliseconds wait) {
    return std::visit(
        [wait](auto& queue) {
          if constexpr (claims<std::decay_t<decltype(queue)>>) {
            return settle(queue, queue.take(1, {.wait = wait})) > 0;
          } else {
            return queue.dequeue({.wait = wait}).has_value();
          }
        },
        queue_);
  }

 private:
  tableq::database& db_;
  bool created_;
  std::string name_;
  std::string payload_;
  any_queue queue_;
};

constexpr const char* latency = "enqueue to receipt";

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

double in_seconds(milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

void rest(milliseconds time) {
  std::this_thread::sleep_for(time);
  if (bench::interrupted()) throw bench::interruption();
}

double rounded(double value) {
  return std::round(value * 100) / 100;
}

/// Lines are printed one by one, so the widths are fixed.
std::string columns(const std::vector<std::string>& cells) {
  constexpr std::array<std::size_t, 8> widths = {9, 20, 9, 8, 12, 10, 10, 0};
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string cell = cells[i];
    cell.resize(std::max(cell.size(), widths.at(i)), ' ');
    out += cell;
  }
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

/// A thread that waits for messages and reports the time of each.
class receiver {
 public:
  explicit receiver(bench_queue& queue)
      : thread_([this, &queue](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            try {
              if (!queue.receive(milliseconds{500})) continue;
            } catch (const tableq::error&) {
              return;  // The adding thread has the same error, and reports it.
            }
            at_ = steady_clock::now();
            come_.release();
          }
        }) {}

  /// @return false when none came in this time.
  bool wait(milliseconds most) { return come_.try_acquire_for(most); }
  [[nodiscard]] steady_clock::time_point at() const { return at_; }

 private:
  steady_clock::time_point at_;  ///< Handed over by the semaphore.
  std::counting_semaphore<> come_{0};
  std::jthread thread_;
};

/// The cases to measure, and their duration.
struct bench_settings {
  std::vector<tableq::kind> kinds = {tableq::kind::fifo, tableq::kind::claim};
  std::string queue;        ///< Of one of these kinds; empty: a new one for each.
  milliseconds time{3000};  ///< For each measurement.
  std::size_t threads = 16;
  std::size_t batch = 100;
  std::size_t payload = 200;  ///< Bytes.
  bool as_json = false;
};

/// Measures kinds of queues one after the other, and prints each figure at once.
///
/// Borrows all its arguments.
class bench_run {
 public:
  bench_run(tableq::database& db, const bench_settings& settings, output& out, status_line& status)
      : db_(db), settings_(settings), out_(out), status_(status) {}

  void heading() {
    if (settings_.as_json) return;
    print(columns(
        {"KIND", "WHAT", "THREADS", "A CALL", "MESSAGES/S", "P50 MS", "P99 MS", "TO SINGLE"}));
  }

  void measure(tableq::kind kind) {
    kind_ = tableq::to_string(kind);
    stored_ = 0;
    const std::size_t threads = settings_.threads;
    const std::size_t batch = settings_.batch;
    {
      bench_queue queue = queue_of(kind);
      // The first call opens the session.
      bench::measure(1, {.seconds = 0.05}, [&](std::size_t) { return queue.adding(1); });
      const double added = add(queue, 1, 1, 0);
      const double added_batch = add(queue, 1, batch, added);
      const double added_threads = add(queue, threads, 1, added);
      const double read = take(queue, 1, 1, 0, added);
      take(queue, 1, batch, read, added_batch);
      take(queue, threads, 1, read, added_threads);
    }
    hand_over(kind);
  }

 private:
  struct row {
    std::string what;
    std::size_t threads;
    std::size_t batch;
    bench::outcome did;
    double single;  ///< The rate of one thread and one message a call; zero: no comparison.
  };

  [[nodiscard]] bench_queue queue_of(tableq::kind kind) const {
    if (settings_.queue.empty()) return {db_, kind, settings_.payload};
    return {db_, settings_.queue, settings_.payload};
  }

  double add(bench_queue& queue, std::size_t threads, std::size_t batch, double single) {
    show("enqueue", threads, batch);
    bench::outcome did = bench::measure(threads, {.seconds = in_seconds(settings_.time)},
                                        [&](std::size_t) { return queue.adding(batch); });
    stored_ += did.messages;
    return print_row({"enqueue", threads, batch, std::move(did), single});
  }

  /// @param expected messages a second: enough of them are added first.
  double take(bench_queue& queue, std::size_t threads, std::size_t batch, double single,
              double expected) {
    // Enough for the reads, but not more than any database has room for.
    constexpr double most_bytes = 256.0 * 1024 * 1024;
    const double most = most_bytes / static_cast<double>(settings_.payload + 100);
    const auto wanted = static_cast<std::size_t>(
        std::clamp(expected * in_seconds(settings_.time) * 1.5, static_cast<double>(batch), most));
    show("filling", 1, settings_.batch);
    if (stored_ < wanted) {
      const bench::operation more = queue.adding(settings_.batch);
      for (; stored_ < wanted; rest(milliseconds{0})) stored_ += more();
    }
    show(queue.read_name(), threads, batch);
    bench::outcome did = bench::measure(threads, {.seconds = in_seconds(settings_.time)},
                                        [&](std::size_t) { return queue.reading(batch); });
    stored_ -= std::min(stored_, did.messages);
    return print_row({queue.read_name(), threads, batch, std::move(did), single});
  }

  /// The time from an enqueue to a waiting thread, without other load.
  void hand_over(tableq::kind kind) {
    show(latency, 1, 1);
    constexpr int samples = 20;
    bench_queue queue = queue_of(kind);
    const bench::operation add = queue.adding(1);
    add();
    receiver reader(queue);
    if (!reader.wait(std::chrono::seconds{30})) return;
    bench::outcome did;
    for (int i = 0; i < samples; ++i) {
      rest(std::min<milliseconds>(settings_.time / samples, milliseconds{100}));
      const auto begin = steady_clock::now();
      did.messages += add();
      if (!reader.wait(std::chrono::seconds{30})) break;
      did.latency.push_back(std::chrono::duration<double, std::micro>(reader.at() - begin).count());
    }
    print_row({latency, 1, 1, std::move(did), 0});
  }

  void show(const std::string& what, std::size_t threads, std::size_t batch) {
    status_.show(kind_ + ": " + what + ", " + std::to_string(threads) + " threads, " +
                 std::to_string(batch) + " in each call");
  }

  double print_row(const row& one) {
    const double rate = one.did.rate();
    const double p50 = bench::percentile(one.did.latency, 0.5);
    const double p99 = bench::percentile(one.did.latency, 0.99);
    if (settings_.as_json) {
      json line{{"backend", db_.backend()},
                {"kind", kind_},
                {"what", one.what},
                {"threads", one.threads},
                {"batch", one.batch},
                {"payload", settings_.payload},
                {"messages", one.did.messages},
                {"rate", rate > 0 ? json(rounded(rate)) : json(nullptr)},
                {"p50_us", rounded(p50)},
                {"p99_us", rounded(p99)}};
      line["to_single"] = one.single > 0 ? json(rounded(rate / one.single)) : json(nullptr);
      print(line.dump());
    } else {
      print(columns({kind_, one.what, std::to_string(one.threads), std::to_string(one.batch),
                     rate > 0 ? fixed(rate, 0) : "-", fixed(p50 / 1000, 3), fixed(p99 / 1000, 3),
                     one.single > 0 ? fixed(rate / one.single, 1) : "-"}));
    }
    return rate;
  }

  void print(const std::string& line) {
    status_.clear();
    out_.line(line);
    out_.flush();
  }

  tableq::database& db_;
  const bench_settings& settings_;
  output& out_;
  status_line& status_;
  std::string kind_;
  std::size_t stored_ = 0;
};

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
