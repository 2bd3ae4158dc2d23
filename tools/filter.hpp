#pragma once

#include <functional>
#include <string>

#include <tableq/message_filter.hpp>

#include "arguments.hpp"
#include "exit_status.hpp"

namespace tool {

/// The options that select messages of a claim queue.
struct filter_arguments {
  explicit filter_arguments(CLI::App& command);

  /// Whether any condition was given.
  [[nodiscard]] bool given() const;
  /// Whether no other condition than a state was given.
  [[nodiscard]] bool only_state() const;
  /// @throws usage_error
  [[nodiscard]] tableq::message_filter read() const;

  argument state;
  argument older_than;
  argument header;
  argument group;
  argument key_prefix;
  argument error;
};

/// The same with the options of an action by filter.
struct bulk_arguments : filter_arguments {
  explicit bulk_arguments(CLI::App& command);

  /// @param ids whether messages were named: then no other option may be given.
  /// @return whether the action is one by filter. @throws usage_error if neither was given.
  [[nodiscard]] bool by_filter(bool ids) const;
  /// As above, with --all.
  [[nodiscard]] tableq::message_filter read() const;

  /// Runs the action, shows its progress, and prints how many messages it has changed.
  /// @param done what became of them, for the progress: `cancelled`.
  [[nodiscard]] exit_status run(
      const std::string& done,
      const std::function<tableq::bulk_result(const tableq::message_filter&,
                                              const tableq::bulk_options&)>& action) const;

  bool all = false;
  bool dry_run = false;
};

/// Lines of the help that the actions by filter share.
extern const char* const filter_details;

}  // namespace tool
