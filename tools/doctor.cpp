#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "format.hpp"
#include "output.hpp"
#include "source.hpp"

namespace tool {

namespace {

struct doctor_arguments : arguments {
  using arguments::arguments;
  argument mapping{command, "--mapping", "FILE",
                   "Also the table of the application that this JSON describes"};
  flag as_json{command, "--json", "One object on each line, also of what is right"};
  flag verbose{command, "--verbose", "Also a line for each check that found nothing"};
};

/// Whether `database::inspect` tells of the mapping of this file.
bool knows_mapping(const tableq::database& db, const std::string& file) {
  const std::string given = to_json(read_mapping(file));
  return std::ranges::any_of(db.queues(), [&](const tableq::queue_info& each) {
    return each.table && to_json(*each.table) == given;
  });
}

exit_status inspect(const connection_options& connection, const doctor_arguments& given) {
  tableq::database db = connect(connection);
  tell_of_no_queues(db, connection);
  std::vector<tableq::finding> all = db.inspect();
  if (given.mapping.given() && !knows_mapping(db, given.mapping.text())) {
    for (tableq::finding& one : open_mapping(db, given.mapping.text()).inspect()) {
      constexpr std::string_view any = "MAPPING";
      const std::size_t at = one.fix.find(any);
      if (at != std::string::npos) one.fix.replace(at, any.size(), given.mapping.text());
      all.push_back(std::move(one));
    }
  }
  output out;
  bool problems = false;
  std::size_t unshown = 0;
  std::vector<std::vector<std::string>> rows;
  for (const tableq::finding& one : all) {
    problems = problems || one.severity == tableq::finding::level::problem;
    const std::string level(to_string(one.severity));
    if (given.as_json) {
      json object{{"level", level}};  // The severity's name in 0.2.0, for those who read that.
      object.update(finding_json(one));
      out.line(line_of(object));
    }
    if (one.severity == tableq::finding::level::ok && !given.verbose) {
      ++unshown;
      continue;
    }
    rows.push_back({level, one.subject, one.what});
    if (!one.fix.empty()) rows.push_back({"", "", "fix: " + one.fix});
  }
  if (!given.as_json) {
    for (const std::string& line : aligned(rows)) out.line(line);
    if (unshown > 0) out.line("ok: " + std::to_string(unshown) + " checks; --verbose shows them");
  }
  out.flush();
  return problems ? exit_status::refused : exit_status::done;
}

}  // namespace

void add_doctor(CLI::App& app, invocation& call) {
  add_database_command<doctor_arguments>(
      app, call, "doctor",
      {.description = "Find problems that make queues slow or wrong",
       .details = "Says how to repair them, and changes nothing.\n"
                  "Exit status 3 for a problem, not for a warning.",
       .usage = "[--mapping FILE] [--verbose | --json]",
       .examples = "  tableq doctor\n"
                   "  tableq doctor --json | jq 'select(.severity != \"ok\")'"},
      inspect);
}

}  // namespace tool
