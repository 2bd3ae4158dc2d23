#include <cctype>
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
#include "output.hpp"
#include "parse.hpp"

namespace tool {

namespace {

/// The options of a rule that `every` and `schedules change` share.
struct rule_arguments {
  explicit rule_arguments(CLI::App& command)
      : zone(command, "--zone", "ZONE", "Of the fields, such as Europe/Berlin; default UTC"),
        key(command, "--key", "KEY", "claim: no message while another one holds the key"),
        group(command, "--group", "GROUP", "claim: the message's group"),
        priority(command, "--priority", "N", "claim: higher comes first; default 0"),
        header(command, "--header", "NAME=VALUE", "claim: may be repeated"),
        missed(command, "--missed", "N", "Missed times made up for: latest (default), skip or N"),
        later(command, "--not-later-than", "TIME", "Leave out times that are longer ago") {
    header.repeatable();
  }

  void apply(const invocation& call, tableq::schedule& to) const {
    if (zone.given()) to.zone = zone.text();
    replace(to.key, key);
    replace(to.group, group);
    if (priority.given()) {
      to.priority = static_cast<std::int32_t>(
          parse_number("--priority", priority.text(), INT32_MIN, INT32_MAX));
    }
    if (header.given()) to.headers.clear();
    for (const std::string& each : header.all())
      to.headers.insert(parse_assignment("--header", each));
    if (missed.given()) to.catch_up = catch_up();
    if (later.given()) to.not_later_than = parse_duration("--not-later-than", later.text());
    const auto payload = call.tail.value_or(std::vector<std::string>());
    if (payload.size() > 1) throw usage_error("give the payload as one argument, in quotes");
    if (!payload.empty()) to.payload = payload.front();
  }

  argument zone, key, group, priority, header, missed, later;

 private:
  static void replace(std::optional<std::string>& to, const argument& given) {
    if (given.given()) to = given.text();
    if (to == "") to.reset();
  }
  [[nodiscard]] int catch_up() const {
    if (missed.text() == "latest") return 1;
    if (missed.text() == "skip") return 0;
    return static_cast<int>(parse_number("--missed", missed.text(), 1, 1000));
  }
};

/// @param times five fields, or an interval.
void set_times(tableq::schedule& to, const std::string& option, const std::string& times) {
  const bool interval = times.size() > 1 && times.find(' ') == std::string::npos &&
                        std::isdigit(static_cast<unsigned char>(times.front())) != 0;
  to.cron.clear();
  to.every = {};
  if (!interval) {
    to.cron = times;
    return;
  }
  try {
    to.every = parse_duration(option, times);
  } catch (const usage_error&) {
    throw usage_error(option +
                      " is five fields in quotes, such as '0 2 * * *', @daily and the like, or an "
                      "interval such as 90s or 2h");
  }
}

void print_next(const tableq::schedules& schedules, const std::string& name) {
  const auto found = schedules.find(name);
  output out;
  out.line(found && !found->next.empty() ? "next: " + iso(found->next.front()) : "paused");
  out.flush();
}

struct every_arguments {
  explicit every_arguments(CLI::App& command)
      : queue(command, "QUEUE", "", "The queue"),
        name(command, "NAME", "", "The schedule's own name"),
        when(command, "WHEN", "", "Five fields, @daily and the like, or an interval such as 90s"),
        rest(command) {
    for (argument* const each : {&queue, &name, &when}) each->required();
    command.add_flag("--skip-if-running", skip,
                     "claim: no message while an earlier one is in the queue");
  }

  argument queue, name, when;
  rule_arguments rest;
  bool skip = false;
};

exit_status every(const invocation& call, const every_arguments& given) {
  tableq::schedule rule{
      .name = given.name.text(), .queue = given.queue.text(), .skip_if_running = given.skip};
  set_times(rule, "WHEN", given.when.text());
  given.rest.apply(call, rule);
  tableq::database db = connect(call.connection);
  tableq::schedules schedules = db.schedules();
  if (schedules.find(rule.name)) {
    schedules.change(rule);
  } else {
    schedules.add(rule);
  }
  print_next(schedules, rule.name);
  return exit_status::done;
}

struct change_arguments {
  explicit change_arguments(CLI::App& command)
      : name(command, "NAME", "", "The schedule"),
        queue(command, "--queue", "QUEUE", "Another queue"),
        when(command, "--when", "WHEN", "Other times: fields, @daily and the like, or an interval"),
        rest(command) {
    name.required();
    command.add_flag("--skip-if-running", skip,
                     "claim: no message while an earlier one is in the queue");
    command.add_flag("--no-skip-if-running", beside,
                     "A message also while an earlier one is there");
  }

