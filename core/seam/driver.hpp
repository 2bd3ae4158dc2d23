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
  /// A test's clock, `:now` in texts; null: the database's own decides.
  const testing::set_clock* clock = nullptr;
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

/// A statement with its values. Borrows all but the rows.
struct statement_call {
  const contract* what = nullptr;      ///< Until the session ends.
  std::span<const value> shared = {};  ///< In the contract's order.
  std::span<const value> items = {};   ///< Item by item, each in the contract's order.
  row_set rows = row_set();            ///< The result.
};

/// The state of a session's transaction.
enum class transaction_status {
  none,  ///< No transaction is open.
  open,
  failed,   ///< It can only be rolled back.
  unknown,  ///< The session is lost.
  closed,   ///< The session was closed, or connected again.
};

/// The source of the answer about the state of a transaction.
enum class asking {
  library,  ///< The client library.
  server,   ///< Also the server, if that may have ended the transaction by itself.
  reuse,    ///< As `server`; `unknown` if the session cannot be used for another unit of work.
};

enum class transaction_end { commit, rollback };

/// One session with a database. One thread at a time uses it.
class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  /// Runs statements to their end; several of them in the open transaction, or in one of their own,
  /// and in one round trip if the client library can. Each sees what others had committed when it
  /// began. Only a transaction keeps its locks and cursors. Outside a transaction they commit; a
  /// batch is all or nothing.
  /// @param operation names them in errors.
  /// @throws error errc::outcome_unknown when statements that change something lost the session
  ///   outside a transaction; errc::connection_lost in every other case of a lost session.
  virtual void run(std::string_view operation, const table_names& names,
                   std::span<statement_call> all) = 0;

  /// Runs one statement.
  row_set execute(const contract& what, const table_names& names, std::span<const value> shared,
                  std::span<const value> items) {
    statement_call one{.what = &what, .shared = shared, .items = items};
    run(what.name, names, {&one, 1});
    return std::move(one.rows);
  }

  /// Runs the DDL of `part`: a kind's name, `catalog`, `concurrency`, or step_part::name.
  virtual void define(std::string_view part, const table_names& names) = 0;

  /// Begins a transaction that may write.
  virtual void begin() = 0;
  /// Ends it. A rollback never throws: a session that cannot roll back is no longer usable.
  /// @throws error errc::outcome_unknown when the session was lost during the commit.
  virtual void end(transaction_end how) = 0;
  void commit() { end(transaction_end::commit); }
  void rollback() noexcept { end(transaction_end::rollback); }

  /// The state of its transaction.
  virtual transaction_status transaction(asking whom) noexcept = 0;
  /// Whether it can be used for another unit of work: alive, and in no transaction.
  bool usable() noexcept { return transaction(asking::reuse) == transaction_status::none; }

  /// Whether it is in a transaction, as far as the client library knows.
  bool seems_in_transaction() noexcept {
    const transaction_status now = transaction(asking::library);
    return now == transaction_status::open || now == transaction_status::failed;
  }

  /// For the application's statements.
  virtual any_session session() noexcept = 0;
};

/// Rolls back when it goes out of scope uncommitted.
class unit_of_work {
 public:
  explicit unit_of_work(connection& session) : session_(&session) { session.begin(); }
  unit_of_work(const unit_of_work&) = delete;
  unit_of_work& operator=(const unit_of_work&) = delete;
  ~unit_of_work() {
    if (session_ != nullptr) session_->rollback();
  }
  /// After a failed commit the destructor rolls back, if the session still can.
  void commit() {
    session_->commit();
    session_ = nullptr;
  }

 private:
  connection* session_;
};

/// A session of the caller.
struct callers_session {
  any_session session;
  bool keep_statements = false;  ///< Statements that add messages stay prepared in it.
};

