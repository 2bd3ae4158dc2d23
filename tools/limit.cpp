#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

constexpr const char* none = "none";

struct limit_arguments {
  explicit limit_arguments(CLI::App& command)
      : queue(command, "QUEUE", "", "The queue"),
        capacity(command, "--capacity", "N", "The most waiting and leased messages, or none"),
        rate(command, "--rate", "N", "Messages read per second, 0.001 or more, or none"),
        burst(command, "--burst", "N", "The most messages at once after a pause"),
        concurrency(command, "--concurrency", "N", "claim: the most leased messages, or none"),
        group(command, "--group", "NAME",
              "claim: the limits of this group; with an empty name of all without their own"),
        running(command, "--running", "N",
                "The most ready and leased messages of the group, or none") {
    queue.required();
    command.add_flag("--groups", groups, "claim: show the limits of all groups");
    command.add_flag("--json", as_json, "Print the limits as an object");
  }
  [[nodiscard]] bool any() const {
    return capacity.given() || rate.given() || burst.given() || concurrency.given() ||
           running.given();
  }

  argument queue;
  argument capacity;
  argument rate;
  argument burst;
  argument concurrency;
  argument group;
  argument running;
  bool groups = false;
  bool as_json = false;
};

double parse_rate(const std::string& text) {
  double out = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (wrong != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) {
    throw usage_error("--rate must be a number of messages per second, such as 0.5, or none");
  }
  return out;
}

int parse_count(const std::string& option, const std::string& text) {
  return static_cast<int>(parse_number(option, text, 1, 1'000'000));
}

/// Given options replace stored ones; removing a rate removes its burst.
tableq::queue_limits changed(tableq::queue_limits limits, const limit_arguments& given) {
  if (given.capacity.given()) {
    limits.capacity.reset();
    if (given.capacity.text() != none) {
      limits.capacity = static_cast<std::size_t>(
          parse_number("--capacity", given.capacity.text(), 1, 1'000'000'000'000));
    }
  }
  if (given.rate.given()) {
    limits.rate.reset();
    if (given.rate.text() != none) limits.rate = parse_rate(given.rate.text());
    if (!limits.rate) limits.burst.reset();
  }
  if (given.burst.given()) {
    limits.burst.reset();
    if (given.burst.text() != none) limits.burst = parse_count("--burst", given.burst.text());
  }
  if (given.concurrency.given()) {
    limits.concurrency.reset();
    if (given.concurrency.text() != none) {
      limits.concurrency = parse_count("--concurrency", given.concurrency.text());
    }
  }
  return limits;
}

template <class Number>
json number_or_null(const std::optional<Number>& of) {
  return of ? json(*of) : json();
}

std::string shown(const json& value) {
  return value.is_null() ? "none" : value.dump();
}

void print(const tableq::queue& queue, bool as_json) {
  const tableq::queue_limits limits = queue.limits();
  const bool paused = queue.paused();
  const json capacity = number_or_null(limits.capacity);
  const json rate = number_or_null(limits.rate);
  const json burst = number_or_null(limits.burst);
  const json concurrency = number_or_null(limits.concurrency);
  output out;
  if (as_json) {
    out.line(json{{"queue", queue.name()},
                  {"paused", paused},
                  {"capacity", capacity},
                  {"rate", rate},
                  {"burst", burst},
                  {"concurrency", concurrency}}
                 .dump());
  } else {
    for (const std::string& line :
         aligned({{"QUEUE", "PAUSED", "CAPACITY", "RATE", "BURST", "CONCURRENCY"},
                  {queue.name(), paused ? "yes" : "no", shown(capacity), shown(rate), shown(burst),
                   shown(concurrency)}})) {
      out.line(line);
    }
  }
  out.flush();
}

exit_status on_queue(const connection_options& connection, const std::string& name,
                     const std::function<void(tableq::queue&)>& act, bool may_create = false) {
  tableq::database db = connect(connection, may_create);
  any_queue opened = open_queue(db, name);
  std::visit([&](auto& queue) { act(queue); }, opened);
  return exit_status::done;
}

/// Given options replace stored ones; removing a rate removes its burst.
tableq::group_limits changed(tableq::group_limits limits, const limit_arguments& given) {
  const auto change = [](auto& to, const argument& from, auto parse) {
    if (!from.given()) return;
    to.reset();
    if (from.text() != none) to = parse(from.text());
  };
  const auto count = [](const char* option) {
    return [option](const std::string& text) {
      return static_cast<int>(parse_number(option, text, 1, 1000));
    };
  };
  change(limits.running, given.running, count("--running"));
  change(limits.rate, given.rate, parse_rate);
  if (!limits.rate) limits.burst.reset();
  change(limits.burst, given.burst, count("--burst"));
  return limits;
}

