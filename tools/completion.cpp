#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "output.hpp"

namespace tool {

namespace {

/// A word that may come next: a command, an option, or a value that is one of a few.
struct offered {
  std::string word;
  std::string description;
};

/// An option that takes a value, by one of its names.
struct valued_option {
  std::string name;
  std::vector<std::string> values;  ///< Empty: any text.
  bool file = false;
};

/// The words that may follow one command, or the program's name.
struct context {
  std::string path;  ///< "", "enqueue", "dead list"
  std::vector<offered> words;
  std::vector<valued_option> options;
  std::vector<std::string> commands;
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// The parts of `keep|reject|replace`; empty for any other text.
std::vector<std::string> values_of(const std::string& shown) {
  std::vector<std::string> values;
  if (shown.find('|') == std::string::npos) return values;
  for (std::size_t begin = 0; begin <= shown.size();) {
    const std::size_t end = std::min(shown.find('|', begin), shown.size());
    values.push_back(shown.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

void add_option(context& here, const CLI::Option& option) {
  const std::string shown = option.get_type_name();
  if (option.get_positional()) {
    for (const std::string& value : values_of(shown)) here.words.push_back({value, ""});
    return;
  }
  for (const std::string& name : option.get_lnames()) {
    here.words.push_back({"--" + name, first_line(option.get_description())});
    if (option.get_items_expected_max() > 0) {
      here.options.push_back({"--" + name, values_of(shown), shown == "FILE"});
    }
  }
}

/// The places of the program itself, so that no list has to be kept beside it.
void collect(const CLI::App& app, const std::string& path, std::vector<context>& places) {
  context here{.path = path, .words = {}, .options = {}, .commands = {}};
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands) {
    here.words.push_back({command->get_name(), first_line(command->get_description())});
    here.commands.push_back(command->get_name());
  }
  for (const CLI::Option* option : app.get_options()) add_option(here, *option);
  places.push_back(std::move(here));
  for (const CLI::App* command : commands) {
    collect(*command, path.empty() ? command->get_name() : path + ' ' + command->get_name(),
            places);
  }
}

/// In single quotes, as bash, zsh and fish read them.
std::string literal(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      result += c == '\'' ? R"('\'')" : R"('\\')";
    } else {
      result += c;
    }
  }
  return result + '\'';
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string result;
  for (const std::string& part : parts) {
    if (!result.empty()) result += between;
    result += part;
  }
  return result;
}

/// A word that leads from one place to another.
struct step {
  std::string from;
  std::string word;
  std::string to;
};

std::vector<step> steps_of(const std::vector<context>& places) {
  std::vector<step> steps;
  for (const context& each : places) {
    for (const std::string& command : each.commands) {
      steps.push_back(
          {each.path, command, each.path.empty() ? command : each.path + ' ' + command});
    }
  }
  return steps;
}

/// The patterns of all options of a place that take a value.
std::vector<std::string> patterns_of(const context& each) {
  std::vector<std::string> patterns;
  for (const valued_option& option : each.options) {
    patterns.push_back(literal(each.path + ':' + option.name));
  }
  return patterns;
}

/// The part that bash and zsh share: finds the place of the command line before the cursor.
/// @param loop the indices of the words between the program's name and the cursor
/// @param word one of these words
/// @param files completes arguments of another command, after `--`
std::string posix_place(const std::vector<context>& places, const std::string& loop,
                        const std::string& word, const std::string& files) {
  std::string text = "  local place= word i\n  for ((" + loop + "; i++)); do\n    word=" + word +
                     "\n    [[ $word == -- ]] && { " + files +
                     "; return; }\n    case \"$place:$word\" in\n";
  for (const step& each : steps_of(places)) {
    text +=
        "      " + literal(each.from + ':' + each.word) + ") place=" + literal(each.to) + " ;;\n";
  }
  for (const context& each : places) {
    if (!each.options.empty()) {
      text += "      " + joined(patterns_of(each), "|") + ") ((i++)) ;;\n";
    }
  }
  return text + "    esac\n  done\n";
}

std::string bash(const std::vector<context>& places) {
  std::string text =
      "# Completion of bash for tableq.\n"
      "_tableq() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local offered=\n"
      "  COMPREPLY=()\n" +
      posix_place(places, "i = 1; i < COMP_CWORD", "${COMP_WORDS[i]}", "compopt -o default") +
      "  case \"$place:$previous\" in\n";
  for (const context& each : places) {
    for (const valued_option& option : each.options) {
      const std::string pattern = "    " + literal(each.path + ':' + option.name) + ") ";
      if (!option.values.empty()) {
        text += pattern + "offered=" + literal(joined(option.values, " ")) + " ;;\n";
      } else {
        text += pattern + (option.file ? "compopt -o default; return ;;\n" : "return ;;\n");
      }
    }
  }
  text += "    *)\n      case \"$place\" in\n";
  for (const context& each : places) {
    std::vector<std::string> words;
    for (const offered& one : each.words) words.push_back(one.word);
    text += "        " + literal(each.path) + ") offered=" + literal(joined(words, " ")) + " ;;\n";
  }
  return text +
         "      esac\n"
         "      ;;\n"
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$offered\" -- \"$current\")\n"
         "}\n"
         "complete -F _tableq tableq\n";
}

std::string zsh(const std::vector<context>& places) {
  std::string text =
      "#compdef tableq\n"
      "_tableq() {\n"
      "  local -a offered\n" +
      posix_place(places, "i = 2; i < CURRENT", "${words[i]}", "_files") +
      "  case \"$place:${words[CURRENT - 1]}\" in\n";
  for (const context& each : places) {
    for (const valued_option& option : each.options) {
      text += "    " + literal(each.path + ':' + option.name) + ") ";
      if (!option.values.empty()) {
        text += "offered=(" + joined(option.values, " ") + ") ;;\n";
      } else {
        text += option.file ? "_files; return ;;\n" : "return 1 ;;\n";
      }
    }
  }
  text += "    *)\n      case \"$place\" in\n";
  for (const context& each : places) {
    text += "        " + literal(each.path) + ")\n          offered=(\n";
    for (const offered& one : each.words) {
      text += "            " +
              literal(one.word + (one.description.empty() ? "" : ":") + one.description) + "\n";
    }
    text += "          ) ;;\n";
  }
  return text +
         "      esac\n"
         "      ;;\n"
         "  esac\n"
         "  _describe tableq offered\n"
         "}\n"
         "if [[ ${funcstack[1]} == _tableq ]]; then\n"
         "  _tableq \"$@\"\n"
         "else\n"
         "  compdef _tableq tableq\n"
         "fi\n";
}

std::string fish(const std::vector<context>& places) {
  std::string text =
      "# Completion of fish for tableq.\n"
      "function __tableq_place\n"
      "  set -l place ''\n"
      "  set -l value no\n"
      "  for word in (commandline -opc)[2..]\n"
      "    if test $value = yes\n"
      "      set value no\n"
      "      continue\n"
      "    end\n"
      "    switch \"$place:$word\"\n"
      "      case '*:--'\n"
      "        return 1\n";
  for (const step& each : steps_of(places)) {
    text += "      case " + literal(each.from + ':' + each.word) + "\n        set place " +
            literal(each.to) + "\n";
  }
  for (const context& each : places) {
    if (!each.options.empty()) {
      text += "      case " + joined(patterns_of(each), " ") + "\n        set value yes\n";
    }
  }
  text +=
      "    end\n"
      "  end\n"
      "  echo \"$place\"\n"
      "end\n"
      "function __tableq_at\n"
      "  set -l place (__tableq_place); and test \"$place\" = \"$argv[1]\"\n"
      "end\n"
      "complete -c tableq -n __tableq_place -f\n";
  for (const context& each : places) {
    const std::string at = "complete -c tableq -n " + literal("__tableq_at " + literal(each.path));
    for (const offered& one : each.words) {
      const bool option = one.word.starts_with("--");
      text += at + (option ? " -l " + one.word.substr(2) : " -a " + one.word);
      const auto valued =
          std::find_if(each.options.begin(), each.options.end(),
                       [&](const valued_option& next) { return next.name == one.word; });
      if (valued != each.options.end()) {
        text += valued->file ? " -r -F" : " -x";
        if (!valued->values.empty()) text += " -a " + literal(joined(valued->values, " "));
      }
      if (!one.description.empty()) text += " -d " + literal(one.description);
      text += '\n';
    }
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, invocation& call) {
  CLI::App& command = add_command(
      app, "completion",
      {.description = "Print the completion of a shell",
       .details = "A script that completes commands, options and values. Packages install it; else "
                  "load it at the\nstart of the shell.",
       .usage = "bash|zsh|fish",
       .examples =
           "  source <(tableq completion bash)                  # in ~/.bashrc\n"
           "  source <(tableq completion zsh)                   # in ~/.zshrc, after compinit\n"
           "  tableq completion fish | source                   # in config.fish"});
  const auto shell = std::make_shared<argument>(command, "SHELL", "bash|zsh|fish", "The shell");
  command.callback([&app, &call, shell] {
    call.run = [&app, shell] {
      std::vector<context> places;
      collect(app, "", places);
      output out;
      if (shell->text() == "bash") {
        out.write(bash(places));
      } else if (shell->text() == "zsh") {
        out.write(zsh(places));
      } else if (shell->text() == "fish") {
        out.write(fish(places));
      } else {
        throw usage_error("give bash, zsh or fish");
      }
      out.flush();
      return exit_status::done;
    };
  });
}

}  // namespace tool
