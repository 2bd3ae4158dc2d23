#pragma once

/// @file
/// Support for further databases. A dialect is data and two pure functions; docs/drivers.md shows
/// how to write one. Its form may change between minor versions until 1.0.

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/export.hpp>
#include <tableq/shortcuts.hpp>

namespace tableq::inline v0 {

namespace drivers {
class pooler_check;
struct own_sessions;
}

/// A failure as the transport reports it, before it is classified.
struct native_error {
  std::string sqlstate = {};  ///< Five characters, or empty.
  int number = 0;             ///< The database's own; SQLite's extended result code. Zero: none.
  bool link_lost = false;     ///< The session is dead.
  /// First line of the database's message. Empty if it may hold data.
  std::string sentence = {};
  /// Bytes of the texts and payloads that the statement sent. Zero: none.
  std::size_t sent = 0;
  /// The queue's table, for a statement on one of tableq's own.
  std::string table = {};
};

/// The meaning of a failure.
struct verdict {
  errc code = errc::internal;  ///< Of the error that the caller gets.
  /// The largest unit that is safe to repeat. With the code it decides whether tableq does so.
  tableq::advice advice = tableq::advice::never;
  /// Replaces the database's message when that may hold data or gives no remedy. Empty: the message
  /// stays. Must be a literal.
  std::string_view sentence = {};
  /// The database says that the transaction was undone: also a commit is then no unknown outcome.
  bool undone = false;
};

/// The features of a database that tableq depends on.
struct capabilities {
  /// Readers and writers of a strict queue must lock the queue first (`queue.lock`), because a
  /// transaction does not see what others commit while it waits, or draws an id before it locks.
  bool strict_needs_lock = true;
  /// Tables live in named schemas.
  bool schemas = true;
  /// Sessions can notify each other of changes: `notify.send` and `listen.*`.
  bool notifies = false;
  /// A take itself looks whether a message is due, and keeps the queue's limits: `claim.look` and
  /// `claim.take_limited`.
  bool takes_look = false;
  /// One session writes at a time; the others wait for it: `claim.groups_in_use`, `batch.remove`,
  /// and no locks of queues and groups.
  bool one_writer = false;
  /// Reads pass over deleted rows until a clean-up, which may take long. Reads therefore begin
  /// after them: the driver has statements that look for the place.
  bool deleted_rows_linger = false;
  /// A statement cannot return the rows that it changes in a table with triggers.
  bool triggers_hide_rows = false;
  /// Any session may write a table that has an index of only some of its rows.
  bool partial_indexes = false;
  /// Rows with NULL in the first column of an index are sorted again to be read by its second one.
  bool null_breaks_order = false;
  /// A warning about the dialect or the place, which `inspect`, observer::warned and the command
  /// pass on. Empty: none. Must be a literal.
  std::string_view caution = {};
  std::string_view caution_remedy = {};  ///< What to do about it. A literal.
  /// The longest payload in bytes that the database stores.
  std::size_t max_payload = 1'000'000'000;
  /// The longest that enqueues accept unless open_options::max_payload names another: what the
  /// database's tools for backups can write. Empty: max_payload.
  std::optional<std::size_t> usual_payload = {};
  /// The most sessions that may be open at once; empty: the database has no limit.
  std::optional<std::size_t> max_sessions = {};
};

/// How one statement handles several items.
enum class batching {
  loop,    ///< The text takes one item and runs once per item, in one transaction. One that has
           ///< `{items: ...}` is as by `rows`.
  arrays,  ///< The text takes one array for each item parameter, and returns the column `item`
           ///< first.
  rows,    ///< The text repeats `{items: (...)}` for each item, and returns the column `item`
           ///< first. It runs with a fixed number of items; unused ones are NULL.
};

/// A connection string, taken apart. Percent-encodings are decoded in `rest` and `settings`.
struct connection_url {
  std::string scheme;                           ///< Before `://`, lower case.
  std::string rest;                             ///< Between `://` and `?`.
  std::map<std::string, std::string> settings;  ///< After `?`.
  std::string raw;                              ///< All of it, as given. May hold a password.
  /// The defect in the percent-encodings or settings, which are then incomplete. A dialect that
  /// reads them refuses the string with this sentence; one that passes `raw` on may ignore it.
  std::string problem;
};

/// Where and how a transport connects.
struct endpoint {
  std::string connect = {};             ///< SOCI's connect string. May hold a password.
  std::vector<std::string> setup = {};  ///< Statements run once in each new session.
  /// How long the transport waits for locks, if it supports that. Zero: no waiting.
  std::chrono::milliseconds busy_timeout{0};
  /// How long the transport waits for a statement's end, if it supports that. Empty: the database
  /// and its client library decide.
  std::optional<std::chrono::milliseconds> statement_timeout = {};
  bool wide_text = false;  ///< As the dialect's.
  bool prepares = false;   ///< As the dialect's.
  /// A pooler gives the server's session to another client after each transaction. The transport
  /// then skips the dialect's set-up, prepares nothing and does not listen.
  bool pooled = false;
  tableq::shortcuts shortcuts = {};  ///< Optimizations that the transport may use.
  /// False: a database that does not exist is an error (schema_policy::verify_only).
  bool may_create = true;
  /// The dialect's; the address may restrict them.
  tableq::capabilities capabilities = {};
  /// The transport's own: what its sessions have found out about a pooler. May be null.
  std::shared_ptr<drivers::pooler_check> pooler = {};
};

/// One database: its statements, settings and rules.
struct dialect {
  std::string name = {};                  ///< `sqlite`; lower case, names the backend in errors.
  std::vector<std::string> schemes = {};  ///< The schemes of its connection strings.
  /// The transport that runs the statements: `sqlite`, `libpq` or `odbc`.
  std::string transport = {};
  /// The database's names in ODBC drivers (SQL_DBMS_NAME): `odbc://` then selects this dialect. May
  /// be empty.
  std::vector<std::string> products = {};

