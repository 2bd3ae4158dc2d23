#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "status_line.hpp"
#include "streams.hpp"

namespace tool {

namespace {

struct enqueue_arguments : queue_argument {
  using queue_argument::queue_argument;

  argument delay{command, "--delay", "TIME",
                 "pending and claim: not read before this time is over (0s)"};
  argument priority{command, "--priority", "N", "claim: higher comes first (0)"};
  argument key{command, "--key", "TEXT", "claim: at most one message of the queue has this key"};
  argument on_duplicate{command, "--on-duplicate", "keep|reject|replace|postpone",
                        "claim: the policy if the key is held (keep)"};
  argument group{command, "--group", "TEXT",
                 "claim: messages of a group are taken one after the other"};
  argument ttl{command, "--ttl", "TIME", "claim: dead if not taken within this time (the queue's)"};
  argument batch{command, "--batch", "ID", "claim: the batch of the message"};
  argument header =
      argument(command, "--header", "NAME=VALUE", "claim: a header; may be repeated").repeatable();
  argument created_at{
      command, "--created-at", "WHEN",
      "Stored with the message (now): 2025-01-31T12:00:00Z, or milliseconds since 1970"};
  argument wait{command, "--wait", "TIME",
                "Wait at most TIME for room in a full queue; with --lines for each part (0s)"};
  argument max_payload{
      command, "--max-payload", "BYTES",
      "Refuse longer messages (PostgreSQL: 500000000; pg_dump fails from 537000000 on),\nup to "
      "1000000000"};
  flag lines{command, "--lines", "Each line of standard input is a message"};
  flag standard_input{command, "--stdin", "All of standard input is one message"};
  flag ids{command, "--ids", "With --lines: print the ids"};
  flag as_json{command, "--json", "Print an object with id and outcome for each message"};
};

/// The options of all kinds; those that a kind lacks are refused before.
struct message_options {
  tableq::enqueue_options plain;
  tableq::pending_options pending;
  tableq::claim_enqueue_options claim;
};

tableq::on_duplicate parse_policy(const std::string& option, const std::string& text) {
  using tableq::on_duplicate;
  if (text == "keep") return on_duplicate::keep_first;
  if (text == "reject") return on_duplicate::reject;
  if (text == "replace") return on_duplicate::replace;
  if (text == "postpone") return on_duplicate::postpone;
  throw usage_error(option + " takes keep, reject, replace or postpone");
}

message_options read_options(const enqueue_arguments& given) {
  message_options result;
  result.pending.delay = result.claim.delay = given.delay.duration();
  given.created_at.store(result.plain.created_at, parse_timestamp);
  result.pending.created_at = result.claim.created_at = result.plain.created_at;
  given.priority.store(result.claim.priority, number_from<std::int32_t>(INT32_MIN, INT32_MAX));
  given.key.store(result.claim.key);
  if (!given.key.given()) refuse(given.on_duplicate, "goes with --key");
  given.on_duplicate.store(result.claim.on_duplicate, parse_policy);
  given.group.store(result.claim.group);
  given.ttl.store(result.claim.time_to_live, duration_from(std::chrono::milliseconds{1}));
  if (given.batch.given()) {
    result.claim.batch = tableq::batch_id{.value = given.batch.number(1, INT64_MAX)};
  }
  result.claim.headers = parse_headers(given.header);
  return result;
}

/// One queue of any kind, with the options of its messages.
class target {
 public:
  target(any_queue queue, message_options options, tableq::when_full full)
      : queue_(std::move(queue)), options_(std::move(options)), full_(std::move(full)) {}

  /// How many messages of a stream are added at a time. With --wait only a part of the capacity:
  /// for all of it the queue would have to be empty.
  [[nodiscard]] std::size_t batch() const {
    constexpr std::size_t most = 1000;
    if (full_.wait.count() == 0) return most;
    const auto capacity =
        std::visit([](const auto& queue) { return queue.limits().capacity; }, queue_);
    return std::clamp<std::size_t>(capacity.value_or(most * 4) / 4, 1, most);
  }

  std::vector<tableq::enqueued> add(std::span<const std::string> payloads) {
    return std::visit([&](auto& queue) { return add_to(queue, payloads); }, queue_);
  }

 private:
  template <class Message, class Options>
  static std::vector<Message> wrap(std::span<const std::string> payloads, const Options& options) {
    std::vector<Message> messages;
    messages.reserve(payloads.size());
    for (const std::string& payload : payloads) messages.push_back({payload, options});
    return messages;
  }
  static std::vector<tableq::enqueued> all_new(const std::vector<tableq::message_id>& ids) {
    std::vector<tableq::enqueued> result;
    result.reserve(ids.size());
    for (const tableq::message_id id : ids) result.push_back({.id = id});
    return result;
  }

