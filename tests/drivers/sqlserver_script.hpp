#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/options.hpp>

#include "support/tds_script.hpp"

namespace tableq_test {

using named_values = std::map<std::string, tds_value, std::less<>>;

/// One of tableq's statements as received over the wire, parsed.
struct sqlserver_call {
  /// As in drivers/sqlserver/statements.sql: `fifo.enqueue`; `setup`; `begin`, `commit`,
  /// `rollback`; `ddl.fifo` for each part of a DDL text; `login`, `attention`. Otherwise the
  /// received text.
  std::string name = {};
  bool known = true;
  /// The text has the hints that pin its plan.
  bool hinted = true;
  /// Of `{items: ...}`; 0 for a statement without items.
  std::size_t rows = 0;
  named_values shared = {};
  /// That of the queue of the caller's handle, if it is sent.
  tds_value own_identity = {};
  /// One for each of the rows.
  std::vector<named_values> items = {};
};

/// Throws when the copies of one value differ.
sqlserver_call read_call(const tds_request& asked);

struct scripted_queue {
  std::string_view name;
  tableq::kind kind;
  std::string_view options;
  std::int64_t identity;
};

/// An SQL Server with a catalogue and the queues `heap`, `fifo`, `lifo`, `pending`, `claim`,
/// `strict_fifo`, `strict_lifo` and `kept` (a claim queue that keeps), which answers only tableq's
/// own texts. By default every write succeeds, and every read is empty.
/// @par Thread safety Everything may be called from any thread.
class sqlserver_script {
 public:
  static const scripted_queue& queue(std::string_view name);

  /// The answer to the next statement of that name; several are used up in their order.
  void once(std::string_view name, const tds_answer& answer);
  /// The answer to each statement of that name, instead of the usual one.
  void always(std::string_view name, const tds_answer& answer);

  /// For a server. Borrows the script.
  tds_script handlers();

 private:
  tds_answer answer(const tds_request& asked);

  std::mutex guard_;
  std::map<std::string, std::deque<tds_answer>, std::less<>> once_;  // under guard_
  std::map<std::string, tds_answer, std::less<>> always_;            // under guard_
};

/// The column heads of answers with rows.
namespace sqlserver_rows {
tds_answer messages();
tds_answer deliveries();
tds_answer deliveries_by_turns();
tds_answer stored();
/// The same, each with its item.
tds_answer stored_items();
tds_answer added();
tds_answer limits();
tds_answer locked_limits();
}  // namespace sqlserver_rows

}  // namespace tableq_test
