#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct dequeue_arguments : arguments {
  using arguments::arguments;
  argument queue = argument(command, "QUEUE", "", "The queue; any kind but claim").required();
  argument count{command, "--count", "N", "At most N messages (1)"};
  argument wait{command, "--wait", "TIME", "Wait at most TIME for each message (0s)"};
  flag all{command, "--all", "Until the queue is empty"};
  flag as_json{command, "--json", "One object on each line"};
  flag raw{command, "--raw", "Print one payload, without a newline"};
};

/// How many messages one transaction takes: few at first, then about 4 MiB.
class batch_size {
 public:
  [[nodiscard]] std::size_t next() const { return size_; }
  void learn(const std::vector<tableq::message>& messages) {
    std::size_t bytes = 0;
    for (const tableq::message& one : messages) bytes += one.payload.size();
    const std::size_t average = std::max<std::size_t>(1, bytes / messages.size());
    size_ = std::clamp<std::size_t>(aim / average, 1, std::min<std::size_t>(1000, size_ * 8));
  }

 private:
  static constexpr std::size_t aim = 4UL * 1024 * 1024;
  std::size_t size_ = 4;
};

/// The pause between two tries: longer each time.
class growing_pause {
 public:
  [[nodiscard]] milliseconds next() { return std::exchange(next_, std::min(2 * next_, longest)); }
  void reset() { next_ = first; }

 private:
  static constexpr milliseconds first{5};
  static constexpr milliseconds longest{250};
  milliseconds next_ = first;
};

/// Repeats what changes nothing, while the database cannot do it: as long as the command waits, or
/// ten seconds if it does not.
class repetition {
 public:
  explicit repetition(bool waits) : waits_(waits) {}

  template <typename Action>
  auto operator()(steady_clock::time_point waits_until, const Action& action) {
    constexpr std::chrono::seconds patience{10};
    constexpr std::chrono::seconds worth_a_note{1};
    const auto began = steady_clock::now();
    const auto until = waits_ ? waits_until : began + patience;
    growing_pause pauses;
    for (;;) {
      try {
        return action();
      } catch (const tableq::error& failure) {
        const auto now = steady_clock::now();
        if (failure.advice() == tableq::advice::never || now > until) throw;
        if (now > began + worth_a_note) status_.trouble(sentence_of(failure) + "; trying again");
        std::this_thread::sleep_for(pauses.next());
      }
    }
  }

 private:
  bool waits_;
  status_line status_;
};

/// The messages of a transaction that has not ended.
struct taken {
  tableq::transaction tx;
  std::vector<tableq::message> messages;
};

taken take(tableq::database& db, tableq::destructive_queue& queue, std::size_t most) {
  tableq::transaction tx = db.begin();
  std::vector<tableq::message> messages = queue.in(tx).dequeue_batch(most);
  return {std::move(tx), std::move(messages)};
}

void print(output& out, const tableq::message& message, const dequeue_arguments& how) {
  if (how.as_json) {
    out.line(message_json(message));
  } else if (how.raw) {
    out.write(message.payload);
  } else {
    out.line(message.payload);
  }
}

/// Only accepted messages leave the queue.
void deliver(taken batch, const dequeue_arguments& how) {
  output out;
  try {
    for (const tableq::message& one : batch.messages) print(out, one, how);
    out.flush();
  } catch (const output_error& failure) {
    batch.tx.rollback();
    throw output_error(std::string(failure.what()) + "; the last " +
                       std::to_string(batch.messages.size()) + " stay in the queue");
  }
  try {
    batch.tx.commit();
  } catch (const tableq::error& failure) {
    const bool unknown = failure.code() == tableq::errc::outcome_unknown;
    throw tableq::error(failure.code(), failure.advice(),
                        sentence_of(failure) + "; the last " +
                            std::to_string(batch.messages.size()) + " were printed and " +
                            (unknown ? "may be" : "are") + " in the queue still");
  }
}

/// Polls, without holding a lock, until there is a message or the time is over.
void wait_for_message(const tableq::destructive_queue& queue, steady_clock::time_point until,
                      growing_pause& pauses, repetition& repeat) {
  do {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    std::this_thread::sleep_for(std::min(left, pauses.next()));
  } while (repeat(until, [&] { return queue.peek().empty(); }) && steady_clock::now() < until);
}

exit_status dequeue(const connection_options& connection, const dequeue_arguments& given) {
  if (given.all && given.count.given()) throw usage_error("--count and --all exclude each other");
  if (given.raw && given.as_json) throw usage_error("--raw and --json exclude each other");
  const std::size_t count = given.count.count(1, 1'000'000'000);
  if (given.raw && (given.all || count > 1)) throw usage_error("--raw takes one message only");
  const milliseconds wait = given.wait.duration();

  // `repeat` has the patience: the library's own would exceed the time.
  constexpr milliseconds library_tries{100};
  tableq::database db = connect(connection, false, 4, library_tries);
  any_queue opened = open_queue(db, given.queue.text());
  tableq::destructive_queue& queue = as_destructive(opened, "read it with: tableq work");

  std::size_t done = 0;
  batch_size size;
  growing_pause pauses;
  repetition repeat(given.wait.given());
  auto until = steady_clock::now() + wait;
  // This look learns where reads begin. In a transaction that would take a second session.
  repeat(until, [&] { return queue.peek(); });
  while (given.all || done < count) {
    const std::size_t most = given.all ? size.next() : std::min(size.next(), count - done);
    taken batch = repeat(until, [&] { return take(db, queue, most); });
    if (!batch.messages.empty()) {
      done += batch.messages.size();
      size.learn(batch.messages);
      deliver(std::move(batch), given);
      until = steady_clock::now() + wait;
      pauses.reset();
      continue;
    }
    batch.tx.rollback();
    if (steady_clock::now() >= until) break;
    wait_for_message(queue, until, pauses, repeat);
  }
  return done > 0 ? exit_status::done : exit_status::nothing;
}

}  // namespace

void add_dequeue(CLI::App& app, invocation& call) {
  add_database_command<dequeue_arguments>(
      app, call, "dequeue",
      {.description = "Read messages, delete them, and print their payloads",
       .details =
           "A newline follows each payload. Exit status 1 when there was no message.\n"
           "A message leaves the queue when standard output has accepted it: with a closed pipe or "
           "a full disk\n"
           "it stays. A message that a pipe has accepted counts as delivered: use --count if its "
           "reader stops\n"
           "early. While a reader is slow, its messages are locked; on SQLite all writers wait.\n"
           "With --wait it stops when that time has passed without a message. If the database "
           "goes away meanwhile,\n"
           "it tries again for that time, without --wait for ten seconds.",
       .usage = "QUEUE [--count N | --all] [--wait TIME] [--json | --raw]",
       .examples = "  tableq dequeue mail\n"
                   "  tableq dequeue mail --raw > message.bin\n"
                   "  tableq dequeue mail --all --json | jq -r .payload\n"
                   "  tableq dequeue mail --count 10 --wait 5s"},
      dequeue);
}

}  // namespace tool
