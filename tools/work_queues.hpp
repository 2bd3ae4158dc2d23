#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tableq/tableq.hpp>

#include "arguments.hpp"
#include "connection.hpp"
#include "source.hpp"

namespace tool {

/// A queue that `work` serves.
struct work_queue {
  std::string database = {};  ///< The NAME of --also-db; empty: the first database.
  std::string name = {};      ///< Empty: the table of --mapping.
  std::size_t weight = 1;
  int precedence = 0;

  /// As on the command line: `jobs`, `mails:jobs`.
  [[nodiscard]] std::string shown() const;
};

/// The same, opened.
struct work_source {
  work_queue which;
  std::string address;  ///< The connection string of its database.
  leasing_queue queue;
};

/// The queues that `work` serves, checked as far as that needs no database.
struct work_plan {
  std::vector<work_queue> queues;
  std::map<std::string, std::string> further;  ///< Addresses by the NAME of --also-db.
  std::string mapping;                         ///< A file, or empty.

  /// Opens all. Each database must answer.
  /// @param commands the most at once.
  /// @throws usage_error for a queue whose reads delete, and the errors of opening; all name the
  ///   database if it is not the first.
  [[nodiscard]] std::vector<work_source> open(const connection_options& first,
                                              std::size_t commands) const;
};

/// The arguments that name the queues of `work`.
struct work_queue_arguments {
  explicit work_queue_arguments(CLI::App& command);
  /// @throws usage_error, which repeats no address.
  [[nodiscard]] work_plan plan() const;

  argument queues;
  argument mapping;
  argument weight;
  argument precedence;
  argument also_db;
};

}  // namespace tool
