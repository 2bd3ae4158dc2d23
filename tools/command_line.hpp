#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.hpp"

namespace tool {

/// `tableq 1.2.3`
std::string version();

/// Adds every command.
void add_commands(CLI::App& app, invocation& call);

/// Parses the program's arguments, and fills in `call`. Throws usage_error, whose text repeats no
/// argument.
/// @return false if nothing is left to do: the help was requested and written.
bool parse(CLI::App& app, invocation& call, const std::vector<std::string>& arguments);

}  // namespace tool
