#pragma once

#include <string>
#include <vector>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// All visible properties of a message, on one line.
[[nodiscard]] std::string described(const tableq::stored_message& message);
[[nodiscard]] std::string described(const std::vector<tableq::stored_message>& messages);
/// The same for the limits of a queue.
/// @param left the rest of a rate, if there is one: tokens and their time.
[[nodiscard]] std::string described(const tableq::queue_limits& limits, bool paused,
                                    const std::string& left);

}  // namespace tableq_test
