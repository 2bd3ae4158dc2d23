#include <chrono>
#include <memory>
#include <sstream>
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

/// The arguments that `create` and `ddl` share.
struct queue_arguments {
  explicit queue_arguments(CLI::App& command)
      : kind(command, "KIND", "", "heap, fifo, lifo, pending or claim"),
        queue(command, "QUEUE", "", "The queue's name: a-z, 0-9, _, - and ."),
        lease(command, "--lease", "TIME", "claim: how long a worker holds a message (30s)"),
        max_attempts(command, "--max-attempts", "N",
                     "claim: after how many failures a message is dead (5)"),
        retry(command, "--retry", "TIME,TIME,...",
              "claim: how long a message rests after its first failure, its second, ...; the last\n"
              "time holds for all that follow (0s)") {
    kind.required();
    queue.required();
    command.add_flag("--strict", strict, "fifo and lifo: exact order; readers wait for each other");
    command.add_flag("--keep", keep, "claim: keep what is completed until it is purged");
  }

  /// What was given, checked against the kind.
  [[nodiscard]] tableq::queue_settings settings() const {
    tableq::queue_settings result;
    result.kind = tableq::parse_kind(kind.text());
    const bool ordered = result.kind == tableq::kind::fifo || result.kind == tableq::kind::lifo;
    if (strict && !ordered) throw usage_error("--strict is for fifo and lifo only");
    if (strict) result.order.ordering = tableq::ordering::strict;
    if (result.kind != tableq::kind::claim) {
      refuse(lease, "--lease", "is for claim only");
      refuse(max_attempts, "--max-attempts", "is for claim only");
      refuse(retry, "--retry", "is for claim only");
      if (keep) throw usage_error("--keep is for claim only");
    }
    if (lease.given()) {
      result.claim.lease = parse_duration("--lease", lease.text(), std::chrono::milliseconds{1});
    }
    if (max_attempts.given()) {
      result.claim.max_attempts =
          static_cast<int>(parse_number("--max-attempts", max_attempts.text(), 1, 1'000'000));
    }
    if (retry.given()) result.claim.retry = tableq::retry_delays{.after = retry_times()};
    if (keep) result.claim.keep = true;
    return result;
  }

  [[nodiscard]] std::vector<std::chrono::milliseconds> retry_times() const {
    std::vector<std::chrono::milliseconds> times;
    std::istringstream list(retry.text());
    for (std::string one; std::getline(list, one, ',');) {
      times.push_back(parse_duration("--retry", one));
    }
    if (times.empty()) throw usage_error("--retry takes times such as 1s,10s,1m");
    return times;
  }

  argument kind;
  argument queue;
  argument lease;
  argument max_attempts;
  argument retry;
  bool strict = false;
  bool keep = false;
};

/// A queue that is there already keeps what it was made with: asking for something else must not
/// look like success.
void refuse_changes(const tableq::queue_info& there, const tableq::queue_settings& wanted) {
  const std::string kind{tableq::to_string(there.kind)};
  const std::string queue = "queue " + in_quotes(there.name) + " exists";
  if (there.kind != wanted.kind) throw usage_error(queue + " and is of kind " + kind);
  const bool same = wanted.order.ordering.value_or(there.ordering) == there.ordering &&
                    wanted.claim.lease.value_or(there.lease) == there.lease &&
                    wanted.claim.max_attempts.value_or(there.max_attempts) == there.max_attempts &&
                    wanted.claim.keep.value_or(there.keep) == there.keep &&
                    wanted.claim.retry.value_or(there.retry) == there.retry;
  if (same) return;
  const std::string options = options_text(there);
  throw usage_error(queue + " with other options: " + kind + " " +
                    (options.empty() ? "without --strict" : options));
}

any_queue make(tableq::database& db, const std::string& name,
               const tableq::queue_settings& wanted) {
  switch (wanted.kind) {
    case tableq::kind::heap:
      return db.heap(name);
    case tableq::kind::fifo:
      return db.fifo(name, wanted.order);
    case tableq::kind::lifo:
      return db.lifo(name, wanted.order);
    case tableq::kind::pending:
      return db.pending(name);
    case tableq::kind::claim:
      break;
  }
  return db.claim(name, wanted.claim);
}

exit_status create(const connection_options& connection, const queue_arguments& given) {
  const tableq::queue_settings wanted = given.settings();
  const std::string name = given.queue.text();
  tableq::database db = connect(connection, true);
  if (const auto there = db.find(name)) refuse_changes(*there, wanted);
  [[maybe_unused]] const any_queue made = make(db, name, wanted);
  return exit_status::done;
}

exit_status print_ddl(const connection_options& connection, const std::string& dialect,
                      const queue_arguments& given) {
  output out;
  out.write(tableq::ddl(dialect, given.queue.text(), given.settings(), naming(connection)));
  out.flush();
  return exit_status::done;
}

}  // namespace

void add_create(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "create",
      {.description = "Make a queue; harmless when it is there already",
       .details = "",
       .usage = "KIND QUEUE [OPTIONS]",
       .examples = "  tableq --db sqlite://jobs.db create fifo mail\n"
                   "  tableq create fifo ledger --strict\n"
                   "  tableq create claim jobs --lease 2m --max-attempts 3 --keep"});
  const auto given = std::make_shared<queue_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return create(call.connection, *given); }; });
}

void add_ddl(CLI::App& app, invocation& call) {
  CLI::App& command =
      add_command(app, "ddl",
                  {.description = "Print what a database administrator would run to make a queue",
                   .details = "Needs no database.",
                   .usage = "DIALECT KIND QUEUE [OPTIONS]",
                   .examples = "  tableq ddl postgresql claim jobs\n"
                               "  tableq ddl sqlite fifo mail --strict | sqlite3 jobs.db"});
  add_naming_options(command, call.connection);
  const auto dialect = std::make_shared<argument>(command, "DIALECT", "", "sqlite, postgresql");
  dialect->required();
  const auto given = std::make_shared<queue_arguments>(command);
  command.callback([&call, dialect, given] {
    call.run = [&call, dialect, given] {
      return print_ddl(call.connection, dialect->text(), *given);
    };
  });
}

}  // namespace tool
