#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tableq/message.hpp>

#include "connection.hpp"
#include "exit_status.hpp"
#include "filter.hpp"

namespace tool {

/// A state by its name in message_json; usage_error for others.
tableq::message_state parse_state(const std::string& text);

/// Ids of messages. @throws usage_error
std::vector<tableq::message_id> parse_ids(const argument& given);

/// Where the dead messages of a claim queue are, and how many, if they move; empty: they stay.
std::string words_on_dead_letters(const tableq::database& db, const tableq::claim_queue& queue);

/// Prints the messages of a claim queue that fit; without another condition than a state, which is
/// ready unless given, in the order of claim_queue::list.
exit_status list_messages(const connection_options& connection, const std::string& name,
                          const filter_arguments& given, std::size_t count, bool as_json);

}  // namespace tool
