#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <tableq/export.hpp>

namespace tableq::inline v0 {

/// What went wrong. Expected outcomes (empty, lease lost, key already there) are values, never
/// errors.
enum class errc {
  invalid_argument = 1,  ///< The call itself is wrong; nothing was sent. Also in a child of fork().
  not_found,             ///< The queue, its table, or the file of the database does not exist.
  kind_mismatch,         ///< The queue exists as another kind.
  options_mismatch,      ///< It exists with another option that is fixed; what() names the option.
  schema_mismatch,       ///< A table is in the way, or differs from what tableq would create.
  schema_too_new,        ///< A newer tableq wrote the catalogue; use that version.
  connection_failed,     ///< No session could be opened: host, credentials, database, file.
  connection_lost,       ///< The session died; the statement certainly had no effect that lasts.
  outcome_unknown,       ///< The session died while a change was on its way: it may have happened.
  busy,                  ///< A lock or a session was not to be had within its time-out.
  conflict,              ///< Serialization failure or deadlock; the database undid the transaction.
  constraint_violated,   ///< A constraint of the table, or a trigger on it, refused the row.
  permission_denied,     ///< The user lacks a right on a table or schema.
  read_only,             ///< The file, database or session accepts no writes.
  storage_full,          ///< Disk, quota or log is full.
  too_large,             ///< A payload is over the database's limit.
  not_a_database,        ///< The file is something else, or damaged.
  duplicate_key,         ///< on_duplicate::reject, and the key is held by another message.
  cancelled,             ///< A statement time-out or a cancel request ended the statement.
  unsupported,           ///< This database has no such feature; docs/drivers.md lists them.
  queue_full,            ///< The queue has reached its capacity; nothing was added.
  internal,              ///< An answer that no rule covers: please report it.
};

/// The largest thing that is safe to repeat after an error, from small to large.
enum class advice {
  never,        ///< Repeating changes nothing, or might do the work twice.
  statement,    ///< The same call may be made again at once.
  transaction,  ///< The transaction is gone: run all of it again from its beginning.
  session,      ///< Open a new session first; tableq does so by itself on the next call.
};

/// The stable, lower-case name of a code, as the command prints it: `outcome_unknown`.
TABLEQ_EXPORT std::string_view to_string(errc code) noexcept;
/// The stable, lower-case name of an advice.
TABLEQ_EXPORT std::string_view to_string(advice value) noexcept;

/// Where an error came from. Every member may be empty or zero, but an error of an operation names
/// it, and the backend as soon as the address has told which one it is.
struct error_origin {
  std::string backend = {};  ///< The dialect's name.
  /// What the caller called: `fifo.dequeue`, `claim.take`, `open`, `connect`, `commit`, `work`.
  std::string operation = {};
  std::string sqlstate = {};  ///< Five characters, where the database has them.
  int native = 0;             ///< The database's own number; SQLite's extended result code.
};

/// The one exception that tableq throws on purpose (beside std::bad_alloc).
///
/// `what()` reads `backend: operation: sentence`. The sentence begins with the name of the step
/// that failed, such as `connect: ` or `limits.read: `, where that is not the operation. It never
/// holds a statement's text, a payload, a header, a password or any other bound value.
class TABLEQ_EXPORT error : public std::runtime_error {
 public:
  /// For the library, and for tests of code that handles errors.
  /// @param sentence what went wrong and what to do about it, without a value of the user's.
  /// @param origin `what()` begins with its backend and operation, where they are not empty.
  error(errc code, tableq::advice advice, const std::string& sentence, error_origin origin = {});

  /// What went wrong: decide by this, not by the text of `what()`.
  [[nodiscard]] errc code() const noexcept { return code_; }
  /// The largest thing that is safe to repeat.
  [[nodiscard]] tableq::advice advice() const noexcept { return advice_; }
  /// The dialect's name: `postgresql`. Empty before a database is known.
  [[nodiscard]] const std::string& backend() const noexcept { return origin_.backend; }
  /// The operation that failed: `fifo.dequeue`, `connect`, `commit`. May be empty.
  [[nodiscard]] const std::string& operation() const noexcept { return origin_.operation; }
  /// The database's SQLSTATE, five characters. Empty where the database has none.
  [[nodiscard]] const std::string& sqlstate() const noexcept { return origin_.sqlstate; }
  /// The database's own number of the error. Zero: it gave none.
  [[nodiscard]] int native() const noexcept { return origin_.native; }

 private:
  errc code_;
  tableq::advice advice_;
  error_origin origin_;
};

}  // namespace tableq::inline v0
