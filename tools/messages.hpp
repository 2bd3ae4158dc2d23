#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tableq/message.hpp>

#include "connection.hpp"
#include "exit_status.hpp"
#include "filter.hpp"

namespace tool {

/// Ids of messages. @throws usage_error
std::vector<tableq::message_id> parse_ids(const argument& given);

/// Where the dead messages of a claim queue are, and how many, if they move; empty: they stay.
std::string words_on_dead_letters(const tableq::database& db, const tableq::claim_queue& queue);

/// Prints the messages of a claim queue that fit; without another condition than a state, in the
/// order of claim_queue::list.
exit_status list_messages(const connection_options& connection, const std::string& name,
                          const tableq::message_filter& filter, std::size_t count, bool as_json);

/// The arguments of a command on messages: ids, or for an action a filter.
struct id_arguments : arguments {
  using arguments::arguments;
  argument queue = argument(command, "QUEUE", "", "A claim queue").required();
  argument ids = argument(command, "ID", "", "Messages, as `list` and `enqueue` print them").many();
};
struct action_arguments : id_arguments {
  using id_arguments::id_arguments;
  bulk_arguments filter = bulk_arguments(command);
};

}  // namespace tool
