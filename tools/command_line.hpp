#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.hpp"

namespace tool {

/// Offers every command.
void add_commands(CLI::App& app, invocation& call);

/// Reads what stands behind the program's name, and fills in `call`. What is wrong is thrown as
/// usage_error, without a word of the arguments.
/// @return false when nothing is left to do: help was asked for, and is written.
bool parse(CLI::App& app, invocation& call, const std::vector<std::string>& arguments);

}  // namespace tool
