#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "limits.hpp"
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

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
                "The most ready and leased messages of the group, or none"),
        weight(command, "--weight", "N", "Turns of the group where others have one, or none"),
        count(command, "--count", "N", "With --groups: at most N (500)") {
    queue.required();
    command.add_flag("--groups", groups,
                     "claim: show the limits of groups, from NAME of --group on");
    command.add_flag("--json", as_json, "Print the limits as an object");
  }
  [[nodiscard]] bool any() const {
    return capacity.given() || rate.given() || burst.given() || concurrency.given() ||
           running.given() || weight.given();
  }
  /// The text of one of them.
  [[nodiscard]] std::optional<std::string> operator()(const std::string& name) const {
    for (const auto& [option, each] : {std::pair{"capacity", &capacity},
                                       {"rate", &rate},
                                       {"burst", &burst},
                                       {"concurrency", &concurrency},
                                       {"running", &running},
                                       {"weight", &weight}}) {
      if (name == option && each->given()) return each->text();
    }
    return std::nullopt;
  }

  argument queue;
  argument capacity;
  argument rate;
  argument burst;
  argument concurrency;
  argument group;
  argument running;
  argument weight;
  argument count;
  bool groups = false;
  bool as_json = false;
};

std::string shown(const json& value) {
  return value.is_null() ? "none" : value.dump();
}

void print(const tableq::queue& queue, bool as_json) {
  const tableq::queue_limits limits = queue.limits();
  const bool paused = queue.paused();
  const json of = limits_json(limits);
  output out;
  if (as_json) {
    json all{{"queue", queue.name()}, {"paused", paused}};
    all.update(of);
    out.line(all.dump());
  } else {
    for (const std::string& line :
         aligned({{"QUEUE", "PAUSED", "CAPACITY", "RATE", "BURST", "CONCURRENCY"},
                  {queue.name(), paused ? "yes" : "no", shown(of["capacity"]), shown(of["rate"]),
                   shown(of["burst"]), shown(of["concurrency"])}})) {
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

void print_groups(const std::string& queue, const tableq::limited_groups& found, bool as_json) {
  output out;
  std::vector<std::vector<std::string>> lines{{"GROUP", "RUNNING", "RATE", "BURST", "WEIGHT"}};
  for (const tableq::limited_group& each : found.groups) {
    const json of = limits_json(each.limits);
    if (as_json) {
      json all{{"queue", queue}, {"group", each.group}};
      all.update(of);
      out.line(all.dump());
    } else {
      lines.push_back({each.group.empty() ? "(others)" : printable(each.group),
                       shown(of["running"]), shown(of["rate"]), shown(of["burst"]),
                       shown(of["weight"])});
    }
  }
  if (!as_json) {
    for (const std::string& line : aligned(lines)) out.line(line);
  }
  out.flush();
  if (found.next) complain("there are more: --groups --group " + in_quotes(*found.next));
}

/// The limits of groups, or of one of them.
exit_status limit_groups(const connection_options& connection, const limit_arguments& given) {
  if (given.capacity.given() || given.concurrency.given()) {
    throw usage_error("--capacity and --concurrency are of the whole queue: leave out --group");
  }
  if (!given.group.given() && given.any()) {
    throw usage_error("--groups shows the limits of groups; name one with --group to change them");
  }
  (void)changed(tableq::group_limits(), "--", std::cref(given));
  tableq::database db = connect(connection, false);
  tableq::claim_queue queue = db.claim(given.queue.text());
  if (given.any()) {
    const std::string& group = given.group.text();
    queue.set_group_limits(changed(limits_of(queue, group), "--", std::cref(given)), group);
  }
  if (!given.any() && !given.groups) {
    const std::string& group = given.group.text();
    const tableq::group_limits own = limits_of(queue, group);
    print_groups(queue.name(), {.groups = {{group, own}}}, given.as_json);
    if (own == tableq::group_limits() && !group.empty()) {
      complain("it has no limits of its own: those of all others hold, see --group ''");
    }
    return exit_status::done;
  }
  tableq::group_limits_page page{.max = count_or(given.count, "--count", 500, 10'000)};
  if (given.groups) page.first = given.group.text();
  if (!given.any() || given.as_json) {
    print_groups(queue.name(), queue.group_limits(page), given.as_json);
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
  // Errors in the texts are reported before anything is opened.
  (void)changed(tableq::queue_limits(), "--", std::cref(given));
  const auto act = [&](tableq::queue& queue) {
    if (given.any()) queue.set_limits(changed(queue.limits(), "--", std::cref(given)));
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
                "[--concurrency N|none] [--group NAME [--running N|none] [--weight N|none]] "
                "[--groups [--count N]] [--json]",
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
