#pragma once

/// @file
/// The databases as the tests see them. A test checks capabilities, never names.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

namespace soci {
class session;
}

namespace tableq_test {

/// A result as text; NULL is empty.
using row = std::vector<std::optional<std::string>>;
using rows = std::vector<row>;

/// Literals for the parameters of a statement, by name.
using parameters = std::map<std::string, std::string>;

/// Properties that decide which tests run on a database.
struct features {
  /// A second session, of this process or another, reaches the same place.
  bool shared = true;
  /// Two transactions may write at the same time.
  bool concurrent_writers = true;
  /// Tables live in named schemas.
  bool schemas = true;
  /// tableq reads the keys of addresses itself, or a client library that refuses unknown ones.
  bool checks_keys = true;
  /// Another backend reaches the same database through its own client library.
  bool second_way = false;
  /// The error of a transaction with an old snapshot differs from that of a lock.
  bool tells_stale_snapshots = true;
  /// A query shows a message that another open transaction has taken.
  bool shows_held_messages = true;
  /// The first id of a table is 1.
  bool ids_from_one = true;
  /// A change of rows returns a label of an enumeration as its text.
  bool returns_labels = true;
  /// tableq advises indexes of an application's table with a condition.
  bool partial_indexes = true;
  /// A child of fork() may open the place that its parent has open.
  bool children_open_it = true;
  /// A new session costs almost nothing, because there is no server.
  bool cheap_sessions = false;
  /// The tests enlist by the client library's own handle, not by a session of SOCI.
  bool handles = false;
  /// A user who may create in a schema may drop the tables of others there.
  bool schemas_own_tables = false;
  /// A statement that runs out of time leaves its session usable, and its effect is known.
  bool time_outs_are_known = true;
  /// A child of fork() closes its copies of the parent's connections.
  bool links_close_in_children = true;
  /// Rarely available: its absence is one skip, instead of hundreds.
  bool rare = false;
};

/// Addresses that must not work. A place has none if its database has no such addresses.
enum class bad_address {
  unreachable_host,
  wrong_password,
  missing_database,
  missing_directory,
  foreign_file,
  directory_as_file,
  empty,
};

/// An address, and the required answer of a session opened by it.
struct address_check {
  std::string url;
  std::string sql;
  std::string answer;
};

/// A user of the database with only the right to log in, and the address for that.
struct database_user {
  std::string name;
  std::string url;
};

/// A trigger that refuses a change of a table's row.
struct row_trigger {
  std::string_view table;
  std::string_view event;      ///< INSERT, UPDATE or DELETE.
  std::string_view condition;  ///< On OLD or NEW.
  bool silent = false;         ///< Without an error.
};

/// The types of an application's columns, in the words of a database. All take texts as literals: a
/// flag '0' and '1', a time '2024-01-31 12:00:00'.
struct column_types {
  std::string guid;
  std::string flag;
  std::string time;
  std::string text;
  std::string numbered;  ///< A primary key whose values the database makes.
};

/// An isolated place for one test, removed with the object.
class place {
 public:
  place() = default;
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  virtual ~place() = default;

  [[nodiscard]] virtual std::string url() const = 0;
  /// The address with one more setting: `url_with("busy_timeout", "1ms")`.
  [[nodiscard]] virtual std::string url_with(std::string_view key,
                                             std::string_view value) const = 0;
  /// A setting with a short wait for locks in the database.
  [[nodiscard]] virtual std::string impatient_url() const = 0;
  /// An address whose commits return before they are on the disk; empty if there is none.
  [[nodiscard]] virtual std::optional<std::string> hasty_url() const { return {}; }
  /// The same, or an address like any other.
  [[nodiscard]] std::string quick_url() const { return hasty_url().value_or(url()); }
  /// Other addresses of the same place.
  [[nodiscard]] virtual std::vector<std::string> other_forms() const = 0;
  [[nodiscard]] virtual std::vector<address_check> session_checks() const = 0;
  /// Settings with a known key and a value that makes no sense.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> bad_settings() const = 0;
  [[nodiscard]] virtual std::optional<std::string> bad_url(bad_address which) const = 0;

  /// Runs plain SQL as a client without tableq, in its own session, which stays open.
  virtual rows sql(const std::string& text) = 0;
  /// The caller's own SOCI session.
  [[nodiscard]] virtual std::unique_ptr<soci::session> session() const = 0;
  /// The same with an option of the client library that tableq refuses; null if it has none.
  [[nodiscard]] virtual std::unique_ptr<soci::session> refused_session() const;

