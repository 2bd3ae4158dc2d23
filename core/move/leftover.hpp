#pragma once

#include <memory>
#include <vector>

#include <tableq/fwd.hpp>
#include <tableq/schema.hpp>

namespace tableq::inline v0::core {

/// Doctor's finding on a queue of a move that has messages: the move has not ended.
/// @param all the queues of the database.
[[nodiscard]] std::vector<finding> inspect_move(const std::shared_ptr<database_state>& database,
                                                const queue_info& queue,
                                                const std::vector<queue_info>& all);

}  // namespace tableq::inline v0::core