  argument name, queue, when;
  rule_arguments rest;
  bool skip = false;
  bool beside = false;
};

exit_status change(const invocation& call, const change_arguments& given) {
  const auto edit = [&](tableq::schedule& rule) {
    if (given.queue.given()) rule.queue = given.queue.text();
    if (given.when.given()) set_times(rule, "--when", given.when.text());
    if (given.skip) rule.skip_if_running = true;
    if (given.beside) rule.skip_if_running = false;
    given.rest.apply(call, rule);
  };
  if (given.skip && given.beside) {
    throw usage_error("give --skip-if-running or --no-skip-if-running, not both");
  }
  tableq::schedule untouched;
  edit(untouched);  // Errors in the texts are reported before anything is opened.
  if (untouched == tableq::schedule() && !given.beside && !call.tail) {
    const auto& rest = given.rest;
    const bool any = rest.zone.given() || rest.key.given() || rest.group.given() ||
                     rest.priority.given() || rest.missed.given();
    if (!any) throw usage_error("name what changes: an option, or a payload after --");
  }
  tableq::database db = connect(call.connection);
  tableq::schedules schedules = db.schedules();
  if (!schedules.change(given.name.text(), edit)) {
    complain("there is no schedule " + in_quotes(given.name.text()));
    return exit_status::nothing;
  }
  print_next(schedules, given.name.text());
  return exit_status::done;
}

exit_status list_rules(const connection_options& connection, bool as_json) {
  const auto found = connect(connection).schedules().list();
  std::vector<std::vector<std::string>> rows{
      {"NAME", "QUEUE", "WHEN", "ZONE", "LAST", "NEXT", "STATE"}};
  output out;
  for (const tableq::schedule_info& each : found) {
    if (as_json) out.line(with_payload(schedule_json(each), each.rule.payload));
    rows.push_back({printable(each.rule.name), each.rule.queue, times_of(each.rule),
                    printable(each.rule.zone), each.last ? iso(*each.last) : "-",
                    each.next.empty() ? "-" : iso(each.next.front()), state_of(each)});
  }
  if (!as_json && !found.empty()) {
    for (const std::string& line : aligned(rows)) out.line(line);
  }
  out.flush();
  return found.empty() ? exit_status::nothing : exit_status::done;
}

using rule_action = bool (tableq::schedules::*)(tableq::text_view);

void add_rule_action(CLI::App& group, invocation& call, const std::string& name,
                     const std::string& description, rule_action what) {
  CLI::App& command =
      add_database_command(group, call, name,
                           {.description = description,
                            .details = "Exit status 1 when there is no such schedule.",
                            .usage = "NAME",
                            .examples = "  tableq schedules " + name + " nightly"});
  const auto given = std::make_shared<argument>(command, "NAME", "", "The schedule");
  given->required();
  command.callback([&call, given, what] {
    call.run = [&call, given, what] {
      tableq::schedules schedules = connect(call.connection).schedules();
      if ((schedules.*what)(given->text())) return exit_status::done;
      complain("there is no schedule " + in_quotes(given->text()));
      return exit_status::nothing;
    };
  });
}

}  // namespace

void add_every(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "every",
      {.description = "Add a message to a queue again and again",
       .details =
           "Adds the schedule, or replaces the one of that name, with zone, payload and all other "
           "options; `tableq schedules change` keeps the rest.\n"
           "WHEN is minute, hour, day, month and weekday, @daily and the like, or an interval "
           "such as 90s.\n"
           "Processes that take, dequeue or work follow it.",
       .usage = "QUEUE NAME WHEN [--zone ZONE] [-- PAYLOAD]",
       .examples = "  tableq every jobs nightly '0 2 * * *' --zone Europe/Berlin -- report\n"
                   "  tableq every jobs ping 90s"});
  const auto given = std::make_shared<every_arguments>(command);
  command.callback([&call, given] {
    call.takes_tail = true;
    call.run = [&call, given] { return every(call, *given); };
  });
}

void add_schedules(CLI::App& app, invocation& call) {
  CLI::App& group =
      add_command(app, "schedules",
                  {.description = "List, change, pause, resume, remove or run schedules",
                   .details = "",
                   .usage = "COMMAND",
                   .examples = "  tableq schedules list"});
  group.require_subcommand(1);
  CLI::App& listing = add_database_command(
      group, call, "list",
      {.description = "List all schedules with their next time and their problems",
       .details = "Exit status 1 when there are none. --json has the next five times.",
       .usage = "[--json]",
       .examples = "  tableq schedules list"});
  const auto as_json = std::make_shared<bool>(false);
  listing.add_flag("--json", *as_json, "Print an object for each");
  listing.callback([&call, as_json] {
    call.run = [&call, as_json] { return list_rules(call.connection, *as_json); };
  });
  CLI::App& changing = add_database_command(
      group, call, "change",
      {.description = "Change some options of a schedule; the others stay",
       .details = "Given headers replace all headers; an empty key or group removes it.\n"
                  "Exit status 1 when there is no such schedule.",
       .usage = "NAME [--when WHEN] [--queue QUEUE] [--zone ZONE] [-- PAYLOAD]",
       .examples = "  tableq schedules change nightly --when '30 3 * * *'\n"
                   "  tableq schedules change nightly --priority 5 -- report"});
  const auto changes = std::make_shared<change_arguments>(changing);
  changing.callback([&call, changes] {
    call.takes_tail = true;
    call.run = [&call, changes] { return change(call, *changes); };
  });
  add_rule_action(group, call, "pause", "Stop following a schedule", &tableq::schedules::pause);
  add_rule_action(group, call, "resume", "Go on with the next time of a schedule",
                  &tableq::schedules::resume);
  add_rule_action(group, call, "remove", "Remove a schedule", &tableq::schedules::remove);
  add_rule_action(group, call, "run", "Add the message of a schedule at once",
                  &tableq::schedules::run_now);
}

}  // namespace tool
