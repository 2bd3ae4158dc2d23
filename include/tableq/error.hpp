#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <tableq/export.hpp>

namespace tableq::inline v0 {

/// The cause of an error. Expected outcomes (empty, lease lost, a key that is held) are values, not
/// errors, unless the caller asks for an error, as with on_duplicate::reject. The numbers never
/// change; later versions may add some.
enum class errc {
  invalid_argument = 1,      ///< The call itself is wrong, or made in a child of fork().
  not_found = 2,             ///< The queue, its table or the database's file does not exist.
  kind_mismatch = 3,         ///< The queue exists as another kind.
  options_mismatch = 4,      ///< It exists with another fixed option; what() names it.
  schema_mismatch = 5,       ///< A foreign table has the name, or the table differs.
  schema_too_new = 6,        ///< A newer tableq wrote the catalogue; use that version.
  connection_failed = 7,     ///< No session could be opened: host, password, database, file.
  connection_lost = 8,       ///< The session died; the statement has no lasting effect.
  outcome_unknown = 9,       ///< The session was lost in a change, which may have happened.
  busy = 10,                 ///< No lock or session was free within its time-out.
  conflict = 11,             ///< Deadlock or serialization: the transaction is undone.
  constraint_violated = 12,  ///< A constraint or a trigger of the table refused the row.
  permission_denied = 13,    ///< The user lacks a right on a table or schema.
  read_only = 14,            ///< The file, database or session accepts no writes.
  storage_full = 15,         ///< Disk, quota or log is full.
  too_large = 16,            ///< A payload is over the database's limit.
  not_a_database = 17,       ///< The file is something else, or damaged.
  duplicate_key = 18,        ///< Another message holds the key, with on_duplicate::reject.
  cancelled = 19,            ///< A time limit or cancel request ended statement or transaction.
  unsupported = 20,          ///< This database has no such feature: docs/drivers.md.
  queue_full = 21,           ///< The queue has reached its capacity; nothing was added.
  storage_failed = 22,       ///< The disk failed a read or a write; nothing changed.
  internal = 23,             ///< A result that no rule covers: please report it.
};

/// The largest unit that is safe to repeat after an error, from small to large.
enum class advice {
  never,        ///< A repetition would fail again, or might do the work twice.
  statement,    ///< The same call may be made again at once.
  transaction,  ///< The transaction is gone: run all of it again from its beginning.
  session,      ///< Open a new session first; tableq does so by itself on the next call.
};

/// The stable, lower-case name of a code, as the command prints it: `outcome_unknown`.
TABLEQ_EXPORT std::string_view to_string(errc value) noexcept;
/// The stable, lower-case name of an `advice`.
TABLEQ_EXPORT std::string_view to_string(advice value) noexcept;

/// The origin of an error. Every member may be empty or zero, but an error of an operation names
/// the operation, and the backend once the address is resolved.
struct error_origin {
  std::string backend = {};  ///< The dialect's name.
  /// The caller's operation: `fifo.dequeue`, `claim.take`, `open`, `connect`, `commit`, `work`.
  std::string operation = {};
  std::string sqlstate = {};  ///< Five characters, where the database has them.
  int native = 0;             ///< The database's own number; SQLite's extended result code.
};

/// The one exception that tableq throws on purpose (beside std::bad_alloc).
///
/// `what()` reads `backend: operation: sentence`. The sentence begins with the name of the step
/// that failed, such as `connect: ` or `limits.read: `, if that differs from the operation. It
/// never holds a statement's text, a payload, a header, a password or any other bound value.
///
/// A value: owns its texts, and depends on no database.
class TABLEQ_EXPORT error : public std::runtime_error {
 public:
  /// For the library, and for tests of error handling.
  /// @param sentence the cause and the remedy, without values of the user.
  /// @param origin `what()` begins with its backend and operation, where they are not empty.
  error(errc code, tableq::advice advice, const std::string& sentence, error_origin origin = {});

  /// The cause. Programs decide by it, not by the text of `what()`.
  [[nodiscard]] errc code() const noexcept { return code_; }
  /// The largest unit that is safe to repeat.
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
