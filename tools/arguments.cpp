#include "arguments.hpp"

#include <memory>

namespace tool {

namespace {

class help_formatter : public CLI::Formatter {
 public:
  explicit help_formatter(command_help help) : help_(std::move(help)) { column_width(28); }

  std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    return help_.details + (help_.details.empty() ? "" : "\n") + "\nUsage: " + name + " " +
           help_.usage + "\n";
  }

 private:
  command_help help_;
};

void add_text(CLI::App& command, const std::string& name, std::string& target,
              const std::string& shown, const std::string& description) {
  command
      .add_option_function<std::string>(
          name, [&target](const std::string& text) { target = text; }, description)
      ->type_name(shown)
      ->group("Database");
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
  command.add_flag("--verify-only", options.verify_only, "Never create tables")->group("Database");
}

void add_naming_options(CLI::App& command, connection_options& options) {
  add_text(command, "--prefix", options.prefix, "TEXT", "The prefix of all table names");
  add_text(command, "--schema", options.schema, "NAME", "The schema of the tables");
}

void refuse(const argument& option, const std::string& name, const std::string& why) {
  if (option.given()) throw usage_error(name + " " + why);
}

}  // namespace tool