void print_groups(const tableq::claim_queue& queue, bool as_json) {
  output out;
  std::vector<std::vector<std::string>> lines{{"GROUP", "RUNNING", "RATE", "BURST"}};
  for (const tableq::limited_group& each : queue.group_limits()) {
    const json running = number_or_null(each.limits.running);
    const json rate = number_or_null(each.limits.rate);
    const json burst = number_or_null(each.limits.burst);
    if (as_json) {
      out.line(json{
          {"queue", queue.name()},
          {"group", each.group},
          {"running", running},
          {"rate", rate},
          {"burst",
           burst}}.dump());
    } else {
      lines.push_back({each.group.empty() ? "(others)" : printable(each.group), shown(running),
                       shown(rate), shown(burst)});
    }
  }
  if (!as_json) {
    for (const std::string& line : aligned(lines)) out.line(line);
  }
  out.flush();
}

/// The limits of groups, or of one of them.
exit_status limit_groups(const connection_options& connection, const limit_arguments& given) {
  if (given.capacity.given() || given.concurrency.given()) {
    throw usage_error("--capacity and --concurrency are of the whole queue: leave out --group");
  }
  if (!given.group.given() && given.any()) {
    throw usage_error("--groups shows the limits of groups; name one with --group to change them");
  }
  (void)changed(tableq::group_limits(), given);
  tableq::database db = connect(connection, false);
  tableq::claim_queue queue = db.claim(given.queue.text());
  if (given.any()) {
    tableq::group_limits limits;
    for (const tableq::limited_group& each : queue.group_limits())
      if (each.group == given.group.text()) limits = each.limits;
    queue.set_group_limits(changed(limits, given), given.group.text());
  }
  if (!given.any() || given.as_json) print_groups(queue, given.as_json);
  return exit_status::done;
}

exit_status limit(const connection_options& connection, const limit_arguments& given) {
  if (given.groups || given.group.given()) return limit_groups(connection, given);
  if (given.running.given()) {
    throw usage_error(
        "--running is of groups: name one with --group, or --group '' for all others");
  }
  // Errors in the texts are reported before anything is opened.
  (void)changed(tableq::queue_limits(), given);
  const auto act = [&](tableq::queue& queue) {
    if (given.any()) queue.set_limits(changed(queue.limits(), given));
    if (!given.any() || given.as_json) print(queue, given.as_json);
  };
  try {
    // The first concurrency makes an index.
    return on_queue(connection, given.queue.text(), act, given.concurrency.given());
  } catch (const tableq::error& failure) {
    if (failure.code() != tableq::errc::permission_denied || !given.concurrency.given()) throw;
  }
  const exit_status status = on_queue(connection, given.queue.text(), act);
  complain(
      "warning: this user may not make the index that counts leases; without it takes step over "
      "delayed messages: see Concurrency in docs/limits.md");
  return status;
}

void add_switch(CLI::App& app, invocation& call, const std::string& name, const command_help& help,
                void (tableq::queue::*act)()) {
  CLI::App& command = add_database_command(app, call, name, help);
  const auto queue = std::make_shared<argument>(command, "QUEUE", "", "The queue");
  queue->required();
  command.callback([&call, queue, act] {
    call.run = [&call, queue, act] {
      return on_queue(call.connection, queue->text(), [act](tableq::queue& one) { (one.*act)(); });
    };
  });
}

}  // namespace

void add_pause(CLI::App& app, invocation& call) {
  add_switch(app, call, "pause",
             {.description = "Stop all reads of a queue, in every process",
              .details = "They return nothing until `tableq resume`; enqueues continue.",
              .usage = "QUEUE",
              .examples = "  tableq pause mail"},
             &tableq::queue::pause);
}

void add_resume(CLI::App& app, invocation& call) {
  add_switch(app, call, "resume",
             {.description = "Resume the reads of a paused queue",
              .details = "",
              .usage = "QUEUE",
              .examples = "  tableq resume mail"},
             &tableq::queue::resume);
}

void add_limit(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "limit",
      {.description = "Show or change the limits of a queue, for every process",
       .details = "Without options it shows them. Other limits stay.",
       .usage = "QUEUE [--capacity N|none] [--rate N|none] [--burst N|none] "
                "[--concurrency N|none] [--group NAME [--running N|none]] [--groups] [--json]",
       .examples = "  tableq limit mail\n"
                   "  tableq limit mail --capacity 10000 --rate 5\n"
                   "  tableq limit jobs --concurrency 8 --rate none\n"
                   "  tableq limit jobs --group '' --running 3\n"
                   "  tableq limit jobs --group vip --running 20 --rate 5"});
  const auto given = std::make_shared<limit_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return limit(call.connection, *given); }; });
}

}  // namespace tool
