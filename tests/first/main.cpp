#include <csignal>
#include <cstdlib>
#include <iostream>

#include "first/place.hpp"

/// The parts of scripts/first_sqlserver.sh. The address is in TABLEQ_TEST_SQLSERVER, because
/// arguments can be seen by others.
///
///     tableq_first_sqlserver run REPORT SCHEMA SECONDS  exit status 3: no server was reached;
///                                                      4: the suites can have no databases
///     tableq_first_sqlserver lines REPORT STEP         the lines of standard input
///     tableq_first_sqlserver note REPORT STEP TEXT
///     tableq_first_sqlserver clean REPORT SCHEMA
///     tableq_first_sqlserver end REPORT

namespace {

using namespace tableq_test::first;  // NOLINT(google-build-using-namespace): the program's own
                                     // names

/// @return the exit status.
int run_all(report& to, const place& on) {
  to.step("connection");
  bool reached = false;
  to.attempt("connection", [&] { reached = report_connection(to, on); });
  if (!reached) return 3;
  struct part {
    const char* name;
    void (*run)(report&, const place&);
  };
  for (const part& each :
       {part{"server", report_server}, part{"tables", create_queues}, part{"doctor", report_doctor},
        part{"statements", run_statements}, part{"layouts", compare_layouts}}) {
    if (interrupted) {
      to.note("interrupted");
      return 0;
    }
    to.step(each.name);
    to.attempt(each.name, [&] { each.run(to, on); });
  }
  bool may_create = false;
  to.attempt("databases", [&] { may_create = may_create_databases(on); });
  return may_create ? 0 : 4;
}

int act(const std::vector<std::string>& words) {
  const char* url = std::getenv("TABLEQ_TEST_SQLSERVER");
  const tableq_test::sqlserver_address at(url == nullptr ? "" : url);
  const auto word = [&](std::size_t i) { return words.at(i); };
  static_cast<void>(at.connection_string());  // Refuses what the library cannot read either.
  const std::string deed = word(0);
  report to(word(1), at);
  if (deed == "lines" || deed == "clean") hide_names(to, {.at = at, .schema = {}, .time = {}});
  if (deed == "run") {
    return run_all(to,
                   {.at = at, .schema = word(2), .time = std::chrono::seconds(std::stoi(word(3)))});
  }
  if (deed == "lines") {
    to.step(word(2));
    for (std::string line; std::getline(std::cin, line);) {
      // As googletest names a failed test behind its output.
      const bool failed = line.starts_with("[  FAILED  ] ") && line.ends_with(" ms)");
      failed ? to.finding(line) : to.note(line.substr(0, 300));
    }
  } else if (deed == "note") {
    to.step(word(2));
    to.note(word(3));
  } else if (deed == "clean") {
    to.step("clean up");
    const place on{.at = at, .schema = word(2), .time = {}};
    to.attempt("clean up: the schema " + on.schema + " may be left", [&] { clean_up(to, on); });
  } else if (deed == "end") {
    to.end();
  } else {
    std::cerr << "tableq_first_sqlserver: unknown: " << deed << '\n';
    return 2;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const auto stop = [](int) { interrupted = true; };
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  try {
    return act({arguments + 1, arguments + count});
  } catch (const std::exception& failure) {
    // The address is never in it: the client's failures have no words of the driver.
    std::cerr << "tableq_first_sqlserver: " << failure.what() << '\n';
    return 2;
  }
}
