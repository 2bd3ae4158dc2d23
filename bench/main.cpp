#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cases.hpp"
#include "child.hpp"
#include "child_process.hpp"
#include "databases/databases.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "output.hpp"

namespace {

using bench::bench_case;
using bench::database_kind;
using bench::settings;

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

template <class Values>
bool among(const Values& values, const std::string& one) {
  return std::find(values.begin(), values.end(), one) != values.end();
}

std::vector<bench_case> chosen(const settings& how, const database_kind& kind) {
  std::vector<bench_case> out;
  for (bench_case& each : bench::all_cases()) {
    const bool wanted =
        how.cases.empty() ||
        std::any_of(how.cases.begin(), how.cases.end(), [&each](const std::string& pattern) {
          return bench::matches(pattern, each.name);
        });
    if (wanted && each.fits(kind)) out.push_back(std::move(each));
  }
  return out;
}

/// @return whether all cases succeeded.
bool run_all(const settings& how) {
  const database_kind& kind = bench::database_called(how.backend);
  const std::vector<bench_case> cases = chosen(how, kind);
  if (cases.empty()) throw std::runtime_error("no case of that name for " + how.backend);
  if (how.list) {
    for (const bench_case& each : cases) {
      std::cout << each.name << ": " << each.description << '\n';
    }
    return true;
  }
  std::vector<bench::child_process> busy;
  for (std::size_t i = 0; i < how.busy; ++i) busy.emplace_back(bench::json{{"do", "compute"}});
  bench::printer out(how);
  bool first = true;
  bool well = true;
  for (const std::string& mode : how.synchronous) {
    const std::unique_ptr<bench::raw_database> raw =
        kind.open(kind.address.empty() ? how.directory : how.address, mode);
    if (first) out.machine(bench::machine(how, *raw));
    first = false;
    for (const bench_case& each : cases) {
      if (!how.modes_given && !each.synchronous.empty() && !among(each.synchronous, mode)) continue;
      if (bench::interrupted()) return false;
      try {
        each.run({how, kind, *raw, mode}, out);
      } catch (const std::exception& failure) {
        std::cerr << each.name << ": " << failure.what() << '\n';
        well = false;
      }
    }
  }
  return well;
}

/// The cases and databases to measure.
void add_place(CLI::App& app, settings& how) {
  const auto each_kind = [](auto text) {
    std::vector<std::string> out;
    for (const database_kind& each : bench::databases()) out.push_back(text(each));
    return out;
  };
  const auto name = [](const database_kind& database) { return database.name; };
  const auto shown = [](const database_kind& database) {
    return database.description.empty() ? database.name
                                        : database.name + " (" + database.description + ")";
  };
  const auto server = [](const database_kind& database) {
    return database.name + ": " + (database.address.empty() ? "none" : database.address);
  };
  const auto modes = [](const database_kind& database) {
    return database.name + ": " + joined(database.modes, ", ");
  };
  app.add_option("backend", how.backend, joined(each_kind(shown), ", "))
      ->required()
      ->check(CLI::IsMember(each_kind(name)));
  app.add_option("--db", how.address, "The server. " + joined(each_kind(server), "; "));
  app.add_option("--directory", how.directory,
                 "Where a database without a server makes its files (the current one)");
  app.add_option("--synchronous", how.synchronous,
                 "Modes of commits. " + joined(each_kind(modes), "; "))
      ->allow_extra_args(false);
}

void add_options(CLI::App& app, settings& how) {
  add_place(app, how);
  app.add_option("--case", how.cases, "Only these; * stands for anything")->allow_extra_args(false);
  app.add_option("--seconds", how.seconds, "For each measurement")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str()
      ->take_last();
  app.add_option("--rounds", how.rounds, "How often both sides are measured")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->take_last();
  app.add_option("--threads", how.threads, "In the cases with many")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->take_last();
  app.add_option("--messages", how.messages, "In the cases that are about many messages")
      ->check(CLI::Range(1000, 1'000'000'000))
      ->capture_default_str()
      ->take_last();
  app.add_option("--busy", how.busy, "Processes that compute meanwhile")
      ->check(CLI::Range(0, 1024))
      ->take_last();
  app.add_option("--sessions", how.sessions, "open_options::max_sessions (its default)")
      ->take_last();
  app.add_option("--notifications", how.notifications,
                 "open_options::notifications, but for child processes")
      ->check(CLI::IsMember({"automatic", "send-only", "off"}))
      ->capture_default_str()
      ->take_last();
  app.add_flag("!--no-combining", how.shortcuts.combining, "Switch shortcuts::combining off");
  app.add_flag("!--no-spinning", how.shortcuts.spinning, "Switch shortcuts::spinning off");
  app.add_flag("!--no-floors", how.shortcuts.floors, "Switch shortcuts::floors off");
  app.add_flag("!--no-writers-line", how.shortcuts.writers_line,
               "Switch shortcuts::writers_line off");
  app.add_option("--json", how.json_file, "Append the results to this file, one object on a line");
  app.add_flag("--list", how.list, "Print the names of the cases and end");
}

}  // namespace

int main(int argc, char** argv) try {
  if (bench::is_child(argc, argv)) return bench::run_child(argv[2]);
  CLI::App app("Measures tableq beside the plain statements of the same database");
  settings how;
  bench::end_on_signals();
  how.directory = std::filesystem::current_path().string();
  add_options(app, how);
  CLI11_PARSE(app, argc, argv);
  how.directory = std::filesystem::absolute(how.directory).string();
  how.modes_given = !how.synchronous.empty();
  const database_kind& kind = bench::database_called(how.backend);
  if (!how.modes_given) how.synchronous = kind.usual_modes;
  for (const std::string& mode : how.synchronous) {
    if (among(kind.modes, mode)) continue;
    throw std::runtime_error("--synchronous takes " + joined(kind.modes, " or ") + " for " +
                             how.backend);
  }
  if (!kind.address.empty() && how.address.empty() && !how.list) {
    throw std::runtime_error("give --db " + kind.address);
  }
  return run_all(how) ? 0 : 1;
} catch (const std::exception& failure) {
  std::cerr << "tableq_bench: " << failure.what() << '\n';
  return 2;
}
