#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "locks/lock_table.hpp"
#include "locks/rows.hpp"
#include "locks/statement_data.hpp"

namespace tableq_test::locks {

/// What a caller gives, by names.
using values = std::map<std::string, std::int64_t, std::less<>>;

/// One execution of a statement. A value that is not given is NULL, and changes nothing in an
/// update.
struct call {
  std::string statement;
  values given = {};
  std::vector<values> items = {};
};

/// What one operation of the library sends between BEGIN and COMMIT.
struct transaction {
  std::string name;
  std::vector<call> calls;
};

enum class order { none, first_in_first_out, last_in_first_out };

/// What may differ between two servers, or between two plans of one text.
struct conditions_of_run {
  bool versions = false;    ///< READ_COMMITTED_SNAPSHOT.
  bool row_by_row = false;  ///< A plan changes each row before it reads the next one.
  order strict = order::none;
  std::int64_t concurrency = 0;  ///< The limit of leases; 0: none.
  bool by_turns = false;         ///< The queue's groups take turns.
};

/// A transaction of the application that failed, and is rolled back.
struct failed_transaction : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One transaction at work.
struct participant {
  int number = 0;
  const transaction* work = nullptr;
  std::string statement = {};  ///< The one that runs.
  std::int64_t counted = 0;    ///< By the last look.
  std::int64_t newest = 0;     ///< In the plain table when the statement began.
  std::vector<table_rows::undo> undo = {};
  std::set<std::pair<std::string, std::int64_t>> changed = {};  ///< Tables and ids.
  std::vector<std::int64_t> dequeued = {};
  std::vector<std::int64_t> added = {};
};

/// The tables, the locks and what was found wrong. Time stands still at `now`.
struct world {
  world(const all_statements& of, const conditions_of_run& given);

  [[nodiscard]] table_rows& table(const std::string& statement, const std::string& name);
  /// The data of a statement: of two texts that of the queue at hand.
  /// @throws std::runtime_error when there are none.
  [[nodiscard]] const statement_data& data_of(const std::string& statement) const;
  /// The name of the table behind `table` in a statement: each kind of queue has one.
  static std::string table_name(const std::string& statement, const std::string& name);
  void commit(participant& who);
  void roll_back(participant& who);
  void find(const std::string& what) { findings.insert(what); }
  /// Called for each message that a destructive read removes, before it does.
  void check_order(const participant& who, std::int64_t id);

  const all_statements& texts;
  conditions_of_run is;
  std::map<std::string, table_rows> tables = {};
  lock_table locks = {};
  std::int64_t next_id = 100;
  std::set<std::string> findings = {};

 private:
  void check_commit(const participant& who);

  std::int64_t last_dequeued_ = 0;  // committed, of the strict queue
};

inline constexpr std::int64_t now = 100;

}  // namespace tableq_test::locks
