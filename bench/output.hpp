#pragma once

#include <fstream>
#include <string>

#include "settings.hpp"

namespace bench {

/// Prints a row for each result, and writes it as a line of JSON where that was asked for.
class printer : public recorder {
 public:
  explicit printer(const settings& how);

  void record(const bed& where, json result) override;
  /// What the results depend on: the line before all others.
  void machine(const json& about);

 private:
  void line(const json& object);

  std::ofstream file_;
  bool headed_ = false;
};

}  // namespace bench
