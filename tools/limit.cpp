#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

struct limit_arguments : queue_argument {
  using queue_argument::queue_argument;

  argument capacity{command, "--capacity", "N",
                    "The most waiting and leased messages; or none (a new queue, as all limits)"};
  argument rate{command, "--rate", "N", "Messages read per second, 0.001 to 1,000,000; or none"};
  argument burst{command, "--burst", "N",
                 "With a rate: the most messages at once after a pause; or none: one second's"};
  argument concurrency{command, "--concurrency", "N", "claim: the most leased messages; or none"};
  argument group{command, "--group", "NAME",
                 "claim: the limits of this group; with an empty name of all without their own"};
  argument running{command, "--running", "N",
                   "The most ready and leased messages of the group; or none"};
  argument weight{command, "--weight", "N", "Turns of the group where others have one; or none"};
  argument count{command, "--count", "N", "With --groups: at most N, up to 10,000 (500)"};
  flag groups{command, "--groups", "claim: show the limits of groups, from NAME of --group on"};
  flag as_json{command, "--json", "One object on each line"};

  [[nodiscard]] bool any() const {
    return capacity.given() || rate.given() || burst.given() || concurrency.given() ||
           running.given() || weight.given();
  }
};

double parse_rate(const std::string& option, const std::string& text) {
  double out = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (wrong != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) {
    throw usage_error(option + " must be a number of messages per second, such as 0.5");
  }
  return out;
}

template <class Number, class Read>
void set_limit(std::optional<Number>& limit, const argument& given, Read read) {
  if (given.text() == "none") {
    limit.reset();
    return;
  }
  try {
    given.store(limit, read);
  } catch (const usage_error& wrong) {
    throw usage_error(wrong.what() + std::string(", or none"));
  }
}

// Given limits replace stored ones; removing a rate removes its burst.

tableq::queue_limits changed(tableq::queue_limits limits, const limit_arguments& given) {
  set_limit(limits.capacity, given.capacity, number_from<std::size_t>(1, 1'000'000'000'000));
  set_limit(limits.rate, given.rate, parse_rate);
  if (!limits.rate) limits.burst.reset();
  set_limit(limits.burst, given.burst, number_from<int>(1, 1'000'000));
  set_limit(limits.concurrency, given.concurrency, number_from<int>(1, 1'000'000));
  return limits;
}

tableq::group_limits changed(tableq::group_limits limits, const limit_arguments& given) {
  set_limit(limits.running, given.running, number_from<int>(1, 1000));
  set_limit(limits.rate, given.rate, parse_rate);
  if (!limits.rate) limits.burst.reset();
  set_limit(limits.burst, given.burst, number_from<int>(1, 1000));
  set_limit(limits.weight, given.weight, number_from<int>(1, 1000));
  return limits;
}

/// The group's own limits; none if it has those of the others.
tableq::group_limits limits_of(const tableq::claim_queue& queue, const std::string& group) {
  const auto found = queue.group_limits({.max = 1, .first = group}).groups;
  return !found.empty() && found[0].group == group ? found[0].limits : tableq::group_limits();
}

std::string shown(const json& value) {
  return value.is_null() ? "none" : value.dump();
}

json named(json who, const json& limits) {
  who.update(limits);
  return who;
}

void print(const tableq::queue& queue, bool as_json) {
  const json of = limits_json(queue.limits());
  const bool paused = queue.paused();
  listing all(as_json, {"QUEUE", "PAUSED", "CAPACITY", "RATE", "BURST", "CONCURRENCY"});
  all.add(line_of(named({{"queue", queue.name()}, {"paused", paused}}, of)),
          {queue.name(), paused ? "yes" : "no", shown(of["capacity"]), shown(of["rate"]),
           shown(of["burst"]), shown(of["concurrency"])});
  all.print();
}

exit_status on_queue(const connection_options& connection, const std::string& name,
                     const std::function<void(tableq::queue&)>& act, bool may_create = false) {
  tableq::database db = connect(connection, may_create);
  any_queue opened = open_queue(db, name);
  std::visit([&](auto& queue) { act(queue); }, opened);
  return exit_status::done;
}