  /// All statements, in blocks that begin with `-- name: a.b c.d`, as in drivers/*/statements.sql.
  /// `{table}`, `{catalog}`, `{limits}`, `{floors}`, `{schedules}`, `{batches}`, `{members}`,
  /// `{quotas}` and `{starts}` become quoted names, `{table:suffix}` the quoted name of an index,
  /// `{index:suffix}` that with its schema, and `:name` a parameter.
  /// Any statement may use `:own_identity`, the identity of the queue that the caller's handle was
  /// opened for, and `:now`, the clock of a test in milliseconds since 1970, null without one. A
  /// block that begins with
  /// `-- fragment: clock` takes the place of `{clock}` in the blocks below it: drivers/README.md.
  std::string statements = {};
  /// The text that creates a queue, by the kind's name; `catalog`; `concurrency`, the index of
  /// leases; and `roles`, in blocks as in `statements`. Without users `roles` may be missing.
  std::map<std::string, std::string> ddl = {};
  /// The steps between layouts: `2/pending` turns layout 1 of a table into layout 2,
  /// `2/pending.down` back. Each has blocks named `1.transaction`, `2.alone`, ...: statements that
  /// run in one transaction, or each outside any. A step that was cut runs again from its start. A
  /// table without a text changes only its number.
  std::map<std::string, std::string> steps = {};
  /// The templates of statements on tables of applications, in blocks as in `statements`; see
  /// drivers/postgresql/tables.sql. Empty: `database::table` is errc::unsupported.
  std::string tables = {};

  char quote_open = '"';   ///< Begins a quoted name in a text.
  char quote_close = '"';  ///< Ends it. No name of tableq contains either.
  /// True: text goes through ODBC as UTF-16, for a database that stores UTF-16. False: as UTF-8,
  /// which the other drivers pass on unchanged; they may convert wide text by the locale.
  bool wide_text = false;
  /// True: through ODBC a text is prepared once per session, for a database that then keeps its
  /// plan. False: it is sent with each call, which is one round trip with any driver.
  bool prepares = false;
  /// Statements run once in each new session, before the endpoint's set-up. May be empty.
  std::vector<std::string> setup = {};
  /// Begins a transaction. The transport commits with COMMIT.
  std::string begin = "BEGIN";
  /// The same in a text that a person runs. Empty: the database's programs have an option for that.
  std::string begin_in_scripts = {};
  /// Ends a transaction without its changes.
  std::string rollback = "ROLLBACK";
  /// An operation of several statements in a caller's transaction happens between `savepoint` and
  /// `release`, or is undone by `undo` and then `release`. An empty text is not sent. `{depth}`
  /// becomes the number of nested savepoints, from 1 on.
  std::string savepoint = "SAVEPOINT tableq_operation_{depth}";
  /// Ends the operation's savepoint. Empty: the database has no such statement.
  std::string release = "RELEASE SAVEPOINT tableq_operation_{depth}";
  /// Removes the operation's changes and keeps the transaction.
  std::string undo = "ROLLBACK TO SAVEPOINT tableq_operation_{depth}";
  /// A query for one number: 1 in a transaction that can be committed, -1 in one that cannot, 0
  /// outside of any. Sent where the client library may not know that the server has ended the
  /// transaction. Empty: it always knows.
  std::string transaction_state = {};
  /// A query for one number: 1 in a session that cannot write. Sent after a refused write
  /// (errc::read_only), outside of any transaction: the session of a server that has become a
  /// standby is closed, and one in which a trigger refused a row is kept. Empty: they are kept.
  std::string read_only_state = {};
  /// How the texts with items take several of them.
  batching batches = batching::loop;
  /// The item counts of texts with `{items: ...}`, rising from 1 to 1000 at most. With
  /// batching::rows a batch uses the next higher count, or is cut; with batching::loop it is cut
  /// into the highest ones.
  std::vector<std::size_t> row_counts = {1};
  /// For batching::rows: the most values that the items of one text may have. Larger row_counts are
  /// not used, except the lowest. Empty: no limit.
  std::optional<std::size_t> most_item_values = {};
  /// Parts of `statements` that pin plans. After a failure with one of `plan_failures`, in any of
  /// its records, the sessions of that `database` object run the statement without them.
  std::vector<std::string> plan_hints = {};
  std::vector<int> plan_failures = {};  ///< The database's numbers for "no plan".
  /// The database's capabilities. An address may restrict them: see endpoint.
  tableq::capabilities capabilities = {};
  /// The additional work of the library's sessions for this database alone, such as the looks of
  /// capabilities::deleted_rows_linger. Null: nothing. A copy of a registered dialect has its.
  const drivers::own_sessions* own = nullptr;
  /// Converts an address into an endpoint, without connecting. Throws error errc::invalid_argument
  /// that names an unknown key or a bad value. Must not be null.
  endpoint (*resolve)(const dialect& self, const connection_url& url) = nullptr;
  /// Classifies a failure. Pure. Must not be null.
  verdict (*classify)(const native_error& failure) = nullptr;
};

/// Adds a dialect for this process, or replaces the one of the same name. Open databases keep
/// theirs. Checks that every statement of the contract is present.
///
/// @par Thread safety
/// Safe, also while databases are opened.
/// @throws error errc::invalid_argument naming the missing part, or a scheme that another dialect
///   has.
TABLEQ_EXPORT void register_dialect(dialect added);

/// A copy of a registered dialect, as a start for your own.
/// @throws error errc::invalid_argument when the name is unknown.
TABLEQ_EXPORT dialect find_dialect(std::string_view name);

}  // namespace tableq::inline v0