  /// Locks and transactions of tableq's sessions in this place, as text; empty without any. Only
  /// while no test session has a transaction open.
  [[nodiscard]] virtual std::optional<std::string> held() = 0;
  /// The result of the database's own check of its files; empty if they are sound, or need none.
  [[nodiscard]] virtual std::optional<std::string> damage() { return {}; }
  /// Ends the session with that id, as an administrator does; empty if sessions cannot be ended
  /// from outside. The id comes from `session_id_sql`.
  [[nodiscard]] virtual std::optional<std::string> session_id_sql() const { return {}; }
  virtual void end_session(const std::string& id) { static_cast<void>(id); }
  /// A query for the ids of tableq's listening sessions, and one for the number of all its
  /// sessions; empty if it listens without a session, or not at all.
  [[nodiscard]] virtual std::optional<std::string> listening_sql() const { return {}; }
  [[nodiscard]] virtual std::optional<std::string> session_count_sql() const { return {}; }
  /// Statements for a session in its own new transaction, after which the database refuses to
  /// change rows that others change later; none if it never refuses.
  [[nodiscard]] virtual std::vector<std::string> conflict_setup() const = 0;
  /// Statements that begin a transaction and block all other writers of the table.
  [[nodiscard]] virtual std::string begin_with_lock(std::string_view table) const = 0;
  /// Runs a function in the next commit of any session of this process, before it is done. False:
  /// this database cannot.
  virtual bool in_next_commit(std::function<void()> /*what*/) { return false; }
  /// A query that counts leftovers in a caller's session; empty if sessions cannot report them.
  [[nodiscard]] virtual std::optional<std::string> leftovers_sql() const { return {}; }

  /// The address of another server of a cluster with the same tables; url() without a cluster.
  [[nodiscard]] virtual std::string other_url() { return url(); }
  /// Moves the tables to another server of the cluster while sessions use them.
  /// @return false without a cluster.
  virtual bool move() { return false; }

  /// Runs `check` with a read-only address of the place, perhaps in a child process without rights.
  /// @return the result of check: zero for success.
  virtual int run_read_only(const std::function<int(const std::string& url)>& check) = 0;

  /// A schema other than the default one, made for this place; empty without schemas.
  [[nodiscard]] virtual std::optional<std::string> other_schema() { return {}; }
  /// A statement that creates an empty temporary table in a session, which hides the table of that
  /// name in statements without a schema; empty if there is no such table.
  [[nodiscard]] virtual std::optional<std::string> shadow_sql(std::string_view table) const;
  /// A statement after which a session finds tables in other schemas; empty if that is fixed.
  [[nodiscard]] virtual std::optional<std::string> look_elsewhere_sql() const { return {}; }
  /// Makes functions with these names, and operators, in the schema that sessions search: for all
  /// types of arguments that the database's own ones take only as others. Each fails when it is
  /// used. False: this database has no such functions.
  virtual bool overload(const std::vector<std::string>& /*functions*/) { return false; }
  /// The address of a user without the right to create tables; empty if the database has no users.
  [[nodiscard]] virtual std::optional<std::string> url_without_ddl_rights() { return {}; }
  /// A new user with each call; empty if the database has no users.
  [[nodiscard]] virtual std::optional<database_user> new_user() { return {}; }
  /// The address of a new database whose texts have this encoding; empty if all have the same.
  [[nodiscard]] virtual std::optional<std::string> url_in_encoding(
      const std::string& /*encoding*/) {
    return {};
  }
  /// Gives a user a setting for all new sessions, `name = value`, or a limit of sessions. False:
  /// this database has no such settings.
  virtual bool role_setting(const std::string& /*user*/, const std::string& /*setting*/) {
    return false;
  }
  /// From then on the table shows no row to users without a policy. False: no database of this kind
  /// can.
  virtual bool hide_rows(const std::string& /*table*/) { return false; }
  virtual bool limit_sessions(const std::string& /*user*/, int /*most*/) { return false; }

