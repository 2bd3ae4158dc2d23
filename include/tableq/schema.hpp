#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/export.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>
#include <tableq/table_definition.hpp>

namespace tableq::inline v0 {

/// The name of a kind in the catalogue and in the command: `fifo`.
TABLEQ_EXPORT std::string_view to_string(kind value) noexcept;

/// @throws error errc::invalid_argument when the text is not a kind; lists all.
TABLEQ_EXPORT kind parse_kind(std::string_view text);

/// The settings of a new queue. The options of other kinds are refused.
struct queue_settings {
  tableq::kind kind = kind::fifo;  ///< Decides which of the options below may be given.
  order_options order = {};        ///< `fifo` and `lifo`.
  claim_options claim = {};        ///< `claim`.
};

/// A queue, or the mapping of an application's table, as stored in the catalogue.
struct queue_info {
  std::string name = {};           ///< Without the table_prefix.
  tableq::kind kind = kind::fifo;  ///< Never changes.
  int layout = 1;                  ///< The version of its table's layout.
  std::int64_t identity = 0;       ///< The receipts' `queue`; changes with drop and create.
  tableq::ordering ordering = ordering::relaxed;  ///< `fifo` and `lifo`; relaxed for the others.
  std::chrono::milliseconds lease{30'000};        ///< From here to dead_letters: `claim` only.
  int max_attempts = 5;                           ///< 1 to 1,000,000.
  bool keep_completed = false;                    ///< True: completed messages stay until purge.
  retry_delays retry = {};                        ///< No delays: ready again at once.
  std::optional<std::chrono::milliseconds> time_to_live = {};  ///< Empty: forever.
  key_scope keys = key_scope::active;          ///< How long a message holds its key.
  std::chrono::milliseconds key_window{0};     ///< Zero: a completed message frees its key.
  bool key_windows = false;                    ///< It has, or had, a key_window.
  std::optional<group_options> groups = {};    ///< Empty: no groups.
  std::string dead_letters = {};               ///< Empty: dead messages stay in the queue.
  tableq::retention retention = {};            ///< Empty: finished messages stay until purge.
  bool schedules = false;                      ///< True: some rule of `schedules` names it.
  bool group_limits = false;                   ///< Groups have limits of their own.
  bool group_rates = false;                    ///< The same; some limit starts per second.
  bool batches = false;                        ///< Messages may belong to batches.
  bool batch_ends = false;                     ///< Any kind: gets messages at the ends of batches.
  timestamp created_at = {};                   ///< By the database's clock.
  std::optional<table_definition> table = {};  ///< Kind `table`: as `database::store_table` got it.
};

/// The rights of a database user on a queue. docs/security.md has the details.
enum class role {
  producer,   ///< Adds messages; cannot read them.
  replacer,   ///< `claim`: a producer that may also use on_duplicate::replace and postpone.
  consumer,   ///< Reads and settles messages.
  viewer,     ///< Reads the figures of the queue, but no payload, header or key.
  manager,    ///< Everything except DDL: peeks, purges, redrives, cancels, sets limits, pauses.
  owner,      ///< Creates and drops queues; adds, changes and removes schedules.
  scheduler,  ///< Follows the schedules of the queue: a producer that reads their messages.
};

/// The role's name as the command reads it: `producer`.
TABLEQ_EXPORT std::string_view to_string(role value) noexcept;

/// @throws error errc::invalid_argument when the text is not a role; lists them.
TABLEQ_EXPORT role parse_role(std::string_view text);

/// A step from one layout to the next, or back.
struct migration_step {
  std::string queue = {};  ///< Its name; `tableq` for the catalogue.
  int from = 0;            ///< The layout before.
  int to = 0;              ///< The layout after: one more, or one less.
  /// A script that does the same. Its runner must stop at the first error: the last statement sets
  /// the layout's number.
  std::string sql = {};
};

/// Options of `database::migrate`.
struct migrate_options {
  /// Only these queues; `tableq` names the catalogue itself. Empty: the catalogue and all queues.
  std::vector<std::string> queues = {};
  /// The layout to reach, from 1 on. Empty: the newest that this version knows.
  std::optional<int> to = {};
  /// True: nothing is changed; the result holds the steps that would be done.
  bool dry_run = false;
  /// How long each part of a step is tried again while others hold its locks. 0 to 365 days. Zero:
  /// it is tried once. On PostgreSQL an index is made and dropped beside the work of others: this
  /// waits for all transactions that began before, however long they last.
  std::chrono::milliseconds wait = std::chrono::minutes{1};
  /// Called after each step that was done, in the calling thread, also if a later one fails. With
  /// dry_run never. Its exceptions end the migration and come out of migrate.
  std::function<void(const migration_step&)> done = {};
};

/// One result of `database::inspect`.
struct finding {
  /// Rising urgency.
  enum class level { ok, warning, problem };
  level severity = level::ok;  ///< `ok`: nothing to do. `problem`: mend it first.
  std::string subject;         ///< A queue's name, or `database`.
  std::string what;            ///< One sentence.
  std::string fix;             ///< The remedy; empty for `ok`.
};

/// The names of the dialects in this build, in alphabetical order.
TABLEQ_EXPORT std::vector<std::string> dialects();

/// The SQL with which an administrator creates a queue by hand: the catalogue if it is missing, the
/// table, its indexes and the catalogue's row. Needs no connection.
/// @param options table_prefix and schema_name are used.
/// @throws error errc::invalid_argument for an unknown dialect, a bad name, or options of another
///   kind.
TABLEQ_EXPORT std::string ddl(std::string_view dialect, std::string_view queue,
                              const queue_settings& settings, const open_options& options = {});

/// The statements that tableq runs on a queue of this kind, by name, for reading and debugging.
/// They have the names of the tables and indexes, and parameters as `:name`. `.one` and `.bare`
/// mark cheaper forms of the statement before them; in a batch `{items: ...}` repeats for each
/// message. Needs no connection. In a schema that Citus keeps as a shard other ones run, which are
/// not among them; Citus refuses some of these.
/// @param options table_prefix and schema_name are used.
/// @throws error errc::invalid_argument for an unknown dialect or a bad name.
TABLEQ_EXPORT std::map<std::string, std::string> statements(std::string_view dialect,
                                                            kind queue_kind, std::string_view queue,
                                                            const open_options& options = {});

/// The same for a queue with these settings: some options need statements of their own.
/// @throws error errc::invalid_argument for options of another kind too.
TABLEQ_EXPORT std::map<std::string, std::string> statements(std::string_view dialect,
                                                            std::string_view queue,
                                                            const queue_settings& settings,
                                                            const open_options& options = {});

/// The SQL with which an administrator grants a user exactly the rights of the role on a queue. The
/// user works with `schema_policy::verify_only`, unless the role is owner. Needs no connection.
/// @param user 1 to 128 bytes, as in the database, without quotes, brackets, braces, `;` and
///   control characters.
/// @param granted the role of the user.
/// @param settings as the queue was created: groups, keep_completed, key_window, dead_letters and
///   batches need rights.
/// @param options table_prefix and schema_name are used.
/// @throws error errc::invalid_argument for an unknown dialect, a bad name, a replacer of a kind
///   without keys; errc::unsupported for a database without users.
TABLEQ_EXPORT std::string grants(std::string_view dialect, role granted, std::string_view user,
                                 std::string_view queue, const queue_settings& settings,
                                 const open_options& options = {});

}  // namespace tableq::inline v0
