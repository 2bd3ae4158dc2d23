#include "command_line.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "output.hpp"

namespace tool {

std::string version() {
  return "tableq " + std::to_string(TABLEQ_VERSION_MAJOR) + "." +
         std::to_string(TABLEQ_VERSION_MINOR) + "." + std::to_string(TABLEQ_VERSION_PATCH);
}

namespace {

/// Arguments after the first `--` are for the command; the others for CLI11, last one first.
std::vector<std::string> split_arguments(const std::vector<std::string>& arguments,
                                         std::optional<std::vector<std::string>>& tail) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) tail.emplace(mark + 1, arguments.end());
  for (auto one = arguments.begin(); one != mark; ++one) {
    // CLI11 would take the next argument for the missing value.
    if (one->starts_with("--") && one->find('=') == one->size() - 1) {
      throw usage_error(*one + " has no value");
    }
  }
  return {std::make_reverse_iterator(mark), std::make_reverse_iterator(arguments.begin())};
}

/// A word as commands and options are written here.
bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 24 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
}

/// `--leese` of `--leese=5m`: the word of a mistyped option.
bool looks_like_option(std::string_view word) {
  return is_word(word) && word.size() > 2 && word.starts_with("--");
}

/// A mistyped command, or none.
std::string missing_command(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  const bool word = !extras.empty() && is_word(extras.front()) && !extras.front().starts_with("-");
  return word ? "there is no command " + extras.front() : "no command is given";
}

/// Not another argument itself, as CLI11 would: it may hold a payload or an address.
std::string words_on_extra(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return "an argument is one too many";
  std::string word = extras.front().substr(0, extras.front().find('='));
  if (looks_like_option(word)) return word + " is no option of this command";
  const auto found = std::find(arguments.rbegin(), arguments.rend(), extras.front());
  const bool option = extras.front().starts_with("-");
  return (found == arguments.rend() ? "an argument"
                                    : "argument " + std::to_string(arguments.rend() - found)) +
         (option
              ? " is no option of this command"
              : " is one too many: quotes hold words together, and -- begins a payload or command");
}

}  // namespace

void add_commands(CLI::App& app, invocation& call) {
  add_connection_options(app, call.connection);
  app.set_version_flag("--version", version(), "Print the version");
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 nothing there, 2 wrong usage, 3 no such queue, or the database "
      "refused or did\nnot answer.\n"
      "Put a password into TABLEQ_DB, not into --db: the process list shows --db to other users.\n"
      "`tableq COMMAND --help` shows examples.\n\n"
      "Examples:\n"
      "  export TABLEQ_DB=sqlite://jobs.db\n"
      "  tableq create fifo mail\n"
      "  tableq enqueue mail 'hello'\n"
      "  tableq dequeue mail");
  add_create(app, call);
  add_enqueue(app, call);
  add_dequeue(app, call);
#if !defined(_WIN32)  // They start programs, or use a whole terminal.
  add_work(app, call);
  add_top(app, call);
#endif
  add_take(app, call);
  add_settlements(app, call);
  add_looks(app, call);
  add_messages(app, call);
  add_wait(app, call);
  add_dead(app, call);
  add_batch(app, call);
  add_purge(app, call);
  add_limits(app, call);
  add_alter(app, call);
  add_every(app, call);
  add_schedules(app, call);
  add_drop(app, call);
  add_doctor(app, call);
  add_migrate(app, call);
  add_move(app, call);
#ifdef TABLEQ_WITH_SERVE
  add_serve(app, call);
#endif
  add_bench(app, call);
  add_completion(app, call);
}

bool parse(CLI::App& app, invocation& call, const std::vector<std::string>& arguments) {
  try {
    app.parse(split_arguments(arguments, call.tail));
  } catch (const CLI::CallForHelp&) {
    output out;
    out.write(app.help());
    out.flush();
    return false;
  } catch (const CLI::CallForVersion&) {
    output out;
    out.line(version());
    out.flush();
    return false;
  } catch (const CLI::ExtrasError&) {
    throw usage_error(words_on_extra(app, arguments) + "; see --help");
  } catch (const CLI::RequiredError& failure) {
    const bool command = std::string(failure.what()).find("subcommand") != std::string::npos;
    throw usage_error(command ? missing_command(app) + "; --help lists the commands"
                              : std::string(failure.what()) + "; see --help");
  } catch (const CLI::ParseError& failure) {
    const std::string why = failure.what();
    const std::size_t twice = why.find(": At Most 1 ");
    throw usage_error(
        (twice == std::string::npos ? why : why.substr(0, twice) + " is given twice") +
        "; see --help");
  }
  if (call.tail && !call.takes_tail) throw usage_error("this command takes no arguments after --");
  return true;
}

}  // namespace tool
