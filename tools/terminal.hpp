#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace tool {

/// Uses the whole terminal and redraws it: keys are read one by one and are not shown, and the
/// former content is back at the end. Standard input and output must be terminals.
///
/// @par Thread safety
/// Distinct objects: unsafe. Shared objects: unsafe. There is one terminal.
class full_screen {
 public:
  /// Both are terminals.
  [[nodiscard]] static bool possible();

  full_screen();
  ~full_screen();
  full_screen(const full_screen&) = delete;
  full_screen& operator=(const full_screen&) = delete;

  /// Shows as many lines as fit, each cut at the edge. The lines are ASCII.
  /// @param marked the number of the line that is shown in reverse.
  /// @throws output_error when the terminal is lost.
  void draw(const std::vector<std::string>& lines, std::size_t marked) const;

  /// The pressed key, without waiting; 0 for none.
  [[nodiscard]] char key() const;

 private:
  termios before_{};
};

}  // namespace tool
