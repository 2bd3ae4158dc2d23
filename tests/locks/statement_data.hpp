#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "locks/rows.hpp"

namespace tableq_test::locks {

enum class comparison { equal, not_equal, greater, not_greater };

/// `due_at<=now`: a column, a comparison, and a number or the name of a value of the call.
struct condition {
  column of = column::none;
  comparison is = comparison::equal;
  std::string value;
  std::optional<std::int64_t> number = {};
};

/// One line of statements.txt.
struct data_line {
  std::string verb;
  std::string table = {};
  std::string index = {};
  std::vector<std::string> hints = {};
  std::vector<condition> conditions = {};
  std::vector<condition> assignments = {};  ///< All are `=`.
  std::vector<std::string> how = {};

  [[nodiscard]] bool hinted(std::string_view hint) const;
  [[nodiscard]] bool is(std::string_view word) const;  ///< In `how`.
  /// Whether a read takes locks also under row versioning.
  [[nodiscard]] bool locks_rows() const;
};

struct statement_data {
  std::string name;
  std::vector<data_line> lines = {};
};

using all_statements = std::map<std::string, statement_data, std::less<>>;

/// What statements.txt says. @throws std::runtime_error for a line that it does not know.
all_statements parse_statements(const std::string& text);
/// The file beside this one, read once.
const all_statements& statements();

}  // namespace tableq_test::locks
