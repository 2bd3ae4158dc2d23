#pragma once

/// @file
/// The seam between core and drivers. Private: it may change with any version. Only tableq::error
/// crosses it as an exception.

#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/options.hpp>
#include <tableq/unstable/dialect.hpp>

#include "core/seam/any_session.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/listener.hpp"
#include "core/seam/statement.hpp"
#include "core/seam/table_form.hpp"
#include "core/seam/value.hpp"

namespace tableq::inline v0::core {

class fault_plan;

/// A table that all queues of a catalogue share: its placeholder, and its name before the prefix.
struct shared_table {
  std::string_view placeholder;
  std::string_view name;
};

/// The floors exist from layout 2 of the catalogue on, those from `{schedules}` on from layout 3.
inline constexpr std::array<shared_table, 8> shared_tables{{{"{catalog}", "tableq_queues"},
                                                            {"{limits}", "tableq_limits"},
                                                            {"{floors}", "tableq_floors"},
                                                            {"{schedules}", "tableq_schedules"},
                                                            {"{batches}", "tableq_batches"},
                                                            {"{members}", "tableq_members"},
                                                            {"{quotas}", "tableq_group_limits"},
                                                            {"{starts}", "tableq_group_starts"}}};

/// The names for a text's placeholders. core/input/identifier checks them; the driver quotes them.
struct table_names {
  std::string schema = {};  ///< Empty: the session's default.
  std::string prefix = {};  ///< Of all tables.
  std::string table = {};   ///< With its prefix; empty for the catalogue's own statements.
  std::uint64_t slot = 0;   ///< A hash of the names, for caches.
  /// Identity of the queue that a handle was opened for; `:own_identity` in texts. Zero: no queue.
  std::int64_t identity = 0;
  int layout = 0;  ///< Of the queue's table. Zero: no queue.
  /// The tables are shards of a cluster, perhaps on another server than the called one.
  bool sharded = false;
  /// The texts are those of a queue whose groups take turns.
  bool by_turns = false;

  /// Whether texts are the same with the other's names.
  [[nodiscard]] bool same_tables(const table_names& other) const noexcept {
    return slot == other.slot && table == other.table && schema == other.schema &&
           prefix == other.prefix && sharded == other.sharded && by_turns == other.by_turns;
  }
};

/// A statement with its values.
struct statement_call {
  const contract* what = nullptr;  ///< Borrowed until the session ends.
  std::vector<value> shared = {};  ///< In the contract's order.
  std::vector<value> items = {};   ///< Item by item, each in the contract's order.
};

/// The state of a session's transaction in the client library; the server is not asked.
enum class transaction_status {
  none,  ///< No transaction is open, as far as the client library can see.
  open,
  failed,   ///< It can only be rolled back.
  unknown,  ///< The session is lost.
  closed,   ///< The session was closed, or connected again.
};

/// One session with a database. One thread at a time uses it.
class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  /// Runs one statement to its end. Only a transaction keeps its locks and cursors. Outside a
  /// transaction the statement commits; a batch is all or nothing.
  /// @param what borrowed until the session ends. @param shared in the contract's order.
  /// @param items item by item, each in the contract's order.
  /// @throws error errc::outcome_unknown when a writing statement outside a transaction lost the
  ///   session; errc::connection_lost in every other case of a lost session.
  virtual row_set execute(const contract& what, const table_names& names,
                          std::span<const value> shared, std::span<const value> items) = 0;

  /// Runs statements in one round trip: in the caller's open transaction, or in one of their own.
  /// Each sees what others had committed when it began.
  /// @param operation names them in errors.
  /// @return the rows of each. Empty: this session cannot, and nothing was run.
  /// @throws error errc::outcome_unknown when the session was lost.
  virtual std::optional<std::vector<row_set>> execute_together(
      std::string_view operation, const table_names& names,
      std::span<const statement_call> all) = 0;

  /// Runs the DDL of `part`: a kind's name, `catalog`, `concurrency`, or step_part::name.
  virtual void define(std::string_view part, const table_names& names) = 0;

  /// Begins a transaction that may write.
  virtual void begin() = 0;
  /// @throws error errc::outcome_unknown when the session was lost during the commit.
  virtual void commit() = 0;
  /// Never throws. A session that cannot roll back is no longer usable.
  virtual void rollback() noexcept = 0;

  /// Whether the session can be used for another unit of work: alive, and in no transaction. Asks
  /// only the client library, not the server.
  virtual bool usable() noexcept = 0;

  /// For the application's statements.
  virtual any_session session() noexcept = 0;
};

/// One database address.
class driver {
 public:
  /// @param pooled as endpoint::pooled.
  driver(std::string name, const tableq::capabilities& features, bool pooled = false)
      : name_(std::move(name)), capabilities_(features), pooled_(pooled) {}
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;
  virtual ~driver() = default;

