#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "output.hpp"

namespace {

using tool::exit_status;
using tool::invocation;

std::string version() {
  return "tableq " + std::to_string(TABLEQ_VERSION_MAJOR) + "." +
         std::to_string(TABLEQ_VERSION_MINOR) + "." + std::to_string(TABLEQ_VERSION_PATCH);
}

void add_commands(CLI::App& app, invocation& call) {
  tool::add_connection_options(app, call.connection);
  app.set_version_flag("--version", version(), "Print the version and end");
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 nothing there, 2 wrong usage, 3 the database refused.\n"
      "A password is better kept in TABLEQ_DB than in --db, which others see in the process list.\n"
      "`tableq COMMAND --help` shows examples.\n\n"
      "Examples:\n"
      "  export TABLEQ_DB=sqlite://jobs.db\n"
      "  tableq create fifo mail\n"
      "  tableq enqueue mail 'hello'\n"
      "  tableq dequeue mail");
  tool::add_create(app, call);
  tool::add_enqueue(app, call);
  tool::add_dequeue(app, call);
  tool::add_work(app, call);
  tool::add_peek(app, call);
  tool::add_stats(app, call);
  tool::add_top(app, call);
  tool::add_list(app, call);
  tool::add_get(app, call);
  tool::add_cancel(app, call);
  tool::add_priority(app, call);
  tool::add_dead(app, call);
  tool::add_purge(app, call);
  tool::add_pause(app, call);
  tool::add_resume(app, call);
  tool::add_limit(app, call);
  tool::add_drop(app, call);
  tool::add_doctor(app, call);
  tool::add_bench(app, call);
  tool::add_ddl(app, call);
}

/// What stands behind the first `--` is for the command; the rest for CLI11, last one first.
std::vector<std::string> split_arguments(const std::vector<std::string>& arguments,
                                         std::optional<std::vector<std::string>>& tail) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) tail.emplace(mark + 1, arguments.end());
  for (auto one = arguments.begin(); one != mark; ++one) {
    // CLI11 would take the next argument for the missing value.
    if (one->starts_with("--") && one->find('=') == one->size() - 1) {
      throw tool::usage_error(*one + " has no value");
    }
  }
  return {std::make_reverse_iterator(mark), std::make_reverse_iterator(arguments.begin())};
}

/// @return false when nothing is left to do: help was asked for.
bool parse(CLI::App& app, invocation& call, const std::vector<std::string>& arguments) {
  try {
    app.parse(split_arguments(arguments, call.tail));
  } catch (const CLI::CallForHelp&) {
    tool::output out;
    out.write(app.help());
    out.flush();
    return false;
  } catch (const CLI::CallForVersion&) {
    tool::output out;
    out.line(version());
    out.flush();
    return false;
  } catch (const CLI::ExtrasError&) {
    // Its own text would repeat the arguments, and a payload or an address may be among them.
    throw tool::usage_error("an unknown option or one argument too many; see --help");
  } catch (const CLI::RequiredError& failure) {
    const bool command = std::string(failure.what()).find("subcommand") != std::string::npos;
    throw tool::usage_error(command ? "give one of the commands that --help lists"
                                    : std::string(failure.what()) + "; see --help");
  } catch (const CLI::ParseError& failure) {
    throw tool::usage_error(std::string(failure.what()) + "; see --help");
  }
  if (call.tail && !call.takes_tail)
    throw tool::usage_error("this command takes nothing behind --");
  return true;
}

exit_status run(const std::vector<std::string>& arguments) {
  CLI::App app("Durable queues in the SQL database that you already have", "tableq");
  invocation call;
  add_commands(app, call);
  return parse(app, call, arguments) ? call.run() : exit_status::done;
}

exit_status run_reporting(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const tool::usage_error& failure) {
    tool::complain(failure.what());
    return exit_status::usage;
  } catch (const tableq::error& failure) {
    tool::complain(failure.what());
    return tool::status_of(failure);
  } catch (const std::bad_alloc&) {
    tool::complain("out of memory");
  } catch (const std::exception& failure) {
    tool::complain(failure.what());
  }
  return exit_status::refused;
}

}  // namespace

int main(int argc, char** argv) {
  tool::prepare_standard_streams();
  return static_cast<int>(run_reporting({argv + 1, argv + argc}));
}