  std::vector<tableq::enqueued> add_to(tableq::plain_queue& queue,
                                       std::span<const std::string> payloads) const {
    return all_new(queue.enqueue_batch(wrap<tableq::new_message>(payloads, options_.plain), full_));
  }
  std::vector<tableq::enqueued> add_to(tableq::pending_queue& queue,
                                       std::span<const std::string> payloads) const {
    return all_new(
        queue.enqueue_batch(wrap<tableq::new_pending_message>(payloads, options_.pending), full_));
  }
  std::vector<tableq::enqueued> add_to(tableq::claim_queue& queue,
                                       std::span<const std::string> payloads) const {
    return queue.enqueue_batch(wrap<tableq::new_claim_message>(payloads, options_.claim), full_);
  }

  any_queue queue_;
  message_options options_;
  tableq::when_full full_;
};

void print_added(output& out, const std::vector<tableq::enqueued>& added, bool as_json) {
  for (const tableq::enqueued& one : added) {
    // Zero: the message that held the key has just left.
    const json id = one.id.value == 0 ? json() : json(one.id.value);
    if (as_json) {
      out.line(line_of({{"id", id}, {"outcome", to_string(one.result)}}));
    } else if (!id.is_null()) {
      out.line(id.dump());
    }
  }
}

void tell(tableq::enqueue_result result) {
  switch (result) {
    case tableq::enqueue_result::added:
      break;
    case tableq::enqueue_result::kept_first:
      complain("exists: a message with this key is in the queue already");
      break;
    case tableq::enqueue_result::replaced:
      complain("replaced: the message with this key has the new payload");
      break;
    case tableq::enqueue_result::postponed:
      complain("postponed: the message with this key has the new payload and falls due later");
      break;
  }
}

exit_status enqueue_payloads(target& queue, std::span<const std::string> payloads, bool as_json) {
  const std::vector<tableq::enqueued> added = queue.add(payloads);
  if (!as_json) tell(added.front().result);
  output out;
  print_added(out, added, as_json);
  try {
    out.flush();
  } catch (const output_error& failure) {
    throw output_error("enqueued, but " + std::string(failure.what()));
  }
  return exit_status::done;
}

constexpr std::chrono::milliseconds linger{100};

/// The lines of standard input in batches: as many as are available, so that a slow writer's lines
/// do not wait for a full batch.
class line_batches {
 public:
  /// @param most lines in a batch. A batch also ends after 8 MiB, and 100 ms after its first line.
  explicit line_batches(std::size_t most) : most_(most) {}

  /// The next lines, without their newlines; empty only at the end of the input. Text after the
  /// last newline is a line of its own, unless it is empty.
  /// @throws refused_error when it cannot be read.
  std::vector<std::string> next() {
    std::vector<std::string> batch;
    bytes_ = 0;
    auto until = std::chrono::steady_clock::now() + linger;
    while (!collect(batch)) {
      if (ended_) {
        if (begin_ < buffer_.size()) batch.push_back(buffer_.substr(begin_));
        begin_ = scanned_ = buffer_.size();
        break;
      }
      if (!read_more(until, batch.empty())) break;
      if (batch.empty()) until = std::chrono::steady_clock::now() + linger;
    }
    return batch;
  }

 private:
  /// Moves whole lines from the buffer to the batch. @return whether the batch is full.
  bool collect(std::vector<std::string>& batch) {
    constexpr std::size_t batch_bytes = 8UL * 1024 * 1024;
    while (batch.size() < most_ && bytes_ < batch_bytes) {
      const std::size_t newline = buffer_.find('\n', scanned_);
      if (newline == std::string::npos) {
        scanned_ = buffer_.size();
        return false;
      }
      batch.push_back(buffer_.substr(begin_, newline - begin_));
      bytes_ += newline - begin_;
      begin_ = scanned_ = newline + 1;
    }
    return true;
  }
  /// Waits for more bytes until `until`. @return false when the time is over.
  bool read_more(std::chrono::steady_clock::time_point until, bool forever) {
    // Beyond any database's limit for a payload.
    constexpr std::size_t longest_line = 1024UL * 1024 * 1024;
    if (!forever && !input_readable_before(until)) return false;
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
    if (buffer_.size() > longest_line) throw refused_error("a line is longer than 1 GiB");
    ended_ = !append_input(buffer_);
    return true;
  }

