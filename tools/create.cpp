#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>
#include <tableq/unstable/dialect.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "source.hpp"

namespace tool {

namespace {

/// The arguments that `create` and `ddl` share.
struct queue_arguments {
  queue_arguments(CLI::App& command, const std::string& kinds)
      : kind(command, "KIND", "", kinds),
        queue(command, "QUEUE", "", "The queue's name: a-z, 0-9, _, - and ."),
        lease(command, "--lease", "TIME", "claim: how long a worker has a message (30s)"),
        max_attempts(command, "--max-attempts", "N",
                     "claim: failures after which a message is dead (5)"),
        retry(command, "--retry", "TIME,TIME,...",
              "claim: delays after the first failure, the second, ...; the last one\n"
              "repeats (1s,5s,30s,5m, each up to 20 % more or less); 0s: at once"),
        ttl(command, "--ttl", "TIME", "claim: a message not taken within this time is dead"),
        key_window(command, "--key-window", "TIME",
                   "claim: how long a key stays held after completion (0s)"),
        groups(command, "--groups", "N",
               "claim: messages may have groups; N of a group are taken at a time"),
        dead_letters(command, "--dead-letters", "QUEUE",
                     "claim: the queue for dead messages; created with this one"),
        retain_done(command, "--retain-done", "TIME",
                    "claim: remove completed messages when they are so old"),
        retain_dead(command, "--retain-dead", "TIME",
                    "claim: remove dead messages when they are so old") {
    command.add_flag("--strict", strict, "fifo and lifo: exact order; one reader at a time");
    command.add_flag("--keep-completed,--keep", keep_completed,
                     "claim: keep completed messages until a purge");
    command.add_flag("--free-keys", free_keys, "claim: a take frees the key of its message");
    command.add_flag("--groups-pass", groups_pass,
                     "claim: a group goes on while one of its messages rests after a failure");
    command.add_flag("--groups-by-turns", groups_by_turns,
                     "claim: groups take turns; a long backlog of one holds up no other");
    command.add_flag("--batches", batches, "claim: messages may belong to batches");
  }

  /// The given options, checked against the kind.
  /// @throws usage_error
  [[nodiscard]] tableq::queue_settings settings() const {
    if (!kind.given() || !queue.given()) throw usage_error("give KIND and QUEUE");
    tableq::queue_settings result;
    result.kind = tableq::parse_kind(kind.text());
    const bool ordered = result.kind == tableq::kind::fifo || result.kind == tableq::kind::lifo;
    if (strict && !ordered) throw usage_error("--strict is for fifo and lifo only");
    if (strict) result.order.ordering = tableq::ordering::strict;
    if (result.kind == tableq::kind::claim) {
      read_claim(result.claim);
    } else {
      refuse_claim_options();
    }
    return result;
  }

  void refuse_claim_options() const {
    const char* const why = "is for claim only";
    refuse(lease, "--lease", why);
    refuse(max_attempts, "--max-attempts", why);
    refuse(retry, "--retry", why);
    refuse(ttl, "--ttl", why);
    refuse(key_window, "--key-window", why);
    refuse(groups, "--groups", why);
    refuse(dead_letters, "--dead-letters", why);
    refuse(retain_done, "--retain-done", why);
    refuse(retain_dead, "--retain-dead", why);
    if (keep_completed) throw usage_error("--keep-completed is for claim only");
    if (free_keys) throw usage_error("--free-keys is for claim only");
    if (groups_pass) throw usage_error("--groups-pass is for claim only");
    if (groups_by_turns) throw usage_error("--groups-by-turns is for claim only");
    if (batches) throw usage_error("--batches is for claim only");
  }

  void read_claim(tableq::claim_options& claim) const {
    if (lease.given()) {
      claim.lease = parse_duration("--lease", lease.text(), std::chrono::milliseconds{1});
    }
    if (max_attempts.given()) {
      claim.max_attempts =
          static_cast<int>(parse_number("--max-attempts", max_attempts.text(), 1, 1'000'000));
    }
    if (retry.given()) claim.retry = tableq::retry_delays{.after = parse_delays(retry.text())};
    if (keep_completed) claim.keep_completed = true;
    if (ttl.given()) {
      claim.time_to_live = parse_duration("--ttl", ttl.text(), std::chrono::milliseconds{1});
    }
    if (key_window.given()) claim.key_window = parse_duration("--key-window", key_window.text());
    if (free_keys) claim.keys = tableq::key_scope::waiting;
    if (groups_pass && !groups.given()) throw usage_error("--groups-pass goes with --groups N");
    if (groups_by_turns && !groups.given())
      throw usage_error("--groups-by-turns goes with --groups N");
    if (groups.given()) {
      claim.groups = {
          .limit = static_cast<int>(parse_number("--groups", groups.text(), 1, 1000)),
          .on_failure = groups_pass ? tableq::group_policy::pass : tableq::group_policy::hold,
          .by_turns = groups_by_turns};
    }
    if (dead_letters.given()) claim.dead_letters = dead_letters.text();
    if (retain_done.given() || retain_dead.given()) claim.retention.emplace();
    if (retain_done.given())
      claim.retention->done = parse_duration("--retain-done", retain_done.text());
    if (retain_dead.given())
      claim.retention->dead = parse_duration("--retain-dead", retain_dead.text());
    if (batches) claim.batches = true;
  }

