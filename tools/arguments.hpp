#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "connection.hpp"
#include "exit_status.hpp"

namespace tool {

/// One option or positional, with its text exactly as typed. CLI11's own conversions would drop
/// empty values and split `[a,b]`.
class argument {
 public:
  argument(CLI::App& command, const std::string& name, const std::string& shown,
           const std::string& description);

  argument& required();
  /// May be given more than once, each time with its name.
  argument& repeatable();
  /// A positional that takes all remaining arguments.
  argument& many();

  [[nodiscard]] bool given() const { return option_->count() > 0; }
  /// The text, or nothing when it was not given.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::vector<std::string>& all() const { return option_->results(); }

 private:
  CLI::Option* option_;
};

/// The result of parsing the command line.
struct invocation {
  connection_options connection;
  /// The arguments after `--`, unchanged; empty without `--`.
  std::optional<std::vector<std::string>> tail;
  /// Commands that take such arguments set it.
  bool takes_tail = false;
  /// The command itself, run after all arguments are parsed.
  std::function<exit_status()> run;
};

/// The help of a command, besides its options.
struct command_help {
  std::string description;  ///< One line, for the list of all commands too.
  std::string details;      ///< Lines, or empty.
  std::string usage;        ///< The arguments after the command's name.
  std::string examples;
};

CLI::App& add_command(CLI::App& parent, const std::string& name, const command_help& help);

/// As above, with the options of the database; for every command except groups of commands.
CLI::App& add_database_command(CLI::App& parent, invocation& call, const std::string& name,
                               const command_help& help);

/// Adds the options of the database.
void add_connection_options(CLI::App& command, connection_options& options);

/// Adds --prefix and --schema, which `ddl` needs without a database.
void add_naming_options(CLI::App& command, connection_options& options);

/// Refuses an option that is not allowed here: usage_error when it was given.
void refuse(const argument& option, const std::string& name, const std::string& why);

}  // namespace tool