  std::size_t most_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the first line that was not handed out
  std::size_t scanned_ = 0;  // up to here there is no newline after begin_
  std::size_t bytes_ = 0;    // in the batch
  bool ended_ = false;
};

exit_status enqueue_lines(target& queue, const enqueue_arguments& given) {
  line_batches input(queue.batch());
  status_line status;
  output out;
  std::size_t stored = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto so_far = [&] { return std::to_string(stored) + " lines enqueued"; };
  try {
    for (auto lines = input.next(); !lines.empty(); lines = input.next()) {
      const auto added = queue.add(lines);
      stored += added.size();
      if (given.ids || given.as_json) {
        print_added(out, added, given.as_json);
        out.flush();
      }
      status.show(so_far() + ", " + rate(stored, std::chrono::steady_clock::now() - begin));
    }
  } catch (const tableq::error& failure) {
    throw tableq::error(failure.code(), failure.advice(),
                        sentence_of(failure) + " (" + so_far() + " before)");
  } catch (const output_error& failure) {
    throw output_error(so_far() + ", but " + failure.what());
  }
  status.clear();
  if (status.shown()) {
    status.note(so_far() + " in " + seconds(std::chrono::steady_clock::now() - begin));
  }
  return exit_status::done;
}

/// The payloads among the arguments, and after `--`.
std::vector<std::string> payloads_of(const invocation& call, const enqueue_arguments& given) {
  std::vector<std::string> payloads = given.command.remaining();
  for (const std::string& text : payloads) {
    if (text.size() > 1 && text.front() == '-') {
      // The argument may be a payload, which no error shows.
      throw usage_error("unknown option, see --help; put a payload that begins with - after --");
    }
  }
  if (call.tail) payloads.insert(payloads.end(), call.tail->begin(), call.tail->end());
  return payloads;
}

exit_status enqueue(const invocation& call, const enqueue_arguments& given) {
  const std::vector<std::string> payloads = payloads_of(call, given);
  const int sources =
      (payloads.empty() ? 0 : 1) + (given.lines ? 1 : 0) + (given.standard_input ? 1 : 0);
  if (sources != 1) throw usage_error("give either PAYLOAD, --lines or --stdin");
  if (given.ids && !given.lines) throw usage_error("--ids goes with --lines");
  if (given.key.given() && (given.lines || payloads.size() > 1)) {
    throw usage_error("--key goes with one message only");
  }
  message_options options = read_options(given);
  const tableq::when_full full{.wait = given.wait.duration()};

  connection_options connection = call.connection;
  given.max_payload.store(connection.max_payload, number_from<std::size_t>(1, 1'000'000'000));
  tableq::database db = connect(connection);
  const std::string name = given.queue.text();
  const tableq::queue_info found = require(db, name);
  refuse_misfits(given.command, std::string(tableq::to_string(found.kind)));
  target queue(open_queue(db, found), std::move(options), full);
  if (given.lines) return enqueue_lines(queue, given);
  if (given.standard_input) {
    std::string all;
    while (append_input(all)) {
    }
    return enqueue_payloads(queue, std::array{std::move(all)}, given.as_json);
  }
  return enqueue_payloads(queue, payloads, given.as_json);
}

}  // namespace

void add_enqueue(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "enqueue",
      {.description = "Add messages",
       .details = "Payloads are stored unchanged, several completely or not at all. The ids are "
                  "printed, one on each\n"
                  "line. --lines streams: up to 1,000 lines are stored at a time, with --wait "
                  "fewer in a queue with a\n"
                  "capacity; an empty line is an empty message.\n"
                  "If a message holds the --key, nothing is added: the id is that of this message, "
                  "and standard error\n"
                  "says so. --on-duplicate replace gives that message the new payload; postpone "
                  "also sets its due time\n"
                  "to --delay from now; reject is an error.",
       .usage = "QUEUE PAYLOAD... | --lines | --stdin  [OPTIONS]",
       .examples =
           "  tableq enqueue mail 'hello' 'world'\n"
           "  tableq enqueue mail -- '-starts with a dash'\n"
           "  find /srv -type f | tableq enqueue jobs --lines --priority 5 --wait 1h\n"
           "  tableq enqueue jobs --stdin --key invoice-42 --header type=pdf < invoice.pdf"});
  // The payloads as typed: CLI11 would change some of them.
  command.allow_extras();
  on_command<enqueue_arguments>(command, call, enqueue);
}

}  // namespace tool
