#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

constexpr const char* no_value = "none";

struct alter_arguments {
  explicit alter_arguments(CLI::App& command)
      : queue(command, "QUEUE", "", "The queue"),
        lease(command, "--lease", "TIME",
              "Of takes that give none; a worker keeps the one that it began with"),
        max_attempts(command, "--max-attempts", "N", "Then a message is dead"),
        retry(command, "--retry", "TIME,TIME,...",
              "Delays after failures; the last one repeats; 0s: at once"),
        ttl(command, "--ttl", "TIME", "A message not taken within this time is dead; or none"),
        keep_completed(command, "--keep-completed", "yes|no", "Keep completed messages"),
        free_keys(command, "--free-keys", "yes|no", "A take frees the key of its message"),
        key_window(command, "--key-window", "TIME", "How long a key stays held after completion"),
        groups_limit(command, "--groups-limit", "N", "N messages of a group are taken at a time"),
        groups_pass(command, "--groups-pass", "yes|no",
                    "A group goes on while one of its messages rests after a failure"),
        dead_letters(command, "--dead-letters", "QUEUE",
                     "The queue for dead messages, made if it does not exist; or none"),
        retain_done(command, "--retain-done", "TIME",
                    "Remove completed messages when they are so old; or none"),
        retain_dead(command, "--retain-dead", "TIME",
                    "Remove dead messages when they are so old; or none"),
        strict(command, "--strict", "yes|no", "fifo and lifo: says why it cannot change"),
        groups(command, "--groups", "yes|no", "Says why it cannot change"),
        groups_by_turns(command, "--groups-by-turns", "yes|no", "Says why it cannot change") {
    queue.required();
    command.add_flag("--dry-run", dry_run, "Show what would change, and change nothing");
  }

  /// @throws usage_error also if there is nothing to change.
  [[nodiscard]] tableq::queue_changes read() const;

  argument queue;
  argument lease;
  argument max_attempts;
  argument retry;
  argument ttl;
  argument keep_completed;
  argument free_keys;
  argument key_window;
  argument groups_limit;
  argument groups_pass;
  argument dead_letters;
  argument retain_done;
  argument retain_dead;
  argument strict;
  argument groups;
  argument groups_by_turns;
  bool dry_run = false;
};

std::optional<bool> switch_of(const argument& given, const std::string& option) {
  if (!given.given()) return std::nullopt;
  if (given.text() == "yes") return true;
  if (given.text() == "no") return false;
  throw usage_error(option + " is yes or no");
}

std::optional<tableq::lifetime> lifetime_of(const argument& given, const std::string& option) {
  if (!given.given()) return std::nullopt;
  if (given.text() == no_value) return tableq::lifetime::forever();
  return tableq::lifetime(parse_duration(option, given.text(), std::chrono::milliseconds{1}));
}

tableq::queue_changes alter_arguments::read() const {
  bool any = false;
  for (const argument* const each :
       {&lease, &max_attempts, &retry, &ttl, &keep_completed, &free_keys, &key_window,
        &groups_limit, &groups_pass, &dead_letters, &retain_done, &retain_dead, &strict, &groups,
        &groups_by_turns}) {
    any = any || each->given();
  }
  if (!any) throw usage_error("give an option to change, such as --lease 1m; see --help");
  tableq::queue_changes out;
  if (lease.given()) out.lease = parse_duration("--lease", lease.text());
  if (max_attempts.given()) {
    out.max_attempts =
        static_cast<int>(parse_number("--max-attempts", max_attempts.text(), 1, 1'000'000));
  }
  if (retry.given()) out.retry = tableq::retry_delays{.after = parse_delays(retry.text())};
  out.time_to_live = lifetime_of(ttl, "--ttl");
  out.keep_completed = switch_of(keep_completed, "--keep-completed");
  if (const auto free = switch_of(free_keys, "--free-keys")) {
    out.keys = *free ? tableq::key_scope::waiting : tableq::key_scope::active;
  }
  if (key_window.given()) out.key_window = parse_duration("--key-window", key_window.text());
  if (groups_limit.given()) {
    out.group_limit =
        static_cast<int>(parse_number("--groups-limit", groups_limit.text(), 1, 1000));
  }
  if (const auto pass = switch_of(groups_pass, "--groups-pass")) {
    out.group_on_failure = *pass ? tableq::group_policy::pass : tableq::group_policy::hold;
  }
  if (dead_letters.given()) {
    out.dead_letters = dead_letters.text() == no_value ? std::string() : dead_letters.text();
  }
  out.retain_done = lifetime_of(retain_done, "--retain-done");
  out.retain_dead = lifetime_of(retain_dead, "--retain-dead");
  if (const auto exact = switch_of(strict, "--strict")) {
    out.ordering = *exact ? tableq::ordering::strict : tableq::ordering::relaxed;
  }
  out.groups = switch_of(groups, "--groups");
  out.groups_by_turns = switch_of(groups_by_turns, "--groups-by-turns");
  return out;
}

std::string or_none(const std::string& value) {
  return value.empty() ? no_value : value;
}

exit_status alter(const connection_options& connection, const alter_arguments& given) {
  const tableq::queue_changes wanted = given.read();
  // The dead-letter queue may have to be made.
  tableq::database db = connect(connection, given.dead_letters.given());
  const auto changes = db.alter(given.queue.text(), wanted, {.dry_run = given.dry_run});
  output out;
  std::vector<std::vector<std::string>> rows;
  bool refused = false;
  for (const tableq::option_change& each : changes) {
    rows.push_back({each.option, or_none(each.before), "->", or_none(each.after),
                    each.refused_at_open ? "refused at the next start of a program with another"
                                         : "a program that gives its own keeps it"});
    refused = refused || each.refused_at_open;
  }
  for (const std::string& line : aligned(rows)) out.line(line);
  out.flush();
  status_line status;
  if (refused) {
    status.note(
        "a program that opens the queue with the old value of such an option is refused at its "
        "next start: change it there, or leave the option out; and grant roles again, as some "
        "need other rights now: tableq ddl --grant");
  }
  return changes.empty() ? exit_status::nothing : exit_status::done;
}

}  // namespace

void add_alter(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "alter",
      {.description = "Change options of a queue while programs use it",
       .details = "Prints what has changed. Programs that use the queue follow within a second, "
                  "but for values that\n"
                  "they gave when they opened it. Exit status 1 when nothing differs.",
       .usage = "QUEUE OPTIONS [--dry-run]",
       .examples = "  tableq alter jobs --max-attempts 7 --retry 1s,1m --lease 1m\n"
                   "  tableq alter jobs --dead-letters letters --key-window 1h\n"
                   "  tableq alter jobs --retain-done 7d --retain-dead 30d --dry-run"});
  const auto given = std::make_shared<alter_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return alter(call.connection, *given); }; });
}

}  // namespace tool
