#pragma once

#include <string>

namespace bench {

/// Whether another process of this program started this one, for a case with several processes.
bool is_child(int argc, char** argv);

/// Obeys the order: waits for messages and reports when each came, or moves as many as possible.
/// Answers on standard output, begins and ends with standard input.
/// @return the exit status.
int run_child(const std::string& order);

}  // namespace bench
