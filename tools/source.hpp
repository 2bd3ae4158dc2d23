#pragma once

#include <string>
#include <variant>

#include <CLI/CLI.hpp>

#include <tableq/tableq.hpp>

#include "arguments.hpp"
#include "connection.hpp"

namespace tool {

/// A queue of tableq, or a table of the application.
using any_source = std::variant<tableq::heap_queue, tableq::fifo_queue, tableq::lifo_queue,
                                tableq::pending_queue, tableq::claim_queue, tableq::table_queue>;

/// Opens what the catalogue has under this name.
any_source open_source(tableq::database& db, const std::string& name);
any_source open_source(tableq::database& db, const tableq::queue_info& found);

/// A queue whose messages are taken under a lease.
using leasing_queue = std::variant<tableq::claim_queue, tableq::table_queue>;

/// @throws usage_error for a queue whose reads delete.
leasing_queue as_leasing(const any_source& opened);

/// Its takes and settlements.
tableq::leased_queue& leases_of(leasing_queue& queue);

/// The name of what was opened.
const std::string& name_of(const any_source& opened);

/// The definition in a file. @throws usage_error, which names the file.
tableq::table_definition read_mapping(const std::string& file);

/// Opens the table that the file describes.
tableq::table_queue open_mapping(tableq::database& db, const std::string& file);

/// The arguments of a command that works on a queue, or with --mapping on a table.
struct source_arguments {
  /// @param shown the description of QUEUE.
  source_arguments(CLI::App& command, const std::string& shown);

  [[nodiscard]] bool given() const { return queue.given() || mapping.given(); }
  /// @throws usage_error unless exactly one of them was given.
  [[nodiscard]] any_source open(tableq::database& db) const;

  argument queue;
  argument mapping;
};

}  // namespace tool
