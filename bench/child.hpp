#pragma once

#include <string>

namespace bench {

/// Whether this process was started by another one of this program, for its cases with several
/// processes.
bool is_child(int argc, char** argv);

/// What the order says: wait for messages and tell when each came, or move as many as possible.
/// Answers on standard output, begins and ends with standard input. @return the exit status.
int run_child(const std::string& order);

}  // namespace bench
