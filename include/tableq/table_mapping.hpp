#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tableq/options.hpp>

namespace tableq::inline v0 {

/// A value of a state column: a number or a text.
using state_value = std::variant<std::int64_t, std::string>;

/// How a table tells which of its rows wait.
///
/// Made by `every_row`, `flag`, `null_time` or `states`. A column of type boolean has the values 0
/// and 1.
struct table_state {
  /// The forms.
  enum class form {
    every_row,  ///< Each row waits; a take deletes it.
    flag,       ///< A column with two numbers.
    time,       ///< A time that is NULL while the row waits.
    states,     ///< A column with a value for each state.
  };
  form is = form::every_row;              ///< The form.
  std::string column = {};                ///< Empty: every_row.
  state_value waiting = std::int64_t{0};  ///< Of rows that wait.
  state_value taken = std::int64_t{1};    ///< Of rows that a take has handed out.
  std::optional<state_value> done = {};   ///< Of completed rows. Empty: see table_mapping::done.
  std::optional<state_value> dead = {};   ///< Of rows after their last attempt. Empty: as taken.
};

/// Each row waits; a take deletes it.
[[nodiscard]] inline table_state every_row() {
  return {};
}
/// A number tells it: `flag("IsProcessed")` is 0 while the row waits, and a take sets 1.
[[nodiscard]] inline table_state flag(std::string column, std::int64_t waiting = 0,
                                      std::int64_t taken = 1) {
  return {.is = table_state::form::flag,
          .column = std::move(column),
          .waiting = waiting,
          .taken = taken};
}
/// A time tells it: NULL while the row waits; a take sets the time of the take.
[[nodiscard]] inline table_state null_time(std::string column) {
  return {.is = table_state::form::time, .column = std::move(column)};
}
/// The values of `states`.
struct state_names {
  state_value waiting;                   ///< Of rows that wait.
  state_value taken;                     ///< Of rows that a take has handed out.
  std::optional<state_value> done = {};  ///< Of completed rows, with on_complete::mark.
  std::optional<state_value> dead = {};  ///< Of rows after their last attempt. Empty: as taken.
};
/// A column has a value for each state: `states("State", {.waiting = "new", .taken = "busy"})`.
[[nodiscard]] inline table_state states(std::string column, state_names values) {
  return {.is = table_state::form::states,
          .column = std::move(column),
          .waiting = std::move(values.waiting),
          .taken = std::move(values.taken),
          .done = std::move(values.done),
          .dead = std::move(values.dead)};
}

/// A column by which takes are ordered.
struct order_by {
  std::string column;       ///< Its name.
  bool descending = false;  ///< Greatest first.
};

/// The effect of `complete` on the row.
enum class on_complete {
  remove,  ///< Deletes it.
  mark,    ///< Sets table_mapping::done, or table_state::done.
  leave,   ///< Leaves it as the take has set it, and ends its lease. `stats` then counts no dead
           ///< rows, but for those of table_state::dead.
};

/// The meaning of the columns of an application's table; see `database::table`.
///
/// Names are compared exactly first, then without case: one mapping serves databases that fold
/// names differently. Times of columns without a time zone are UTC; an integer column has
/// milliseconds since 1970.
struct table_mapping {
  /// The columns of a unique index. Needed unless the take deletes the row. No row with NULL there
  /// is taken.
  std::vector<std::string> key = {};
  table_state waiting = {};          ///< Which rows wait.
  std::vector<order_by> order = {};  ///< Of takes. Empty: by the key.
  /// With `strict`, takes of all processes go one after the other and skip no locked row. While a
  /// take's transaction is open, the next take waits for its end, as long as for any lock; so does
  /// `enqueue`, where a database has several writers. The order is exact if all handles that take
  /// are strict and have the same key. It is that of takes: a row that is failed or released, or
  /// whose lease ends, comes back in its place in the order, behind rows that were taken meanwhile.
  /// Other writers, such as plain inserts, do not wait: a row that they commit late comes late. The
  /// price: threads of one process do not share a take, and no take runs beside another one. Needs
  /// `order` or `key`.
  tableq::ordering ordering = tableq::ordering::relaxed;
  /// The columns that a take and a peek return. Empty: all.
  std::vector<std::string> columns = {};
  std::string schema = {};  ///< Of the table. Empty: where the session looks.

  std::string taken_at = {};     ///< Set to the time of the last take. Empty: none.
  std::string lease_until = {};  ///< The end of the lease, or NULL. Empty: a take is for good.
  std::string fence = {};        ///< An integer of 64 bits that grows with each take. Empty: none.
  std::string attempts = {};     ///< Counts takes. Empty: none.
  std::string last_error = {};   ///< Text of the last failure. Empty: none.
  /// Text of all failures, the newest first, each on lines of its own. Keeps 8,000 characters, or
  /// as many as the column has room for; the oldest text is lost. Another column than that of
  /// `last_error`. Empty: none.
  std::string errors = {};
  std::string due_at = {};    ///< No take before this time; NULL: at once. Empty: none.
  std::string priority = {};  ///< An integer; higher comes first, before `order`. Empty: none.
  /// Another column that tells that a row is completed: flag or null_time.
  std::optional<table_state> done = {};

  /// The effect of `complete`. Empty: `mark` if `done`, or a state, tells that a row is completed;
  /// otherwise `remove`.
  std::optional<on_complete> completed = {};
  /// After this number of attempts a failed row is dead: it stays taken, without a lease. Needs
  /// `attempts`, and that another column than `lease_until` tells what waits. Empty: no end.
  std::optional<int> max_attempts = {};
  /// The length of a lease whose take gives none, 1 ms to 365 days.
  std::chrono::milliseconds lease = std::chrono::seconds(30);
};

/// The guarantee that the columns of a mapping can carry.
struct table_guarantee {
  bool at_least_once = false;  ///< A lease brings back what nobody completed. False: at most once.
  bool fenced = false;         ///< A late settlement cannot affect a later take.
  bool ends = false;           ///< A row that always fails is dead after its last attempt.
  bool settles = false;        ///< Rows can be completed, failed and released.
  std::string words = {};      ///< The same as sentences.
};

}  // namespace tableq::inline v0
