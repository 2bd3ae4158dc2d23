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
struct work_queue_arguments : arguments {
  using arguments::arguments;

  argument queues =
      argument(command, "QUEUE", "",
               "Claim queues, or stored tables, up to 100; those of --also-db as NAME:QUEUE")
          .many();
  argument mapping{command, "--mapping", "FILE",
                   "Instead of QUEUE: the JSON of a mapping of the application's table"};
  argument weight =
      argument(command, "--weight", "QUEUE=N",
               "The queue's share of the commands, 1 to 1000, among those of one precedence (1);\n"
               "commands quicker than a take blur it")
          .repeatable();
  argument precedence =
      argument(command, "--precedence", "QUEUE=N",
               "While messages of a higher precedence are at hand, none of a lower one starts (0)")
          .repeatable();
  argument also_db =
      argument(command, "--also-db", "NAME[=URL]",
               "One more database. Without =URL its address is in TABLEQ_DB_NAME, NAME in upper\n"
               "case: the process list shows =URL, with its password, to other users")
          .repeatable();

  /// @throws usage_error, which repeats no address.
  [[nodiscard]] work_plan plan() const;
};

}  // namespace tool
