#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "support/backend.hpp"
#include "support/seed.hpp"

namespace tableq_test {

/// Random SQL literals that a foreign client may write into a queue's table, as far as the table
/// allows.
class garbage {
 public:
  /// @param table of a queue of this kind. @param random borrowed.
  garbage(place& in, std::string table, tableq::kind kind, random_source& random)
      : in_(in), table_(std::move(table)), kind_(kind), random_(random) {}

  /// The payload of its rows, unless that is garbage too.
  static constexpr std::string_view payload = "garbage";

  /// Adds a row. @return whether the table took it.
  [[nodiscard]] bool insert();
  /// Changes some of its rows. @return whether the table took it.
  [[nodiscard]] bool change();

 private:
  [[nodiscard]] std::string any_column();
  [[nodiscard]] std::string literal_for(const std::string& column);
  [[nodiscard]] std::string any_number();
  [[nodiscard]] std::string any_text();
  [[nodiscard]] std::string any_json();

  place& in_;
  std::string table_;
  tableq::kind kind_;
  random_source& random_;
};

}  // namespace tableq_test
