#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include <tableq/message.hpp>

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
  /// `--lease`, as errors name it.
  [[nodiscard]] std::string name() const { return option_->get_name(); }
  /// The text, or nothing when it was not given.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::vector<std::string>& all() const { return option_->results(); }

  /// A time of at least `least`, or `otherwise` when it was not given. @throws usage_error, as all.
  [[nodiscard]] std::chrono::milliseconds duration(std::chrono::milliseconds otherwise = {},
                                                   std::chrono::milliseconds least = {}) const;
  /// A whole number of a text that was given.
  [[nodiscard]] std::int64_t number(std::int64_t least, std::int64_t most) const;
  /// A number from 1 to `most`, or `otherwise` when it was not given.
  [[nodiscard]] std::size_t count(std::size_t otherwise, std::size_t most) const;

  /// Replaces `to`, if it was given.
  /// @param read makes the value of the name and the text, as functions of parse.hpp do.
  template <class Value, class Read>
  void store(Value& to, Read read) const {
    if (given()) to = read(name(), text());
  }
  template <class Value>
  void store(Value& to) const {
    if (given()) to = text();
  }

 private:
  CLI::Option* option_;
};

/// `NAME=VALUE` of each. @throws usage_error, also for a name that is given twice.
tableq::headers parse_headers(const argument& given);

/// An option without a value.
class flag {
 public:
  flag(CLI::App& command, const std::string& name, const std::string& description)
      : option_(command.add_flag(name, description)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): it is read as a variable
  operator bool() const { return option_->count() > 0 && option_->as<bool>(); }

 private:
  CLI::Option* option_;
};

/// The base of structs of arguments, which name `command` in each.
struct arguments {
  explicit arguments(CLI::App& of) : command(of) {}
  CLI::App& command;
};

/// The arguments of a command on one queue.
struct queue_argument : arguments {
  using arguments::arguments;
  argument queue = argument(command, "QUEUE", "", "The queue").required();
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

/// The command runs `run(connection, given)`; or `run(call, given)`, which gets the arguments after
/// `--`.
template <class Given, class Run>
void on_command(CLI::App& command, invocation& call, Run run) {
  const auto given = std::make_shared<Given>(command);
  command.callback([&call, given, run] {
    if constexpr (std::is_invocable_v<Run, const invocation&, const Given&>) {
      call.takes_tail = true;
      call.run = [&call, given, run] { return run(call, *given); };
    } else {
      call.run = [&call, given, run] { return run(call.connection, *given); };
    }
  });
}
template <class Given, class Run>
void add_database_command(CLI::App& parent, invocation& call, const std::string& name,
                          const command_help& help, Run run) {
  on_command<Given>(add_database_command(parent, call, name, help), call, run);
}

/// Adds the options of the database.
void add_connection_options(CLI::App& command, connection_options& options);

/// Adds --prefix and --schema, which `ddl` needs without a database.
void add_naming_options(CLI::App& command, connection_options& options);

/// The number of given options that are not the database's.
std::size_t options_given(const CLI::App& command);

/// Refuses an option that is not allowed here: usage_error when it was given.
void refuse(const argument& option, const std::string& why);

/// Refuses given options whose descriptions begin with other kinds: `fifo and lifo: exact order`.
void refuse_misfits(const CLI::App& command, const std::string& kind);

}  // namespace tool
