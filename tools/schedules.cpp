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

int parse_missed(const std::string& option, const std::string& text) {
  if (text == "latest") return 1;
  if (text == "skip") return 0;
  try {
    return static_cast<int>(parse_number(option, text, 1, 1000));
  } catch (const usage_error& wrong) {
    throw usage_error(wrong.what() + std::string(", latest or skip"));
  }
}

/// The options of a rule that `every` and `schedules change` share.
struct rule_arguments : arguments {
  using arguments::arguments;

  argument zone{command, "--zone", "ZONE", "Of the fields, such as Europe/Berlin; default UTC"};
  argument key{command, "--key", "KEY", "claim: no message while another one holds the key"};
  argument group{command, "--group", "GROUP", "claim: the message's group"};
  argument priority{command, "--priority", "N", "claim: higher comes first; default 0"};
  argument header =
      argument(command, "--header", "NAME=VALUE", "claim: may be repeated").repeatable();
  argument missed{command, "--missed", "N",
                  "Missed times made up for: latest (default), skip or N, up to 1000"};
  argument later{command, "--not-later-than", "TIME",
                 "Leave out times that are longer ago (no limit)"};
  flag skip{command, "--skip-if-running", "claim: no message while an earlier one is in the queue"};
  flag as_json{command, "--json", "Print the schedule as `schedules list --json` does"};

  void apply(const invocation& call, tableq::schedule& to) const {
    zone.store(to.zone);
    key.store(to.key);
    if (to.key == "") to.key.reset();
    group.store(to.group);
    if (to.group == "") to.group.reset();
    priority.store(to.priority, number_from<std::int32_t>(INT32_MIN, INT32_MAX));
    if (header.given()) to.headers = parse_headers(header);
    missed.store(to.catch_up, parse_missed);
    later.store(to.not_later_than, duration_from({}));
    if (skip) to.skip_if_running = true;
    const auto payload = call.tail.value_or(std::vector<std::string>());
    if (payload.size() > 1) throw usage_error("give the payload as one argument, in quotes");
    if (!payload.empty()) to.payload = payload.front();
  }
};

/// @param given five fields, or an interval.
void set_times(tableq::schedule& to, const argument& given, const argument& zone) {
  const std::string times = given.text();
  to.cron.clear();
  to.every = {};
  if (times.starts_with('@') || times.find_first_of(" \t") != std::string::npos) {
    to.cron = times;
    return;
  }
  try {
    to.every = given.duration({}, std::chrono::milliseconds{1});
  } catch (const usage_error&) {
    throw usage_error(given.name() +
                      " is five fields in quotes, such as '0 2 * * *', @daily and the like, or an "
                      "interval such as 90s or 2h");
  }
  if (zone.given()) throw usage_error("an interval has no zone: leave out --zone");
}

std::string object_of(const tableq::schedule_info& info) {
  json object = schedule_json(info);
  object["headers"] = info.rule.headers;
  return with_payload(std::move(object), info.rule.payload);
}

void print_next(const tableq::schedules& schedules, const std::string& name, bool as_json) {
  const auto found = schedules.find(name);
  if (as_json && found) return print_line(object_of(*found));
  print_line(found && !found->next.empty() ? "next: " + iso(found->next.front()) : "paused");
}

exit_status missing(const std::string& name) {
  complain("there is no schedule " + in_quotes(name));
  return exit_status::nothing;
}

struct every_arguments : rule_arguments {
  using rule_arguments::rule_arguments;

  argument queue = argument(command, "QUEUE", "", "The queue").required();
  argument name = argument(command, "NAME", "", "The schedule's own name").required();
  argument when =
      argument(command, "WHEN", "", "Five fields, @daily and the like, or an interval such as 90s")
          .required();
};

exit_status every(const invocation& call, const every_arguments& given) {
  tableq::schedule rule{.name = given.name.text(), .queue = given.queue.text()};
  set_times(rule, given.when, given.zone);
  given.apply(call, rule);
  tableq::database db = connect(call.connection);
  tableq::schedules schedules = db.schedules();
  if (schedules.find(rule.name)) {
    schedules.change(rule);
  } else {
    schedules.add(rule);
  }
  print_next(schedules, rule.name, given.as_json);
  return exit_status::done;
}

struct rule_argument : arguments {
  using arguments::arguments;
  argument name = argument(command, "NAME", "", "The schedule").required();
};

struct action_on_rule : rule_argument {
  using rule_argument::rule_argument;
  flag as_json{command, "--json",
               "Print the schedule as `schedules list --json` does; a removed one as it was"};
};

struct run_arguments : rule_argument {
  using rule_argument::rule_argument;
  flag as_json{command, "--json", "Print an object with id and outcome: added or kept_first"};
};

exit_status run_now(const connection_options& connection, const run_arguments& given) {
  const std::string name = given.name.text();
  const auto done = connect(connection).schedules().run_now(name);
  if (!done) return missing(name);
  if (given.as_json) {
    print_line(
        line_of({{"name", name}, {"id", done->id.value}, {"outcome", to_string(done->result)}}));
    return exit_status::done;
  }
  print_line(std::to_string(done->id.value));
  if (!done->created()) complain("exists: an earlier message is in the queue, and none was added");
  return exit_status::done;
}

struct change_arguments : rule_arguments {
  using rule_arguments::rule_arguments;

  argument name = argument(command, "NAME", "", "The schedule").required();
  argument queue{command, "--queue", "QUEUE", "Another queue"};
  argument when{command, "--when", "WHEN",
                "Other times: fields, @daily and the like, or an interval"};
  flag beside{command, "--no-skip-if-running", "A message also while an earlier one is there"};
};

