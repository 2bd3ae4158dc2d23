#pragma once

#include <string>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// Everything that a look shows of a message, on one line.
[[nodiscard]] std::string described(const tableq::stored_message& message);
/// The same of what holds a queue back.
/// @param left what is left of a rate, if there is one: tokens and since when.
[[nodiscard]] std::string described(const tableq::queue_limits& limits, bool paused,
                                    const std::string& left);

}  // namespace tableq_test
