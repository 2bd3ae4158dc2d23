#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/tds_gate.hpp"
#include "support/tds_request.hpp"

namespace tableq_test {

/// Types of columns in an answer. All may be NULL.
enum class tds_type { integer, bigint, nvarchar, nvarchar_max, varbinary, varbinary_max };

struct tds_column {
  std::string name;
  tds_type type = tds_type::bigint;
  /// Of `nvarchar` and `varbinary`, in units; 0: the longest, 4000 or 8000.
  std::uint16_t size = 0;
};

enum class tds_change { begun, committed, rolled_back };

/// The parts of an answer, in the order of sending.
namespace tds_step {
struct columns {
  std::vector<tds_column> of;
};
struct row {
  std::vector<tds_value> values;
  /// Only this number of its bytes.
  std::optional<std::size_t> bytes = {};
};
struct affected {
  std::int64_t rows = 0;
};
struct message {
  bool error = false;
  std::int32_t number = 0;
  std::string text;
  std::uint8_t severity = 0;
  std::uint8_t state = 1;
};
struct transaction {
  tds_change change = tds_change::begun;
};
struct wait {
  tds_gate gate;
};
struct cut {};
}  // namespace tds_step

/// The answer of a scripted TDS server to one request, built from left to right:
///
///     tds_answer().columns({{"id", tds_type::bigint}}).row({7}).error(1205, "deadlock")
///
/// An empty answer means: done.
class tds_answer {
 public:
  using step = std::variant<tds_step::columns, tds_step::row, tds_step::affected, tds_step::message,
                            tds_step::transaction, tds_step::wait, tds_step::cut>;

  /// Begins a result; one that is open ends here.
  tds_answer& columns(std::vector<tds_column> of);
  /// Throws when the values do not fit the columns.
  tds_answer& row(std::vector<tds_value> values);
  /// The end of a statement without a result, with the number of affected rows.
  tds_answer& affected(std::int64_t rows);
  tds_answer& info(std::int32_t number, std::string_view text);
  /// Ends a result that is open.
  tds_answer& error(std::int32_t number, std::string_view text, std::uint8_t severity = 16,
                    std::uint8_t state = 1);
  /// The server's report of the transaction, as after BEGIN TRAN or a deadlock.
  tds_answer& transaction(tds_change change);
  /// Continues when the gate is open. Meanwhile the client has all earlier parts.
  tds_answer& wait(const tds_gate& gate);
  /// Closes the connection. The client has all earlier parts.
  tds_answer& cut();
  /// Closes the connection in the middle of a row, after this number of its bytes.
  tds_answer& cut_in_row(std::vector<tds_value> values, std::size_t bytes);
  /// Closes the connection after this number of bytes of the answer, packet headers included.
  tds_answer& cut_after_bytes(std::size_t bytes);

  [[nodiscard]] const std::vector<step>& steps() const { return steps_; }
  [[nodiscard]] std::optional<std::size_t> byte_limit() const { return byte_limit_; }
  [[nodiscard]] bool has_error() const;

 private:
  void check(const std::vector<tds_value>& values) const;

  std::vector<step> steps_;
  std::vector<tds_column> columns_;
  std::optional<std::size_t> byte_limit_;
};

}  // namespace tableq_test
