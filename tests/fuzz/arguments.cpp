// The command's arguments, one a line: accepted, or refused as wrong usage without any part of a
// payload. `ddl` runs, because it needs no database.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <tableq/error.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "fuzz/check.hpp"
#include "parse.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary

/// Only one command, so that an input does not cost the construction of all.
void add_one(CLI::App& app, tool::invocation& call, std::size_t number) {
  constexpr std::array adders{
      tool::add_create, tool::add_ddl,      tool::add_enqueue, tool::add_dequeue, tool::add_work,
      tool::add_peek,   tool::add_stats,    tool::add_list,    tool::add_top,     tool::add_get,
      tool::add_cancel, tool::add_priority, tool::add_dead,    tool::add_purge,   tool::add_pause,
      tool::add_resume, tool::add_limit,    tool::add_drop,    tool::add_doctor,  tool::add_bench};
  tool::add_connection_options(app, call.connection);
  app.require_subcommand(1);
  adders[number % adders.size()](app, call);
}

void read(const std::vector<std::string>& arguments, std::size_t number) {
  CLI::App app("fuzz", "tableq");
  tool::invocation call;
  add_one(app, call, number);
  try {
    if (tool::parse(app, call, arguments) && arguments.front() == "ddl") call.run();
  } catch (const tool::usage_error&) {
  } catch (const tableq::error&) {
  }
}

/// The index of a command's name among the adders; any index for other names.
std::size_t number_of(std::string_view name) {
  constexpr std::array<std::string_view, 20> names{
      "create", "ddl",    "enqueue", "dequeue", "work",     "peek", "stats",
      "list",   "top",    "get",     "cancel",  "priority", "dead", "purge",
      "pause",  "resume", "limit",   "drop",    "doctor",   "bench"};
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? name.size() : static_cast<std::size_t>(found - names.begin());
}

template <class Parse>
void tried(Parse parse) {
  try {
    parse();
  } catch (const tool::usage_error&) {  // Most texts are invalid.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Help is discarded.
  static const int nowhere = dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  static_cast<void>(nowhere);
  std::string_view rest = text_of(data, size);
  std::vector<std::string> arguments;
  while (!rest.empty() && arguments.size() < 30) arguments.emplace_back(next_line(rest));
  if (arguments.empty()) return 0;
  read(arguments, number_of(arguments.front()));
  const std::string& one = arguments.back();
  tried([&] {
    const auto time = tool::parse_duration("--x", one);
    must(time.count() >= 0 && time <= std::chrono::days{3650}, "a duration is in its range");
  });
  tried([&] {
    const auto number = tool::parse_number("--x", one, -5, 1000);
    must(number >= -5 && number <= 1000, "a number is in its range");
  });
  tried([&] { static_cast<void>(tool::parse_timestamp("--x", one)); });
  tried([&] {
    const auto [name, value] = tool::parse_assignment("--x", one);
    must(name + "=" + value == one, "an assignment is cut at its first sign");
  });
  return 0;
}
