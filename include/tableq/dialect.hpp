#pragma once

/// @file
/// How a database is taught to tableq. A dialect is data and two pure functions; docs/drivers.md
/// shows how to write one. The form may change between minor versions until 1.0.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/export.hpp>
#include <tableq/shortcuts.hpp>

namespace tableq::inline v0 {

/// What a transport learned of a failure, before anybody has judged it.
struct native_error {
  std::string sqlstate = {};  ///< Five characters, or empty.
  int number = 0;             ///< The database's own; SQLite's extended result code.
  bool link_lost = false;     ///< The session is dead.
  /// The database's words, first line; empty where they may hold data.
  std::string sentence = {};
};

/// What a failure means.
struct verdict {
  errc code = errc::internal;
  tableq::advice advice = tableq::advice::never;
  /// Told instead of the database's words, where those may hold data or do not say what to do.
  /// Empty: the words stay. Must last for ever: a literal.
  std::string_view sentence = {};
};

/// What core asks a database for. Each has one path in core.
struct capabilities {
  /// Readers and writers of a strict queue must lock the queue first (`queue.lock`), because a
  /// transaction does not see what others commit while it waits.
  bool strict_needs_lock = true;
  /// Tables live in named schemas.
  bool schemas = true;
  /// Sessions can tell each other of changes: `notify.send`, and what begins with `listen.`.
  bool notifies = false;
  /// One session writes at a time; the others wait for it.
  bool one_writer = false;
  /// Reads step over rows that were deleted until something cleans up, which may be long: they
  /// begin where `queue.floor` and `claim.floor` say that none is left before.
  bool deleted_rows_linger = false;
  /// The longest payload in bytes.
  std::size_t max_payload = 1'000'000'000;
  /// The most sessions that may be open at once; empty: no limit of the database's own.
  std::optional<std::size_t> max_sessions = {};
};

/// How several items travel in one statement.
enum class batching {
  loop,    ///< The text takes one item; it runs once for each, in one transaction.
  arrays,  ///< The text takes one array for each item parameter, and returns the column `item`
           ///< first.
  rows,    ///< The text repeats `{items: (...)}` for each item, and returns the column `item`
           ///< first. It runs with one of a few numbers of items, the rest of them NULL.
};

/// A connection string, taken apart. Percent-encodings are decoded in `rest` and `settings`.
struct connection_url {
  std::string scheme;                           ///< Before `://`, lower case.
  std::string rest;                             ///< Between `://` and `?`.
  std::map<std::string, std::string> settings;  ///< After `?`.
  std::string raw;                              ///< All of it, as given. May hold a password.
  /// What is wrong with the percent-encodings or settings; they are then incomplete. A dialect that
  /// reads them refuses the string with this sentence; one that hands `raw` on may ignore it.
  std::string problem;
};

/// Where and how a transport connects.
struct endpoint {
  std::string connect = {};             ///< SOCI's connect string. May hold a password.
  std::vector<std::string> setup = {};  ///< Statements run once in each new session.
  /// How long the transport waits for locks, if it can.
  std::chrono::milliseconds busy_timeout{0};
  /// How long the transport waits for a statement's end, if it can. Empty: as long as the database
  /// and its client library do.
  std::optional<std::chrono::milliseconds> statement_timeout = {};
  bool wide_text = false;  ///< As the dialect's.
  bool prepares = false;   ///< As the dialect's.
  /// A pooler hands the server's session from client to client, with each transaction: the
  /// dialect's set-up is left out, nothing is prepared, and nobody listens.
  bool pooled = false;
  tableq::shortcuts shortcuts = {};  ///< What the transport may do for speed alone.
  /// As the dialect's, or narrowed by the address.
  tableq::capabilities capabilities = {};
};

/// One database's way of speaking.
struct dialect {
  std::string name = {};                  ///< `sqlite`; lower case, names the backend in errors.
  std::vector<std::string> schemes = {};  ///< What connection strings may begin with.
  /// Who runs the statements: `sqlite`, `libpq` or `odbc`.
  std::string transport = {};
  /// What ODBC drivers call the database (SQL_DBMS_NAME): `odbc://` then speaks this dialect. May
  /// be empty.
  std::vector<std::string> products = {};

  /// All statements, in blocks that begin with `-- name: a.b c.d`, as in drivers/*/statements.sql.
  /// `{table}`, `{catalog}` and `{limits}` become quoted names, `{table:suffix}` the quoted name of
  /// an index, and `:name` a parameter. `:own_identity`, which any statement may use, is the
  /// identity of the queue that the caller's handle was opened for. A block that begins with
  /// `-- fragment: clock` takes the place of `{clock}` in the blocks below it: docs/drivers.md.
  std::string statements = {};
  /// The text that makes a queue, by the kind's name; `catalog`; and `roles`, in blocks as those of
  /// statements, which may be missing where there are no users.
  std::map<std::string, std::string> ddl = {};

  char quote_open = '"';
  char quote_close = '"';
  /// Through ODBC text travels as UTF-16, for a database whose text is that. Otherwise as UTF-8,
  /// which the drivers of the others hand on as it is; wide text they may send through the locale.
  bool wide_text = false;
  /// Through ODBC a text is prepared once in each session, for a database that keeps its plan then.
  /// Otherwise it is sent with each call, which is one round trip with any driver.
  bool prepares = false;
  /// Run once in each new session, before what the endpoint adds.
  std::vector<std::string> setup = {};
  std::string begin = "BEGIN";
  std::string rollback = "ROLLBACK";
  /// An operation of several statements in a caller's transaction happens between `savepoint` and
  /// `release`, or is undone by `undo` and then `release`. An empty text is not sent.
  std::string savepoint = "SAVEPOINT tableq_operation";
  std::string release = "RELEASE SAVEPOINT tableq_operation";
  std::string undo = "ROLLBACK TO SAVEPOINT tableq_operation";
  batching batches = batching::loop;
  /// For batching::rows: the numbers of items that texts are made for, rising from 1 to 1000 at
  /// most. A batch takes the next higher one, or is cut.
  std::vector<std::size_t> row_counts = {1};
  /// For batching::rows: the most values that the items of one text may have; of row_counts those
  /// that are within it are used, the lowest in any case. Empty: no limit.
  std::optional<std::size_t> most_item_values = {};
  tableq::capabilities capabilities = {};
  /// Turns an address into an endpoint, without connecting. Throws error errc::invalid_argument
  /// that names an unknown key or a bad value.
  endpoint (*resolve)(const dialect& self, const connection_url& url) = nullptr;
  /// Judges a failure. Pure.
  verdict (*classify)(const native_error& failure) = nullptr;
};

/// Adds a database for this process, or replaces the one of the same name. Databases that are open
/// keep what they have. Checks that every statement of the contract is there.
///
/// @par Thread safety
/// Safe, also while databases are opened.
/// @throws error errc::invalid_argument naming what is missing, or a scheme that another has taken.
TABLEQ_EXPORT void register_dialect(dialect added);

/// A copy of a known dialect, as a start for one's own.
/// @throws error errc::invalid_argument when the name is unknown.
TABLEQ_EXPORT dialect find_dialect(std::string_view name);

}  // namespace tableq::inline v0
