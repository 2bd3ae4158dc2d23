#pragma once

#include <string>

namespace bench {

/// Whether another process of this program started this one, for a case with several processes.
bool is_child(int argc, char** argv);

/// Executes the order: waits for messages and reports the time of each, or moves as many as
/// possible. Reports on standard output; standard input begins and ends the work.
/// @return the exit status.
int run_child(const std::string& order);

}  // namespace bench
