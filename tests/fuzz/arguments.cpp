// The command's arguments, one a line: accepted, or refused as wrong usage without any part of a
// payload. `ddl` runs, because it needs no database.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/error.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "fuzz/check.hpp"
#include "parse.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary

/// The commands of one file of `tools`, by the names of one of them.
constexpr std::array<std::pair<std::string_view, void (*)(CLI::App&, tool::invocation&)>, 13>
    adders{{{"create ddl", tool::add_create},
            {"enqueue", tool::add_enqueue},
            {"dequeue", tool::add_dequeue},
            {"work", tool::add_work},
            {"peek stats list", tool::add_looks},
            {"top", tool::add_top},
            {"get cancel ready priority", tool::add_messages},
            {"dead redrive", tool::add_dead},
            {"purge", tool::add_purge},
            {"pause resume limit", tool::add_limits},
            {"drop", tool::add_drop},
            {"doctor", tool::add_doctor},
            {"bench", tool::add_bench}}};

void read(const std::vector<std::string>& arguments, std::size_t number) {
  CLI::App app("fuzz", "tableq");
  tool::invocation call;
  // Only the commands of one file, so that an input does not cost the construction of all.
  tool::add_connection_options(app, call.connection);
  app.require_subcommand(1);
  adders[number % adders.size()].second(app, call);
  try {
    if (tool::parse(app, call, arguments) && arguments.front() == "ddl") call.run();
  } catch (const tool::usage_error&) {
  } catch (const tableq::error&) {
  }
}

/// The index of a command's name among the adders; any index for other names.
std::size_t number_of(std::string_view name) {
  const auto found = std::find_if(adders.begin(), adders.end(), [&](const auto& each) {
    return each.first.find(name) != std::string_view::npos;
  });
  return found == adders.end() ? name.size() : static_cast<std::size_t>(found - adders.begin());
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
