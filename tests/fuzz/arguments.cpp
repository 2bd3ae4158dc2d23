// The command's arguments, one a line: read, or refused as wrong usage without a word of a payload.
// What `ddl` makes of them is written, because it needs no database.

#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include <tableq/error.hpp>

#include "command_line.hpp"
#include "exit_status.hpp"
#include "fuzz/check.hpp"
#include "parse.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary

void read(const std::vector<std::string>& arguments) {
  CLI::App app("fuzz", "tableq");
  tool::invocation call;
  tool::add_commands(app, call);
  try {
    if (tool::parse(app, call, arguments) && arguments.front() == "ddl") call.run();
  } catch (const tool::usage_error&) {
  } catch (const tableq::error&) {
  }
}

template <class Parse>
void tried(Parse parse) {
  try {
    parse();
  } catch (const tool::usage_error&) {  // Most texts are none.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Help goes nowhere.
  static const int nowhere = dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  static_cast<void>(nowhere);
  std::string_view rest = text_of(data, size);
  std::vector<std::string> arguments;
  while (!rest.empty() && arguments.size() < 30) arguments.emplace_back(next_line(rest));
  if (arguments.empty()) return 0;
  read(arguments);
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
