#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "claim_arguments.hpp"
#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

struct alter_arguments : claim_arguments {
  using claim_arguments::claim_arguments;

  argument queue = argument(command, "QUEUE", "", "The queue").required();
  argument keep_completed{command, "--keep-completed", "yes|no", "Keep completed messages"};
  argument free_keys{command, "--free-keys", "yes|no", "A take frees the key of its message"};
  argument groups_pass{command, "--groups-pass", "yes|no",
                       "A group goes on while one of its messages rests after a failure"};
  flag dry_run{command, "--dry-run", "Show what would change, and change nothing"};
  flag as_json{command, "--json", "One object on each line"};
};

bool parse_switch(const std::string& option, const std::string& text) {
  if (text != "yes" && text != "no") throw usage_error(option + " is yes or no");
  return text == "yes";
}

/// Reads a switch as one of two values.
template <class Value>
auto switch_of(Value yes, Value no) {
  return [yes, no](const std::string& option, const std::string& text) {
    return parse_switch(option, text) ? yes : no;
  };
}

tableq::queue_changes changes_of(const alter_arguments& given) {
  if (options_given(given.command) == (given.dry_run ? 1U : 0U) + (given.as_json ? 1U : 0U))
    throw usage_error("give an option to change, such as --lease 1m; see --help");
  tableq::queue_changes out;
  given.read(out);
  given.retain_done.store(out.retain_done, parse_lifetime);
  given.retain_dead.store(out.retain_dead, parse_lifetime);
  given.keep_completed.store(out.keep_completed, parse_switch);
  given.free_keys.store(out.keys, switch_of(tableq::key_scope::waiting, tableq::key_scope::active));
  given.groups.store(out.group_limit, number_from<int>(1, 1000));
  given.groups_pass.store(out.group_on_failure,
                          switch_of(tableq::group_policy::pass, tableq::group_policy::hold));
  return out;
}

std::string or_none(const std::string& value) {
  return value.empty() ? "none" : value;
}
json or_null(const std::string& value) {
  return value.empty() ? json() : json(value);
}

/// Whether the grants of a role depend on this option.
bool needs_other_rights(const std::string& option) {
  return option == "keep_completed" || option == "key_window_ms" || option == "dead_letters";
}

/// Whether dead messages of a queue wait in this one.
bool has_letters(tableq::database& db, const std::string& letters, const std::string& of) {
  if (!db.find(letters)) return false;
  const tableq::message_filter from_there{.header = tableq::header_value{"tableq-source", of}};
  try {
    return !db.claim(letters).list(from_there, {.max = 1}).messages.empty();
  } catch (const tableq::error& failure) {  // The change is done, also for who may not read there.
    if (failure.code() != tableq::errc::permission_denied) throw;
    return false;
  }
}

exit_status alter(const connection_options& connection, const alter_arguments& given) {
  const tableq::queue_changes wanted = changes_of(given);
  // The dead-letter queue may have to be made.
  tableq::database db = connect(connection, given.dead_letters.given());
  if (const auto found = db.find(given.queue.text())) refuse_table(*found);
  const auto changes = db.alter(given.queue.text(), wanted, {.dry_run = given.dry_run});
  output out;
  std::vector<std::vector<std::string>> rows;
  bool refused = false;
  bool other_rights = false;
  std::string former;
  for (const tableq::option_change& each : changes) {
    if (given.as_json) {
      out.line(line_of({{"option", each.option},
                        {"before", or_null(each.before)},
                        {"after", or_null(each.after)},
                        {"refused_at_open", each.refused_at_open}}));
    } else {
      rows.push_back({each.option, or_none(each.before), "->", or_none(each.after),
                      each.refused_at_open ? "refused at the next start of a program with another"
                                           : "a program that gives its own keeps it"});
    }
    refused = refused || each.refused_at_open;
    other_rights = other_rights || needs_other_rights(each.option);
    if (each.option == "dead_letters") former = each.before;
  }
  for (const std::string& line : aligned(rows)) out.line(line);
  out.flush();
  status_line status;
  if (changes.empty()) status.note("nothing differs");
  if (refused) {
    status.note(
        "a program that opens the queue with the old value of such an option is refused at its "
        "next start: change it there, or leave the option out");
  }
  if (other_rights)
    status.note(
        "if users have roles, grant them again, as some need other rights: tableq ddl --grant");
  if (!former.empty() && has_letters(db, former, given.queue.text())) {
    status.note("dead messages of the queue wait in " + former +
                ", and `dead redrive` no longer finds them: take them from there, or alter the "
                "queue back to redrive them");
  }
  return changes.empty() ? exit_status::nothing : exit_status::done;
}

}  // namespace

void add_alter(CLI::App& app, invocation& call) {
  add_database_command<alter_arguments>(
      app, call, "alter",
      {.description = "Change options of a queue while programs use it",
       .details = "Prints what has changed. Programs that use the queue follow within a second, "
                  "but for values that\n"
                  "they gave when they opened it. --strict, --groups-by-turns, --batches and "
                  "whether a queue has\ngroups are chosen by `tableq create` and stay. Exit status "
                  "1 when nothing differs.",
       .usage = "QUEUE OPTIONS [--dry-run] [--json]",
       .examples = "  tableq alter jobs --max-attempts 7 --retry 1s,1m --lease 1m\n"
                   "  tableq alter jobs --dead-letters jobs-dead --key-window 1h\n"
                   "  tableq alter jobs --retain-done 7d --retain-dead 30d --dry-run"},
      alter);
}

}  // namespace tool
