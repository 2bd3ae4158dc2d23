#pragma once

#include <tableq/tableq.hpp>

#include "support/at_once.hpp"

namespace tableq_test {

/// The queues of the crash tests' actors: producers -> `in` -> movers (who write a row of `moved`)
/// -> `jobs` -> workers (who write a row of `finished`), and producers with keys -> `chores` -> the
/// library's worker.
struct crash_queues {
  explicit crash_queues(tableq::database& db)
      : in(db.fifo("in")), jobs(db.claim("jobs", options())), chores(db.claim("chores", chore())) {}

  tableq::fifo_queue in;
  tableq::claim_queue jobs;
  tableq::claim_queue chores;

 private:
  /// Leases of killed workers must end soon, but no message may be given up.
  static tableq::claim_options options() {
    return at_once({.lease = std::chrono::seconds{1}, .max_attempts = 1'000'000});
  }
  /// Keys show a message after its completion.
  static tableq::claim_options chore() {
    tableq::claim_options out = options();
    out.key_window = std::chrono::hours{1};
    return out;
  }
};

}  // namespace tableq_test
