#include <csignal>
#include <cstdlib>
#include <iostream>

#include "first/place.hpp"

/// The parts of scripts/first_sqlserver.sh. The address is in TABLEQ_TEST_SQLSERVER, because
/// arguments can be seen by others.
///
///     tableq_first_sqlserver run REPORT SCHEMA SECONDS  exit status 3: no server was reached
///     tableq_first_sqlserver lines REPORT STEP         the lines of standard input
///     tableq_first_sqlserver note REPORT STEP TEXT
///     tableq_first_sqlserver clean REPORT SCHEMA
///     tableq_first_sqlserver end REPORT
///     tableq_first_sqlserver reads_address             exit status 0: yes
///     tableq_first_sqlserver may_answer_later          exit status 0: yes
///     tableq_first_sqlserver may_create_databases      exit status 0: yes

namespace {

using namespace tableq_test::first;  // NOLINT(google-build-using-namespace): the program's own
                                     // names

/// @return false: no server was reached.
bool run_all(report& to, const place& on) {
  to.step("connection");
  bool reached = false;
  to.attempt("connection", [&] { reached = report_connection(to, on); });
  if (!reached) return false;
  struct part {
    const char* name;
    void (*run)(report&, const place&);
  };
  for (const part& each : {part{"server", report_server}, part{"tables", create_queues},
                           part{"doctor", report_doctor}, part{"statements", run_statements},
                           part{"batches", end_batches}, part{"concurrency", run_concurrently},
                           part{"speed", compare_speed}, part{"layouts", compare_layouts}}) {
    if (interrupted) {
      to.note("interrupted");
      return true;
    }
    to.step(each.name);
    to.attempt(each.name, [&] { each.run(to, on); });
  }
  return true;
}

int act(const std::vector<std::string>& words) {
  const char* url = std::getenv("TABLEQ_TEST_SQLSERVER");
  const tableq_test::sqlserver_address at(url == nullptr ? "" : url);
  const auto word = [&](std::size_t i) { return words.at(i); };
  const std::string deed = word(0);
  const place nowhere{.at = at, .schema = {}, .time = {}};
  if (deed == "reads_address") return at.connection_string().empty() ? 1 : 0;
  if (deed == "may_answer_later") return may_answer_later(nowhere) ? 0 : 1;
  if (deed == "may_create_databases") return may_create_databases(nowhere) ? 0 : 1;
  report to(word(1), at);
  if (deed != "note" && deed != "end") hide_names(to, nowhere);
  if (deed == "run") {
    const auto time = std::chrono::seconds(std::stoi(word(3)));
    if (!run_all(to, {.at = at, .schema = word(2), .time = time})) return 3;
  } else if (deed == "lines") {
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