  argument kind;
  argument queue;
  argument lease;
  argument max_attempts;
  argument retry;
  argument ttl;
  argument key_window;
  argument groups;
  argument dead_letters;
  argument retain_done;
  argument retain_dead;
  bool strict = false;
  bool keep_completed = false;
  bool free_keys = false;
  bool groups_pass = false;
  bool groups_by_turns = false;
  bool batches = false;
};

/// An existing queue keeps its options: other options must not look like success.
void refuse_changes(const tableq::queue_info& there, const tableq::queue_settings& wanted) {
  const std::string kind{tableq::to_string(there.kind)};
  const std::string queue = "queue " + in_quotes(there.name) + " exists";
  if (there.kind != wanted.kind) {
    throw usage_error(queue + " and is of kind " + kind +
                      "; choose another name, or delete it with all its messages: tableq drop " +
                      there.name);
  }
  const tableq::claim_options& claim = wanted.claim;
  const bool same = wanted.order.ordering.value_or(there.ordering) == there.ordering &&
                    claim.lease.value_or(there.lease) == there.lease &&
                    claim.max_attempts.value_or(there.max_attempts) == there.max_attempts &&
                    claim.keep_completed.value_or(there.keep_completed) == there.keep_completed &&
                    claim.retry.value_or(there.retry) == there.retry &&
                    (!claim.time_to_live || claim.time_to_live->length() == there.time_to_live) &&
                    claim.keys.value_or(there.keys) == there.keys &&
                    claim.key_window.value_or(there.key_window) == there.key_window &&
                    (!claim.groups.enabled || claim.groups == there.groups) &&
                    claim.dead_letters.value_or(there.dead_letters) == there.dead_letters &&
                    claim.retention.value_or(there.retention) == there.retention &&

                    claim.batches.value_or(there.batches) == there.batches;
  if (same) return;
  const std::string options = options_text(there);
  throw usage_error(
      queue + " with other options: " + kind + " " +
      (options.empty() ? "without --strict" : options) +
      "; `tableq alter` changes them, but for --strict, --groups-by-turns, --batches, and "
      "whether there are groups");
}

struct create_arguments : queue_arguments {
  explicit create_arguments(CLI::App& command)
      : queue_arguments(command, "heap, fifo, lifo, pending, claim or table"),
        mapping(command, "--mapping", "FILE",
                "table: the JSON of a mapping of the application's table") {}

