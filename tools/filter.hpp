#pragma once

#include <functional>
#include <string>

#include <tableq/message_filter.hpp>

#include "arguments.hpp"
#include "exit_status.hpp"

namespace tool {

/// The options that select messages of a claim queue.
struct filter_arguments : arguments {
  using arguments::arguments;

  argument state{command, "--state", "STATE",
                 "ready, delayed, leased, held, done or dead, if the command is for such messages"};
  argument older_than{command, "--older-than", "TIME",
                      "Finished, or if not finished enqueued, at least TIME ago"};
  argument header{command, "--header", "NAME=VALUE", "With this header"};
  argument group{command, "--group", "GROUP", "Of this group"};
  argument key_prefix{command, "--key-prefix", "TEXT", "Whose key begins with TEXT"};
  argument error{command, "--error", "TEXT", "Whose last error contains TEXT"};

  /// Whether any condition was given.
  [[nodiscard]] bool given() const {
    return state.given() || older_than.given() || header.given() || group.given() ||
           key_prefix.given() || error.given();
  }
  /// @throws usage_error
  [[nodiscard]] tableq::message_filter read() const;
};

/// The same with the options of an action by filter.
struct bulk_arguments : filter_arguments {
  using filter_arguments::filter_arguments;

  flag all{command, "--all", "All messages"};
  flag dry_run{command, "--dry-run", "Only count them"};
  flag as_json{command, "--json", "One object on each line"};

  /// @param ids whether messages were named: then no other option may be given.
  /// @return whether the action is one by filter. @throws usage_error if neither was given.
  [[nodiscard]] bool by_filter(bool ids) const;
  /// As above, with --all.
  [[nodiscard]] tableq::message_filter read() const;

  /// Prints how many messages were changed, and how many skipped.
  /// @param more there may be more.
  void print(const tableq::bulk_result& result, bool more = false) const;

  /// Runs the action, shows its progress, and prints the result.
  /// @param done what became of them, for the progress: `cancelled`.
  [[nodiscard]] exit_status run(
      const std::string& done,
      const std::function<tableq::bulk_result(const tableq::message_filter&,
                                              const tableq::bulk_options&)>& action) const;
};

/// Lines of the help that the actions by filter share.
extern const char* const filter_details;

}  // namespace tool
