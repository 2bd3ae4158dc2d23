#pragma once

#include <cstddef>
#include <variant>

#include <tableq/claim_queue.hpp>
#include <tableq/handler.hpp>
#include <tableq/table_queue.hpp>

namespace tableq::inline v0 {

/// One of the queues of a worker. A free handler thread gets a message of the highest precedence at
/// hand; among equal ones the weights decide. A queue that was empty has no claim to the time that
/// others used. Beside the handlers' threads each source has three that take, settle and extend
/// leases.
///
/// @code
/// tableq::worker pool({{.queue = orders, .work = ship, .weight = 3},
///                      {.queue = mails, .work = send}},
///                     {.threads = 8});
/// @endcode
struct worker_source {
  /// A claim queue, or a table of the application whose takes keep the row.
  std::variant<claim_queue, table_queue> queue;
  /// Handles the messages of this queue. Sources may have copies of one handler.
  handler work = {};
  /// The share among sources of equal precedence, 1 to 1,000: with 3 and 1 the first gets three of
  /// four free handlers, while the worker has messages of both. Handlers that are quicker than its
  /// takes empty it, and then get what each take brings.
  std::size_t weight = 1;
  /// Strict among the messages that the worker has taken: while one of a higher precedence waits
  /// there, it starts and takes none of a lower one. A message in the table counts when a take has
  /// brought it; meanwhile, also at the start, free handlers begin lower ones. Those that it holds
  /// it gives back after a third of their lease, so that other workers can have them. Any number.
  int precedence = 0;
};

}  // namespace tableq::inline v0