  virtual std::unique_ptr<connection> connect() = 0;
  /// Uses a session of the caller, and leaves no state in it.
  /// @param keep_statements statements that add messages stay prepared while the object lives.
  virtual std::unique_ptr<connection> adopt(const any_session& callers, bool keep_statements) = 0;

  /// A listener for changes by other sessions; null if the database has no notifications.
  virtual std::unique_ptr<listener> listen() = 0;

  [[nodiscard]] const tableq::capabilities& capabilities() const noexcept { return capabilities_; }
  /// The dialect's name.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether its sessions keep no settings and locks beyond a transaction.
  [[nodiscard]] bool pooled() const noexcept { return pooled_; }

 private:
  std::string name_;
  tableq::capabilities capabilities_;
  bool pooled_;
};

/// Finds the driver for an address by its scheme. Defined by drivers/registry.cpp.
/// @param options its shortcuts and schema policy concern the sessions.
/// @param faults makes calls of its sessions fail, if not null.
/// @throws error errc::invalid_argument for an unknown scheme, key or value.
std::unique_ptr<driver> make_driver(std::string_view url, const open_options& options = {},
                                    std::shared_ptr<fault_plan> faults = nullptr);

/// Whether a session that the driver has adopted is connected to its database, as far as the client
/// library knows. Empty: only the servers can answer. Defined by drivers/registry.cpp.
std::optional<bool> reaches(driver& database, const connection& adopted);

/// Something that the driver's sessions could not find out about their place. Literals.
struct doubt {
  std::string_view what = {};  ///< Empty: none.
  std::string_view remedy = {};
};

/// The doubt that is left after the first session, such as the mode of a pooler. Defined by
/// drivers/registry.cpp.
doubt doubt_of(driver& database) noexcept;

/// Connects a closed session of the caller to the driver's database. Defined by
/// drivers/registry.cpp.
/// @throws error errc::invalid_argument when it is open, errc::unsupported when no other session
///   can reach the database.
void open_callers(driver& database, soci::session& session);

/// The state of the transaction of a driver's session in the client library. Defined by
/// drivers/registry.cpp.
transaction_status transaction_of(connection& session) noexcept;

/// Whether a driver's session is in a transaction, as far as the client library knows without
/// asking the server. Defined by drivers/registry.cpp.
bool seems_in_transaction(connection& session) noexcept;

/// The failure of a statement that the application ran through `session.session()`, by what it
/// threw. Empty: the exception is another one, and the session is not lost. Defined by
/// drivers/registry.cpp.
std::optional<error> failure_of_application(connection& session, const std::exception& thrown);

/// Prefixes of table names that some database reserves. The same for all, so that a queue's name is
/// valid everywhere. Defined by drivers/registry.cpp.
/// @return the prefix with which the table's name, or that of its indexes, would begin; empty for
///   none.
std::string_view reserved_beginning(std::string_view table) noexcept;

/// A dialect's DDL for `part` with the names filled in. Defined by drivers/registry.cpp.
std::string ddl_text(std::string_view dialect, std::string_view part, const table_names& names);

/// A part of a step between two layouts.
struct step_part {
  std::string name;    ///< For connection::define.
  bool alone = false;  ///< Its statements run outside a transaction.
  std::string text;    ///< With names filled in.
};

/// The parts of a dialect's step, in order; none if it changes no table. Defined by
/// drivers/registry.cpp.
/// @param step `2/pending`, or `2/pending.down`.
std::vector<step_part> step_parts(std::string_view dialect, std::string_view step,
                                  const table_names& names);

/// The statements between a dialect's begin and COMMIT, for a person to run. Defined by
/// drivers/registry.cpp.
std::string in_transaction_text(std::string_view dialect, std::string_view statements);

/// A block of a dialect's roles with the names and the user filled in, as statements that each end
/// with `;`. Defined by drivers/registry.cpp.
/// @throws error errc::unsupported where the dialect has no roles.
std::string role_text(std::string_view dialect, std::string_view block, const table_names& names,
                      std::string_view user);

/// A dialect's text of a statement that takes no items, with names and values written into it, for
/// a person to run. Values must be free of user data. Defined by drivers/registry.cpp.
std::string statement_text(std::string_view dialect, statement id, const table_names& names,
                           std::span<const value> shared);

/// A dialect's texts of a statement on a table of the application. Defined by drivers/registry.cpp.
/// @param block the template's name: `table.take`.
/// @throws error errc::unsupported when the dialect has no such templates.
table_texts table_texts_for(std::string_view dialect, std::string_view block,
                            const table_form& statement);

/// The texts of all statements of a dialect, whole, with names filled in, by name. Defined by
/// drivers/registry.cpp.
std::map<std::string, std::string> statement_texts(std::string_view dialect,
                                                   const table_names& names);

}  // namespace tableq::inline v0::core