/// One database address. Outlives its sessions and listeners.
class driver {
 public:
  /// @param pooled as endpoint::pooled.
  driver(std::string name, const tableq::capabilities& features, bool pooled = false)
      : name_(std::move(name)), capabilities_(features), pooled_(pooled) {}
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;
  virtual ~driver() = default;

  /// Opens a session; or uses the caller's, which outlives the result, and leaves no other state in
  /// it.
  /// @param theirs null: there is none.
  virtual std::unique_ptr<connection> connect(const callers_session* theirs) = 0;
  std::unique_ptr<connection> connect() { return connect(nullptr); }

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

// drivers/registry.cpp defines the functions below.

/// Finds the driver for an address by its scheme.
/// @param options its shortcuts and schema policy concern the sessions.
/// @param faults makes calls of its sessions fail, if not null.
/// @throws error errc::invalid_argument for an unknown scheme, key or value.
std::unique_ptr<driver> make_driver(std::string_view url, const open_options& options = {},
                                    std::shared_ptr<fault_plan> faults = nullptr);

/// Whether a session that the driver has adopted is connected to its database, as far as the client
/// library knows. Empty: only the servers can answer.
std::optional<bool> reaches(driver& database, const connection& adopted);

/// Something that the driver's sessions could not find out about their place. Literals.
struct doubt {
  std::string_view what = {};  ///< Empty: none.
  std::string_view remedy = {};
};

/// The doubt that is left after the first session, such as the mode of a pooler.
doubt doubt_of(driver& database) noexcept;

/// Connects a closed session of the caller to the driver's database.
/// @throws error errc::invalid_argument when it is open, errc::unsupported when no other session
///   can reach the database.
void open_callers(driver& database, soci::session& session);

/// The failure of a statement that the application ran through `session.session()`, by what it
/// threw. Empty: the exception is another one, and the session is not lost.
std::optional<error> failure_of_application(connection& session, const std::exception& thrown);

/// The session's call that waits for the server in another thread is lost at once, where the client
/// library can do that.
void give_up(connection& session) noexcept;

/// Prefixes of table names that some database reserves. The same for all, so that a queue's name is
/// valid everywhere.
/// @return the prefix with which the table's name, or that of its indexes, would begin; empty for
///   none.
std::string_view reserved_beginning(std::string_view table) noexcept;

/// A dialect's DDL for `part` with the names filled in.
std::string ddl_text(std::string_view dialect, std::string_view part, const table_names& names);

/// A part of a step between two layouts.
struct step_part {
  std::string name;    ///< For connection::define.
  bool alone = false;  ///< Its statements run outside a transaction.
  std::string text;    ///< With names filled in.
};

/// The parts of a dialect's step, in order; none if it changes no table.
/// @param step `2/pending`, or `2/pending.down`.
std::vector<step_part> step_parts(std::string_view dialect, std::string_view step,
                                  const table_names& names);

/// The statements between a dialect's begin and COMMIT, for a person to run.
std::string in_transaction_text(std::string_view dialect, std::string_view statements);

/// A block of a dialect's roles with the names and the user filled in, as statements that each end
/// with `;`.
/// @throws error errc::unsupported where the dialect has no roles.
std::string role_text(std::string_view dialect, std::string_view block, const table_names& names,
                      std::string_view user);

/// A dialect's text of a statement that takes no items, with names and values written into it, for
/// a person to run. Values must be free of user data.
std::string statement_text(std::string_view dialect, statement id, const table_names& names,
                           std::span<const value> shared);

/// A dialect's texts of a statement on a table of the application.
/// @param block the template's name: `table.take`.
/// @throws error errc::unsupported when the dialect has no such templates.
table_texts table_texts_for(std::string_view dialect, std::string_view block,
                            const table_form& statement);

/// The texts of all statements of a dialect, whole, with names filled in, by name.
std::map<std::string, std::string> statement_texts(std::string_view dialect,
                                                   const table_names& names);

}  // namespace tableq::inline v0::core
