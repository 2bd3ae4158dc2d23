#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

#include <tableq/claim_queue.hpp>

#include "held_messages.hpp"
#include "status_line.hpp"

namespace tool {

/// Extends the leases of all held messages, all with one call, each third of a lease, until it is
/// destroyed. The command of a message whose lease is lost is sent SIGTERM: somebody else works on
/// it now.
///
/// Borrows everything it is given. Starts one thread.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class lease_keeper {
 public:
  lease_keeper(tableq::claim_queue queue, std::chrono::milliseconds lease, held_messages& held,
               status_line& status);

 private:
  void run(const std::stop_token& stop);
  /// @return whether the database answered.
  bool extend_all();

  tableq::claim_queue queue_;
  std::chrono::milliseconds lease_;
  held_messages& held_;
  status_line& status_;
  std::jthread thread_;
};

}  // namespace tool
