#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <tableq/tableq.hpp>

namespace tool {

/// The database, and the tables in it.
struct connection_options {
  std::string url;
  std::string prefix;
  std::string schema;
  bool verify_only = false;
  std::optional<std::size_t> max_payload = {};
};

/// The options that name the tables.
tableq::open_options naming(const connection_options& options);

/// The database's address: --db, or else the environment's TABLEQ_DB; without that usage_error.
std::string address_of(const connection_options& options);

/// Connects, and passes on what the dialect warns of.
/// @param may_create whether opening a queue may create it; only for `create`.
/// @param retry_for as in open_options.
tableq::database connect(const connection_options& options, bool may_create = false,
                         std::size_t sessions = 4,
                         std::chrono::milliseconds retry_for = std::chrono::seconds{10});

/// Says on standard error that there is no queue at all, if a misspelt --schema or --prefix may be
/// the reason.
void tell_of_no_queues(const tableq::database& db, const connection_options& options);

/// The catalogue's entry of a queue. Without one: refused_error, which names the remedy.
tableq::queue_info require(const tableq::database& db, const std::string& name);
/// Throws usage_error for a table of the application, naming the commands that it has.
void refuse_table(const tableq::queue_info& found);

using any_queue = std::variant<tableq::heap_queue, tableq::fifo_queue, tableq::lifo_queue,
                               tableq::pending_queue, tableq::claim_queue>;

/// Opens a queue as this kind; creates it if that is allowed.
any_queue open_as(tableq::database& db, const std::string& name,
                  const tableq::queue_settings& wanted);

/// Opens an existing queue as its kind; usage_error for a table of the application.
any_queue open_queue(tableq::database& db, const std::string& name);
/// The same of a queue that was found.
any_queue open_queue(tableq::database& db, const tableq::queue_info& found);

/// The queue, if its reads delete; otherwise usage_error with `hint`.
tableq::destructive_queue& as_destructive(any_queue& opened, const std::string& hint);

/// The queue, if it is a claim queue; otherwise usage_error with `hint`.
tableq::claim_queue& as_claim(any_queue& opened, std::string_view hint);

/// The name with quotes around it, for messages.
std::string in_quotes(const std::string& name);

}  // namespace tool
