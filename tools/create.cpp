#include <filesystem>
#include <string>

#include <tableq/tableq.hpp>
#include <tableq/unstable/dialect.hpp>

#include "claim_arguments.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "source.hpp"

namespace tool {

namespace {

/// The arguments that `create` and `ddl` share.
struct queue_arguments : claim_arguments {
  using claim_arguments::claim_arguments;

  argument kind{command, "KIND", "", "heap, fifo, lifo, pending, claim, or for create table"};
  argument queue{command, "QUEUE", "", "The queue's name: a-z, 0-9, _, - and ."};
  flag strict{command, "--strict", "fifo and lifo: exact order; one reader at a time"};
  flag keep_completed{command, "--keep-completed,--keep",
                      "claim: keep completed messages until a purge"};
  flag free_keys{command, "--free-keys", "claim: a take frees the key of its message"};
  flag groups_pass{command, "--groups-pass",
                   "claim: a group goes on while one of its messages rests after a failure"};
  flag groups_by_turns{command, "--groups-by-turns",
                       "claim: groups take turns; a long backlog of one holds up no other"};
  flag batches{command, "--batches", "claim: messages may belong to batches"};

  /// The given options, checked against the kind.
  /// @throws usage_error
  [[nodiscard]] tableq::queue_settings settings() const {
    if (!kind.given() || !queue.given()) throw usage_error("give KIND and QUEUE");
    tableq::queue_settings result;
    try {
      result.kind = tableq::parse_kind(kind.text());
    } catch (const tableq::error& wrong) {
      throw usage_error(wrong.what() + std::string("; KIND comes before QUEUE"));
    }
    refuse_misfits(command, kind.text());
    if (strict) result.order.ordering = tableq::ordering::strict;
    read_claim(result.claim);
    return result;
  }

  void read_claim(tableq::claim_options& claim) const {
    read(claim);
    if (retain_done.given() || retain_dead.given()) claim.retention.emplace();
    const auto age = [](const std::string& option, const std::string& text) {
      return parse_lifetime(option, text).length();
    };
    if (retain_done.given()) retain_done.store(claim.retention->done, age);
    if (retain_dead.given()) retain_dead.store(claim.retention->dead, age);
    if (keep_completed) claim.keep_completed = true;
    if (free_keys) claim.keys = tableq::key_scope::waiting;
    if (batches) claim.batches = true;
    if (groups.given()) {
      claim.groups = {
          .limit = static_cast<int>(groups.number(1, 1000)),
          .on_failure = groups_pass ? tableq::group_policy::pass : tableq::group_policy::hold,
          .by_turns = groups_by_turns};
    } else if (groups_pass || groups_by_turns) {
      throw usage_error("--groups-pass and --groups-by-turns go with --groups N");
    }
  }
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
  using queue_arguments::queue_arguments;
  argument mapping{command, "--mapping", "FILE",
                   "table: the JSON of a mapping of the application's table"};
  flag as_json{command, "--json", "Print an object with queue and outcome"};

  /// @param outcome created or exists; of a mapping stored.
  void tell(const char* outcome) const {
    if (as_json) print_line(line_of({{"queue", queue.text()}, {"outcome", outcome}}));
  }
};

/// Stores a mapping, or replaces it.
exit_status create_table(const connection_options& connection, const create_arguments& given) {
  if (!given.mapping.given()) throw usage_error("a table needs --mapping FILE");
  const tableq::table_definition definition = read_mapping(given.mapping.text());
  connect(connection, true).store_table(given.queue.text(), definition);
  given.tell("stored");
  return exit_status::done;
}

exit_status create(const connection_options& connection, const create_arguments& given) {
  const tableq::queue_settings wanted = given.settings();
  if (wanted.kind == tableq::kind::table) return create_table(connection, given);
  const std::string name = given.queue.text();
  tableq::database db = connect(connection, true);
  const auto there = db.find(name);
  if (there) refuse_changes(*there, wanted);
  [[maybe_unused]] const any_queue made = open_as(db, name, wanted);
  given.tell(there ? "exists" : "created");
  return exit_status::done;
}

struct ddl_arguments : arguments {
  using arguments::arguments;

  argument dialect{command, "DIALECT", "", "sqlite, postgresql, sqlserver"};
  queue_arguments of = queue_arguments(command);
  argument grant{command, "--grant", "ROLE",
                 "Print the grants of a role instead: producer, replacer, consumer, viewer,\n"
                 "manager, owner or scheduler"};
  argument user{command, "--to", "USER",
                "The database's user (not a login) that gets the role; an owner that creates\n"
                "queues needs --schema too"};
  argument table{command, "--for", "MAPPING",
                 "The indexes that a mapping needs and its table lacks: a file, or the name of a\n"
                 "stored mapping. Needs the database, and no DIALECT"};
  flag statements{command, "--statements",
                  "Print the statements that tableq runs on the queue instead"};
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

exit_status print_index_ddl(const connection_options& connection, const ddl_arguments& what) {
  if (what.dialect.given() || what.of.kind.given() || what.of.queue.given() || what.grant.given() ||
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

exit_status print_ddl(const connection_options& connection, const ddl_arguments& what) {
  if (what.table.given()) return print_index_ddl(connection, what);
  if (!what.dialect.given()) throw usage_error("give DIALECT, KIND and QUEUE, or --for MAPPING");
  if (what.grant.given() != what.user.given()) throw usage_error("--grant and --to go together");
  const std::string dialect = what.dialect.text();
  const std::string queue = what.of.queue.text();
  output out;
  if (what.statements) {
    if (what.grant.given()) throw usage_error("give --grant or --statements");
    for (const auto& [name, text] :
         tableq::statements(dialect, queue, what.of.settings(), naming(connection))) {
      out.write("-- name: " + name + "\n" + text + "\n\n");
    }
    out.flush();
    return exit_status::done;
  }
  if (what.grant.given()) {
    out.write(tableq::grants(dialect, tableq::parse_role(what.grant.text()), what.user.text(),
                             queue, what.of.settings(), naming(connection)));
  } else {
    const std::string text = tableq::ddl(dialect, queue, what.of.settings(), naming(connection));
    out.write("-- " + version() + ". " + as_script(dialect, text));
  }
  out.flush();
  return exit_status::done;
}

}  // namespace

void add_create(CLI::App& app, invocation& call) {
  add_database_command<create_arguments>(
      app, call, "create",
      {.description = "Create a queue; an existing one stays",
       .details = "A table is the application's own: its mapping is stored under the queue's name, "
                  "or replaced.\n"
                  "docs/tables.md has the form of a mapping.",
       .usage = "KIND QUEUE [OPTIONS] [--json]",
       .examples = "  tableq --db sqlite://jobs.db create fifo mail\n"
                   "  tableq create fifo ledger --strict\n"
                   "  tableq create claim jobs --lease 2m --max-attempts 3 --keep-completed\n"
                   "  tableq create claim mail --retry 1s,1m,1h --ttl 1d --dead-letters mail-dead\n"
                   "  tableq create table emails --mapping emails.json"},
      create);
  add_database_command<ddl_arguments>(
      app, call, "ddl",
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
                   "  tableq ddl --db sqlite://app.db --for emails.json"},
      print_ddl);
}

}  // namespace tool
