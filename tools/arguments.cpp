#include "arguments.hpp"

#include <algorithm>
#include <memory>

#include "parse.hpp"

namespace tool {

namespace {

const char* const of_database = "Database";

class help_formatter : public CLI::Formatter {
 public:
  explicit help_formatter(command_help help) : help_(std::move(help)) { column_width(28); }

  std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    return help_.details + (help_.details.empty() ? "" : "\n") + "\nUsage: " + name + " " +
           help_.usage + "\n";
  }

  std::string make_footer(const CLI::App* app) const override {
    const auto options = app->get_options([](const CLI::Option* each) {
      return each->get_type_name().find("TIME") != std::string::npos;
    });
    return (options.empty() ? ""
                            : "A TIME has a unit: 500ms, 30s, 5m, 2h, 7d; at most 3650d.\n\n") +
           Formatter::make_footer(app);
  }

 private:
  command_help help_;
};

void add_text(CLI::App& command, const std::string& name, std::string& target,
              const std::string& shown, const std::string& description) {
  command
      .add_option_function<std::string>(
          name,
          [&target, name](const std::string& text) {
            // Not the database of the environment instead.
            if (name == "--db" && text.empty()) throw usage_error("--db is empty: give it a URL");
            target = text;
          },
          description)
      ->type_name(shown)
      ->group(of_database);
}

}  // namespace

argument::argument(CLI::App& command, const std::string& name, const std::string& shown,
                   const std::string& description)
    : option_(command.add_option(name)) {
  option_->type_name(shown)->description(description);
}

argument& argument::required() {
  option_->required();
  return *this;
}

argument& argument::repeatable() {
  option_->expected(-1)->allow_extra_args(false)->take_all();
  return *this;
}

argument& argument::many() {
  option_->expected(-1)->take_all();
  return *this;
}

std::string argument::text() const {
  return given() ? option_->results().front() : std::string();
}

std::chrono::milliseconds argument::duration(std::chrono::milliseconds otherwise,
                                             std::chrono::milliseconds least) const {
  return given() ? parse_duration(name(), text(), least) : otherwise;
}

std::int64_t argument::number(std::int64_t least, std::int64_t most) const {
  return parse_number(name(), text(), least, most);
}

std::size_t argument::count(std::size_t otherwise, std::size_t most) const {
  if (!given()) return otherwise;
  return static_cast<std::size_t>(number(1, static_cast<std::int64_t>(most)));
}

tableq::headers parse_headers(const argument& given) {
  tableq::headers out;
  for (const std::string& each : given.all()) {
    if (!out.insert(parse_assignment(given.name(), each)).second)
      throw usage_error(given.name() + " gives one name twice");
  }
  return out;
}

CLI::App& add_command(CLI::App& parent, const std::string& name, const command_help& help) {
  CLI::App& command = *parent.add_subcommand(name, help.description);
  command.formatter(std::make_shared<help_formatter>(help));
  command.footer("Examples:\n" + help.examples);
  return command;
}

CLI::App& add_database_command(CLI::App& parent, invocation& call, const std::string& name,
                               const command_help& help) {
  CLI::App& command = add_command(parent, name, help);
  add_connection_options(command, call.connection);
  return command;
}

void add_connection_options(CLI::App& command, connection_options& options) {
  add_text(command, "--db", options.url, "URL",
           "The database: sqlite://FILE, postgresql://USER@HOST/NAME or\n"
           "sqlserver://USER@HOST/NAME; or TABLEQ_DB in the environment");
  add_naming_options(command, options);
  command.add_flag("--verify-only", options.verify_only, "Never create tables")->group(of_database);
}

void add_naming_options(CLI::App& command, connection_options& options) {
  add_text(command, "--prefix", options.prefix, "TEXT", "The prefix of all table names");
  add_text(command, "--schema", options.schema, "NAME", "The schema of the tables");
}

std::size_t options_given(const CLI::App& command) {
  return command
      .get_options([](const CLI::Option* each) {
        return each->count() > 0 && !each->get_positional() && each->get_group() != of_database;
      })
      .size();
}

void refuse(const argument& option, const std::string& why) {
  if (option.given()) throw usage_error(option.name() + " " + why);
}

void refuse_misfits(const CLI::App& command, const std::string& kind) {
  const auto given = [](const CLI::Option* option) { return option->count() > 0; };
  for (const CLI::Option* each : command.get_options(given)) {
    const std::string& text = each->get_description();
    const std::string kinds = text.substr(0, std::min(text.find(':'), text.size()));
    const bool restricted =
        kinds.size() < text.size() &&
        kinds.find_first_not_of("abcdefghijklmnopqrstuvwxyz ") == std::string::npos;
    if (restricted && kinds.find(kind) == std::string::npos) {
      throw usage_error(each->get_name() + " is for " + kinds + " only");
    }
  }
}

}  // namespace tool