  argument mapping;
};

/// Stores a mapping, or replaces it.
exit_status create_table(const connection_options& connection, const create_arguments& given) {
  if (given.settings().kind != tableq::kind::table)
    throw usage_error("--mapping is for table only");
  if (!given.mapping.given()) throw usage_error("a table needs --mapping FILE");
  const tableq::table_definition definition = read_mapping(given.mapping.text());
  connect(connection, true).store_table(given.queue.text(), definition);
  return exit_status::done;
}

exit_status create(const connection_options& connection, const create_arguments& given) {
  const tableq::queue_settings wanted = given.settings();
  if (given.mapping.given() || wanted.kind == tableq::kind::table) {
    return create_table(connection, given);
  }
  const std::string name = given.queue.text();
  tableq::database db = connect(connection, true);
  if (const auto there = db.find(name)) refuse_changes(*there, wanted);
  [[maybe_unused]] const any_queue made = open_as(db, name, wanted);
  return exit_status::done;
}

/// The arguments of `ddl` besides the queue.
struct ddl_arguments {
  explicit ddl_arguments(CLI::App& command)
      : dialect(command, "DIALECT", "", "sqlite, postgresql, sqlserver"),
        grant(command, "--grant", "ROLE",
              "print the grants of a role instead: producer, replacer, consumer, viewer,\n"
              "manager, owner or scheduler"),
        user(command, "--to", "USER",
             "the database's user (not a login) that gets the role; an owner that creates\n"
             "queues needs --schema too"),
        table(command, "--for", "MAPPING",
              "the indexes that a mapping needs and its table lacks: a file, or the name of a\n"
              "stored mapping. Needs the database, and no DIALECT") {
    command.add_flag("--statements", statements,
                     "print the statements that tableq runs on the queue instead");
  }
  argument dialect;
  argument grant;
  argument user;
  argument table;
  bool statements = false;
};

bool is_stored(const tableq::database& db, const std::string& name) {
  try {
    return db.find(name).has_value();
  } catch (const tableq::error& failure) {
    if (failure.code() != tableq::errc::invalid_argument) throw;
    return false;  // It is no name.
  }
}

/// A mapping by its file, or by its name in the catalogue.
tableq::table_queue open_either(tableq::database& db, const std::string& mapping) {
  if (std::filesystem::exists(mapping)) return open_mapping(db, mapping);
  if (is_stored(db, mapping)) return db.stored_table(mapping);
  throw refused_error("there is no file and no stored mapping " + in_quotes(mapping));
}

exit_status print_index_ddl(const connection_options& connection, const ddl_arguments& what,
                            const queue_arguments& given) {
  if (what.dialect.given() || given.kind.given() || given.queue.given() || what.grant.given() ||
      what.user.given() || what.statements) {
    throw usage_error("--for stands alone: tableq ddl --db URL --for MAPPING");
  }
  tableq::database db = connect(connection);
  output out;
  out.write(open_either(db, what.table.text()).ddl());
  out.flush();
  return exit_status::done;
}

std::string as_script(const std::string& dialect, const std::string& text) {
  const std::string begin = tableq::find_dialect(dialect).begin_in_scripts;
  if (begin.empty()) {
    return "Run this in one transaction: an error then leaves nothing behind.\n" + text;
  }
  return "Run this as one batch, without GO in it: an error leaves nothing behind.\n" + begin +
         ";\n" + text + "COMMIT;\n";
}

exit_status print_ddl(const connection_options& connection, const ddl_arguments& what,
                      const queue_arguments& given) {
  if (what.table.given()) return print_index_ddl(connection, what, given);
  if (!what.dialect.given()) throw usage_error("give DIALECT, KIND and QUEUE, or --for MAPPING");
  if (what.grant.given() != what.user.given()) throw usage_error("--grant and --to go together");
  const std::string dialect = what.dialect.text();
  const std::string queue = given.queue.text();
  output out;
  if (what.statements) {
    if (what.grant.given()) throw usage_error("give --grant or --statements");
    for (const auto& [name, text] :
         tableq::statements(dialect, queue, given.settings(), naming(connection))) {
      out.write("-- name: " + name + "\n" + text + "\n\n");
    }
    out.flush();
    return exit_status::done;
  }
  if (what.grant.given()) {
    out.write(tableq::grants(dialect, tableq::parse_role(what.grant.text()), what.user.text(),
                             queue, given.settings(), naming(connection)));
  } else {
    const std::string text = tableq::ddl(dialect, queue, given.settings(), naming(connection));
    out.write("-- " + version() + ". " + as_script(dialect, text));
  }
  out.flush();
  return exit_status::done;
}

}  // namespace

void add_create(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "create",
      {.description = "Create a queue; an existing one stays",
       .details = "A table is the application's own: its mapping is stored under the queue's name, "
                  "or replaced.\n"
                  "docs/tables.md has the form of a mapping.",
       .usage = "KIND QUEUE [OPTIONS]",
       .examples = "  tableq --db sqlite://jobs.db create fifo mail\n"
                   "  tableq create fifo ledger --strict\n"
                   "  tableq create claim jobs --lease 2m --max-attempts 3 --keep-completed\n"
                   "  tableq create claim mail --retry 1s,1m,1h --ttl 1d --dead-letters morgue\n"
                   "  tableq create table emails --mapping emails.json"});
  const auto given = std::make_shared<create_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return create(call.connection, *given); }; });
}

void add_ddl(CLI::App& app, invocation& call) {
  CLI::App& command = add_command(
      app, "ddl",
      {.description = "Print the SQL that creates a queue, for an administrator",
       .details = "Needs no database. With --grant: the SQL that grants a role to a user.\n"
                  "With --statements: the statements that tableq runs, with parameters as :name.\n"
                  "With --for: the indexes that the application's own table lacks; nothing if it "
                  "lacks none.",
       .usage = "DIALECT KIND QUEUE [OPTIONS] | --for MAPPING",
       .examples = "  tableq ddl postgresql claim jobs\n"
                   "  tableq ddl sqlite fifo mail --strict | sqlite3 jobs.db\n"
                   "  tableq ddl postgresql claim jobs --grant consumer --to worker\n"
                   "  tableq ddl sqlite heap mail --statements\n"
                   "  tableq ddl --db sqlite://app.db --for emails.json"});
  add_connection_options(command, call.connection);
  const auto what = std::make_shared<ddl_arguments>(command);
  const auto given =
      std::make_shared<queue_arguments>(command, "heap, fifo, lifo, pending or claim");
  command.callback([&call, what, given] {
    call.run = [&call, what, given] { return print_ddl(call.connection, *what, *given); };
  });
}

}  // namespace tool