exit_status change(const invocation& call, const change_arguments& given) {
  const auto edit = [&](tableq::schedule& rule) {
    given.queue.store(rule.queue);
    if (given.when.given()) set_times(rule, given.when, given.zone);
    given.apply(call, rule);
    if (given.beside) rule.skip_if_running = false;
  };
  if (given.skip && given.beside) {
    throw usage_error("give --skip-if-running or --no-skip-if-running, not both");
  }
  tableq::schedule untouched;
  edit(untouched);  // Errors in the texts are reported before anything is opened.
  if (options_given(given.command) == (given.as_json ? 1U : 0U) && !call.tail)
    throw usage_error("name what changes: an option, or a payload after --");
  tableq::database db = connect(call.connection);
  tableq::schedules schedules = db.schedules();
  if (!schedules.change(given.name.text(), edit)) return missing(given.name.text());
  print_next(schedules, given.name.text(), given.as_json);
  return exit_status::done;
}

struct rule_list_arguments : arguments {
  using arguments::arguments;
  flag as_json{command, "--json", "One object on each line"};
};

exit_status list_rules(const connection_options& connection, const rule_list_arguments& given) {
  tableq::database db = connect(connection);
  tell_of_no_queues(db, connection);
  listing shown(given.as_json, {"NAME", "QUEUE", "WHEN", "ZONE", "LAST", "NEXT", "STATE"});
  for (const tableq::schedule_info& each : db.schedules().list()) {
    shown.add(object_of(each), {printable(each.rule.name), each.rule.queue, times_of(each.rule),
                                printable(each.rule.zone), each.last ? iso(*each.last) : "-",
                                each.next.empty() ? "-" : iso(each.next.front()), state_of(each)});
  }
  shown.print();
  return shown.status();
}

void add_rule_action(CLI::App& group, invocation& call, const std::string& name,
                     const std::string& description,
                     bool (tableq::schedules::*what)(tableq::text_view)) {
  add_database_command<action_on_rule>(
      group, call, name,
      {.description = description,
       .details = "Exit status 1 when there is no such schedule.",
       .usage = "NAME [--json]",
       .examples = "  tableq schedules " + name + " nightly"},
      [what](const connection_options& connection, const action_on_rule& given) {
        tableq::schedules schedules = connect(connection).schedules();
        const std::string named = given.name.text();
        const auto before = given.as_json ? schedules.find(named) : std::nullopt;
        if (!(schedules.*what)(named)) return missing(named);
        if (!given.as_json) return exit_status::done;
        const auto after = schedules.find(named);  // Of a removed one: as it was.
        if (after || before) print_line(object_of(after ? *after : *before));
        return exit_status::done;
      });
}

}  // namespace

void add_every(CLI::App& app, invocation& call) {
  add_database_command<every_arguments>(
      app, call, "every",
      {.description = "Add a message to a queue again and again",
       .details =
           "Adds the schedule, or replaces the one of that name, with zone, payload and all other "
           "options;\n`tableq schedules change` keeps the rest.\n"
           "WHEN is minute, hour, day, month and weekday, @daily and the like, or an interval "
           "such as 90s.\n"
           "Processes that take, dequeue or work follow it.",
       .usage = "QUEUE NAME WHEN [--zone ZONE] [--json] [-- PAYLOAD]",
       .examples = "  tableq every jobs nightly '0 2 * * *' --zone Europe/Berlin -- report\n"
                   "  tableq every jobs ping 90s"},
      every);
}

void add_schedules(CLI::App& app, invocation& call) {
  CLI::App& group =
      add_command(app, "schedules",
                  {.description = "List, change, pause, resume, remove or run schedules",
                   .details = "",
                   .usage = "COMMAND",
                   .examples = "  tableq schedules list"});
  group.require_subcommand(1);
  add_database_command<rule_list_arguments>(
      group, call, "list",
      {.description = "List all schedules with their next time and their problems",
       .details = "Exit status 1 when there are none. --json has the next five times.",
       .usage = "[--json]",
       .examples = "  tableq schedules list"},
      list_rules);
  add_database_command<change_arguments>(
      group, call, "change",
      {.description = "Change some options of a schedule; the others stay",
       .details = "Given headers replace all headers; an empty key or group removes it.\n"
                  "Exit status 1 when there is no such schedule.",
       .usage = "NAME [--when WHEN] [--queue QUEUE] [--zone ZONE] [--json] [-- PAYLOAD]",
       .examples = "  tableq schedules change nightly --when '30 3 * * *'\n"
                   "  tableq schedules change nightly --priority 5 -- report"},
      change);
  add_rule_action(group, call, "pause", "Stop following a schedule", &tableq::schedules::pause);
  add_rule_action(group, call, "resume", "Go on with the next time of a schedule",
                  &tableq::schedules::resume);
  add_rule_action(group, call, "remove", "Remove a schedule", &tableq::schedules::remove);
  add_database_command<run_arguments>(
      group, call, "run",
      {.description = "Add the message of a schedule at once, and print its id",
       .details = "If an earlier message keeps it out, by --key or --skip-if-running, the id is "
                  "that one's, and\nstandard error says so. Exit status 1 when there is no such "
                  "schedule.",
       .usage = "NAME [--json]",
       .examples = "  tableq schedules run nightly\n"
                   "  tableq wait jobs \"$(tableq schedules run nightly)\""},
      run_now);
}

}  // namespace tool
