#include <memory>
#include <string>
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

exit_status inspect(const connection_options& connection, const argument& mapping, bool as_json) {
  tableq::database db = connect(connection);
  std::vector<tableq::finding> all = db.inspect();
  if (mapping.given()) {
    for (tableq::finding& one : open_mapping(db, mapping.text()).inspect()) {
      all.push_back(std::move(one));
    }
  }
  output out;
  bool problems = false;
  std::vector<std::vector<std::string>> rows;
  for (const tableq::finding& one : all) {
    problems = problems || one.severity == tableq::finding::level::problem;
    const std::string level(to_string(one.severity));
    if (as_json) {
      out.line(
          json{{"level", level}, {"subject", one.subject}, {"what", one.what}, {"fix", one.fix}}
              .dump());
    }
    rows.push_back({level, one.subject, one.what});
    if (!one.fix.empty()) rows.push_back({"", "", "fix: " + one.fix});
  }
  if (!as_json) {
    for (const std::string& line : aligned(rows)) out.line(line);
  }
  out.flush();
  return problems ? exit_status::refused : exit_status::done;
}

}  // namespace

void add_doctor(CLI::App& app, invocation& call) {
  CLI::App& command =
      add_database_command(app, call, "doctor",
                           {.description = "Find problems that make queues slow or wrong",
                            .details = "Says how to repair them, and changes nothing.\n"
                                       "Exit status 3 for a problem, not for a warning.",
                            .usage = "[--mapping FILE] [--json]",
                            .examples = "  tableq doctor\n"
                                        "  tableq doctor --json | jq 'select(.level != \"ok\")'"});
  const auto as_json = std::make_shared<bool>(false);
  command.add_flag("--json", *as_json, "One object on each line");
  const auto mapping = std::make_shared<argument>(
      command, "--mapping", "FILE", "Also the table of the application that this JSON describes");
  command.callback([&call, mapping, as_json] {
    call.run = [&call, mapping, as_json] { return inspect(call.connection, *mapping, *as_json); };
  });
}

}  // namespace tool