/// @return nothing if there is none.
exit_status print_groups(const std::string& queue, const tableq::limited_groups& found,
                         bool as_json) {
  listing all(as_json, {"GROUP", "RUNNING", "RATE", "BURST", "WEIGHT"});
  for (const tableq::limited_group& each : found.groups) {
    const json of = limits_json(each.limits);
    all.add(line_of(named({{"queue", queue}, {"group", each.group}}, of)),
            {each.group.empty() ? "(others)" : printable(each.group), shown(of["running"]),
             shown(of["rate"]), shown(of["burst"]), shown(of["weight"])});
  }
  all.print();
  if (found.next) complain("there are more: --groups --group " + in_quotes(*found.next));
  return all.status();
}

/// The limits of groups, or of one of them.
exit_status limit_groups(const connection_options& connection, const limit_arguments& given) {
  if (given.capacity.given() || given.concurrency.given()) {
    throw usage_error("--capacity and --concurrency are of the whole queue: leave out --group");
  }
  if (given.groups && given.any()) {
    throw usage_error("--groups shows the limits of groups; name one with --group to change them");
  }
  if (!given.groups) refuse(given.count, "goes with --groups");
  (void)changed(tableq::group_limits(), given);
  const std::string name = given.queue.text();
  const std::string group = given.group.text();
  tableq::database db = connect(connection);
  const tableq::queue_info found = require(db, name);
  any_queue opened = open_queue(db, found);
  tableq::claim_queue& queue = as_claim(opened, "only claim queues have groups");
  if (!found.groups) {
    throw usage_error("queue " + in_quotes(name) +
                      " has no groups: only one that is created with --groups has them");
  }
  if (given.groups) {
    const tableq::group_limits_page page{.max = given.count.count(500, 10'000), .first = group};
    return print_groups(name, queue.group_limits(page), given.as_json);
  }
  if (given.any()) queue.set_group_limits(changed(limits_of(queue, group), given), group);
  if (given.any() && !given.as_json) return exit_status::done;
  const tableq::group_limits own = limits_of(queue, group);
  print_groups(name, {.groups = {{group, own}}}, given.as_json);
  if (!given.any() && own == tableq::group_limits() && !group.empty()) {
    complain("it has no limits of its own: those of all others hold, see --group ''");
  }
  return exit_status::done;
}

exit_status limit(const connection_options& connection, const limit_arguments& given) {
  if (given.groups || given.group.given()) return limit_groups(connection, given);
  if (given.running.given() || given.weight.given()) {
    throw usage_error(
        "--running and --weight are of groups: name one with --group, or --group '' for all "
        "others");
  }
  refuse(given.count, "goes with --groups");
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

struct switch_arguments : queue_argument {
  using queue_argument::queue_argument;
  flag as_json{command, "--json", "Print what `limit --json` prints"};
};

void add_switch(CLI::App& app, invocation& call, const std::string& name, const command_help& help,
                void (tableq::queue::*act)()) {
  add_database_command<switch_arguments>(
      app, call, name, help,
      [act](const connection_options& connection, const switch_arguments& given) {
        return on_queue(connection, given.queue.text(), [&](tableq::queue& one) {
          (one.*act)();
          if (given.as_json) print(one, true);
        });
      });
}

}  // namespace

void add_limits(CLI::App& app, invocation& call) {
  add_switch(app, call, "pause",
             {.description = "Stop all reads of a queue, in every process",
              .details = "They return nothing until `tableq resume`; enqueues continue.",
              .usage = "QUEUE [--json]",
              .examples = "  tableq pause mail"},
             &tableq::queue::pause);
  add_switch(app, call, "resume",
             {.description = "Resume the reads of a paused queue",
              .details = "",
              .usage = "QUEUE [--json]",
              .examples = "  tableq resume mail"},
             &tableq::queue::resume);
  add_database_command<limit_arguments>(
      app, call, "limit",
      {.description = "Show or change the limits of a queue, for every process",
       .details = "Without options it shows them. Other limits stay. With --groups: exit status 1 "
                  "when no group has limits.",
       .usage = "QUEUE [--group NAME] [--LIMIT N|none]... [--json] | QUEUE --groups [--count N]",
       .examples = "  tableq limit mail\n"
                   "  tableq limit mail --capacity 10000 --rate 5\n"
                   "  tableq limit jobs --concurrency 8 --rate none\n"
                   "  tableq limit jobs --group '' --running 3\n"
                   "  tableq limit jobs --group vip --running 20 --rate 5"},
      limit);
}

}  // namespace tool
