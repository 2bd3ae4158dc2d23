#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/tds_server.hpp"

namespace tableq_test {

using named_values = std::map<std::string, tds_value, std::less<>>;

/// One of tableq's statements as received over the wire, parsed.
struct sqlserver_call {
  /// As in drivers/sqlserver/statements.sql: `fifo.enqueue`; `setup`; `begin`, `commit`,
  /// `rollback`; `ddl.fifo` for each part of a DDL text; `login`, `attention`. Otherwise the
  /// received text.
  std::string name = {};
  bool known = true;
  /// Of `{items: ...}`; 0 for a statement without items.
  std::size_t rows = 0;
  named_values shared = {};
  /// One for each of the rows.
  std::vector<named_values> items = {};
};

/// Throws when the copies of one value differ.
sqlserver_call read_call(const tds_request& asked);

/// `id payload:b`: without a letter a bigint; `i` an int, `n` nvarchar, `m` nvarchar(max), `u` the
/// same in TDS's own form, `b` varbinary(max).
std::vector<tds_column> columns_of(std::string_view names);
/// An answer with these columns.
inline tds_answer with_columns(std::string_view names) {
  return tds_answer().columns(columns_of(names));
}

inline constexpr std::string_view message_columns = "id created_at due_at payload:b";
inline constexpr std::string_view delivery_columns =
    "id fence attempts:i priority:i created_at claimed_at lease_until key:n group_key:n expired:i "
    "headers:m payload:b ready_at";

/// An SQL Server with a catalogue and the queues `heap`, `fifo`, `lifo`, `pending`, `claim`,
/// `strict_fifo`, `strict_lifo` and `grouped`, which answers only tableq's own texts. By default
/// every write succeeds, and every read is empty.
/// @par Thread safety Everything may be called from any thread.
class sqlserver_script {
 public:
  static std::int64_t identity_of(std::string_view queue);

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

}  // namespace tableq_test
