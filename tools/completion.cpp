#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "output.hpp"

namespace tool {

namespace {

/// Each asks the command itself for the words that may come next.
constexpr std::string_view bash =
    R"(_tableq() {
  local words
  if words=$("${COMP_WORDS[0]}" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); then
    COMPREPLY=()
    [[ -z $words ]] || mapfile -t COMPREPLY <<<"$words"
  else
    COMPREPLY=()
    compopt -o default
  fi
}
complete -F _tableq tableq
)";
constexpr std::string_view zsh =
    R"(#compdef tableq
_tableq() {
  local text
  local -a offered
  text=$("${words[1]}" completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null) || { _files; return }
  [[ -n $text ]] || return 1
  offered=("${(@f)text}")
  _describe tableq offered
}
if [[ ${funcstack[1]} == _tableq ]]; then
  _tableq "$@"
else
  compdef _tableq tableq
fi
)";
constexpr std::string_view fish =
    R"(function __tableq_offers
  set -l words (commandline -opc) (commandline -ct)
  $words[1] completion fish -- $words[2..] 2>/dev/null; or __fish_complete_path $words[-1]
end
complete -c tableq -f -a '(__tableq_offers)'
)";

/// A word that may come next: a command, an option, or a value that is one of a few.
struct offered {
  std::string word;
  std::string description = {};
};

/// The parts of `keep|reject|replace`; none of any other text.
std::vector<offered> values_of(const std::string& shown) {
  std::vector<offered> out;
  if (shown.find('|') == std::string::npos) return out;
  for (const std::string& each : CLI::detail::split(shown, '|')) out.push_back({each});
  return out;
}

std::vector<const CLI::App*> commands_of(const CLI::App& place, const std::string& name = {}) {
  return place.get_subcommands(
      [&](const CLI::App* each) { return name.empty() || each->get_name() == name; });
}

std::vector<offered> words_at(const CLI::App& place) {
  std::vector<offered> out;
  for (const CLI::App* each : commands_of(place)) {
    out.push_back({each->get_name(), each->get_description()});
  }
  for (const CLI::Option* each : place.get_options()) {
    if (each->get_positional()) {
      for (offered& value : values_of(each->get_type_name())) out.push_back(std::move(value));
    }
    for (const std::string& name : each->get_lnames()) {
      out.push_back({"--" + name, each->get_description()});
    }
  }
  return out;
}

/// The words that may come after these, in place of the last one. Nothing: names of files.
std::optional<std::vector<offered>> offers_after(const CLI::App& app,
                                                 const std::vector<std::string>& words) {
  const CLI::App* place = &app;
  const CLI::Option* valued = nullptr;  // the next word is its value
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--") return std::nullopt;
    if (std::exchange(valued, nullptr) != nullptr) continue;
    if (words[i].starts_with("--")) {
      const CLI::Option* const found = place->get_option_no_throw(words[i]);
      if (found != nullptr && found->get_items_expected_max() > 0) valued = found;
    } else if (const auto found = commands_of(*place, words[i]);
               !words[i].empty() && !found.empty()) {
      place = found.front();
    }
  }
  if (valued == nullptr) return words_at(*place);
  if (valued->get_type_name() == "FILE") return std::nullopt;
  return values_of(valued->get_type_name());
}

struct completion_arguments : arguments {
  using arguments::arguments;
  argument shell = argument(command, "SHELL", "bash|zsh|fish", "The shell").required();
};

exit_status offer_words(const invocation& call, const completion_arguments& given) {
  const std::string shell = given.shell.text();
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    throw usage_error("give bash, zsh or fish");
  }
  output out;
  if (!call.tail) {
    out.write(shell == "bash" ? bash : shell == "zsh" ? zsh : fish);
    out.flush();
    return exit_status::done;
  }
  const auto offers = offers_after(*given.command.get_parent(), *call.tail);
  if (!offers) return exit_status::nothing;
  const std::string begun = call.tail->empty() ? std::string() : call.tail->back();
  for (const auto& [word, description] : *offers) {
    if (!word.starts_with(begun)) continue;
    const std::string words = description.substr(0, description.find('\n'));
    const char* const between = shell == "zsh" ? ":" : "\t";
    out.line(shell == "bash" || words.empty() ? word : word + between + words);
  }
  out.flush();
  return exit_status::done;
}

}  // namespace

void add_completion(CLI::App& app, invocation& call) {
  CLI::App& command = add_command(
      app, "completion",
      {.description = "Print the completion of a shell",
       .details = "A script that completes commands, options and values; it asks this command for "
                  "them. Packages\ninstall it; else load it at the start of the shell.",
       .usage = "bash|zsh|fish",
       .examples =
           "  source <(tableq completion bash)                  # in ~/.bashrc\n"
           "  source <(tableq completion zsh)                   # in ~/.zshrc, after compinit\n"
           "  tableq completion fish | source                   # in config.fish"});
  on_command<completion_arguments>(command, call, offer_words);
}

}  // namespace tool
