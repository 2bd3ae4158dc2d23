#pragma once

#include <fstream>
#include <string>

#include "settings.hpp"

namespace bench {

/// Prints a row for each result, and writes it as a line of JSON if a file was given.
class printer : public recorder {
 public:
  explicit printer(const settings& how);

  void record(const bed& where, json result) override;
  /// The conditions of the results: the first line.
  void machine(const json& about);

 private:
  void line(const json& object);

  std::ofstream file_;
  bool headed_ = false;
};

}  // namespace bench
