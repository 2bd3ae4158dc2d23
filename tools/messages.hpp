#pragma once

#include <cstddef>
#include <string>

#include <tableq/message.hpp>

#include "connection.hpp"
#include "exit_status.hpp"

namespace tool {

/// A state by its name in message_json; usage_error for others.
tableq::message_state parse_state(const std::string& text);

/// Prints the messages of a claim queue in one state, in the order of claim_queue::list.
exit_status list_messages(const connection_options& connection, const std::string& name,
                          tableq::message_state state, std::size_t count, bool as_json);

}  // namespace tool