  [[nodiscard]] virtual std::string bytes_literal(std::string_view bytes) const = 0;
  /// The plain SQL form of a text as a payload.
  [[nodiscard]] virtual std::string text_payload(std::string_view text) const;
  [[nodiscard]] virtual column_types types() const = 0;
  /// Types with a default of the time, and whether that is a local time that is read as UTC.
  [[nodiscard]] virtual std::vector<std::pair<std::string, bool>> time_defaults() const = 0;
  /// A sub-query `numbers` with one column `n`, from 1 to count.
  [[nodiscard]] virtual std::string numbers(std::int64_t count) const = 0;
  /// Adds rows to a table. An expression among the values may use `n`, from 1 to count.
  virtual void insert_many(std::string_view table, const std::string& columns,
                           const std::string& values, std::int64_t count);
  /// An INSERT into a queue's table that names the id.
  [[nodiscard]] virtual std::string insert_with_id(std::string_view into,
                                                   const std::string& columns,
                                                   const std::string& values) const {
    return "INSERT INTO " + std::string(into) + " (id, " + columns + ") VALUES (" + values + ")";
  }
  /// Gives a column of an application's table another name.
  virtual void rename_column(const std::string& of, const std::string& from,
                             const std::string& to) {
    sql("ALTER TABLE " + of + " RENAME COLUMN " + from + " TO " + to);
  }
  /// The type of a text of so many characters, of any language.
  [[nodiscard]] virtual std::string short_text(int characters) const {
    return "VARCHAR(" + std::to_string(characters) + ")";
  }
  /// From then on the table refuses a message whose first 400 bytes equal those of another.
  virtual void forbid_equal_payloads(std::string_view table);
  /// From then on a trigger of the table refuses each message, with an error that quotes it. False:
  /// this database cannot.
  virtual bool quote_payloads_in_errors(std::string_view table);
  /// The same for a trigger that looks for something that is named like the payload.
  virtual bool use_payloads_as_names(std::string_view table);
  /// False: this database cannot.
  virtual bool add_trigger(const row_trigger& /*wanted*/) { return false; }
  /// From then on a trigger of the table refuses an UPDATE or DELETE of messages whose payload
  /// begins so. False: triggers of this database break the statements.
  bool refuse(std::string_view table, const std::string& change, const std::string& beginning);
  /// From then on `sql` writes rows that the checks of a queue's table refuse.
  virtual void lift_checks(std::string_view table) = 0;
  /// Whether the database accepts it.
  bool takes(const std::string& text);
  /// A query for the names of the indexes of a table, except that of its primary key.
  [[nodiscard]] virtual std::string index_names(std::string_view table) const = 0;
  virtual void drop_index(std::string_view table, const std::string& index);
  /// Brings the planner's statistics up to date.
  virtual void analyze() = 0;
  /// The parameter form of a batch of one integer, for a statement with items.
  [[nodiscard]] virtual std::string one_item(std::int64_t value) const = 0;
  /// The same for a text without quotes.
  [[nodiscard]] virtual std::string one_text_item(std::string_view text) const {
    return "'" + std::string(text) + "'";
  }
  /// A key or group in the table's form, without quotes.
  [[nodiscard]] virtual std::string key_literal(std::string_view key) const {
    return "'" + std::string(key) + "'";
  }
  /// The plans of a statement with `:name` parameters, as a session that has it prepared would
  /// choose them.
  [[nodiscard]] virtual std::string explain(const std::string& text, const parameters& with) = 0;
  /// The parts of a plan whose cost grows with the table; empty for a good one.
  /// @param in_key_order the statement walks the table along its primary key until its LIMIT, which
  ///   some databases print as a scan.
  [[nodiscard]] virtual std::optional<std::string> complaint(const std::string& plan,
                                                             bool in_key_order) const = 0;
  /// Runs a statement, rolls it back, and counts its work: pages or machine steps. If prepared
  /// statements keep their plans, the plan of the first run stays for the next ones.
  [[nodiscard]] virtual std::int64_t work_of(const std::string& text, const parameters& with) = 0;
};

/// A database that the tests can run on.
class backend {
 public:
  backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend() = default;

  /// Only for the parameter's print and the list of required backends.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual features can() const = 0;
  /// The reason why it cannot be used in this run; empty when it can.
  [[nodiscard]] virtual std::optional<std::string> missing() const = 0;
  [[nodiscard]] virtual std::unique_ptr<place> fresh() const = 0;
};

/// Every backend of this build, usable or not.
const std::vector<const backend*>& built_backends();
/// Those that tests run on or skip; rare ones only where their address is given.
const std::vector<const backend*>& all_backends();
/// Those by the database's own client library: for tests of what core does with results.
const std::vector<const backend*>& direct_backends();
/// Those whose places can be reached by more than one session.
const std::vector<const backend*>& shared_backends();
/// Those, and each again for `ground::enlist` by the client library's own handle.
const std::vector<const backend*>& enlisting_backends();
/// Of the shared ones, one for each database: for tests that do not depend on the transport.
const std::vector<const backend*>& distinct_backends();
/// Whether TABLEQ_TEST_REQUIRE, a comma-separated list, names it.
bool required(const backend& which);
/// The names in TABLEQ_TEST_REQUIRE that this run does not have.
std::vector<std::string> required_in_vain();

}  // namespace tableq_test
