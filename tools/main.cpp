#include <exception>
#include <new>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tableq/tableq.hpp>

#include "command_line.hpp"
#include "exit_status.hpp"
#include "output.hpp"
#include "streams.hpp"

namespace {

using tool::exit_status;
using tool::invocation;

exit_status run(const std::vector<std::string>& arguments) {
  CLI::App app("Durable queues in the SQL database that you already have", "tableq");
  invocation call;
  tool::add_commands(app, call);
  return tool::parse(app, call, arguments) ? call.run() : exit_status::done;
}

exit_status run_reporting(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const tool::usage_error& failure) {
    tool::complain(failure.what());
    return exit_status::usage;
  } catch (const tableq::error& failure) {
    // SQLite has no users.
    const bool no_right = failure.code() == tableq::errc::permission_denied &&
                          !failure.backend().empty() && failure.backend() != "sqlite";
    tool::complain(tool::sentence_of(failure) +
                   (no_right ? "; an administrator grants a role: tableq ddl --grant" : ""));
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
  return static_cast<int>(run_reporting(tool::arguments_of(argc, argv)));
}
