#pragma once

#include <chrono>

#include "arguments.hpp"
#include "parse.hpp"

namespace tool {

/// The options of a claim queue that `create` and `alter` share.
struct claim_arguments : arguments {
  using arguments::arguments;

  argument lease{command, "--lease", "TIME",
                 "claim: how long a take has a message, 1ms to 365d (a new queue: 30s)"};
  argument max_attempts{
      command, "--max-attempts", "N",
      "claim: failures after which a message is dead, up to 1000000 (a new queue: 5)"};
  argument retry{command, "--retry", "TIME,TIME,...",
                 "claim: delays after the first failure, the second, ...; the last one\n"
                 "repeats; 0s: at once (a new queue: 1s,5s,30s,5m, each up to 20 % more or less)"};
  argument ttl{command, "--ttl", "TIME",
               "claim: a message not taken within this time is dead; or none (a new queue)"};
  argument key_window{
      command, "--key-window", "TIME",
      "claim: how long a key stays held after completion (a new queue: 0s, not at all)"};
  argument dead_letters{command, "--dead-letters", "QUEUE",
                        "claim: the queue for dead messages, made if it does not exist; or none\n"
                        "(a new queue): they stay"};
  argument groups{command, "--groups", "N",
                  "claim: messages may have groups; N of each are taken at a time, up to 1000"};
  argument retain_done{
      command, "--retain-done", "TIME",
      "claim: remove completed messages when they are so old; or none (a new queue)"};
  argument retain_dead{command, "--retain-dead", "TIME",
                       "claim: remove dead messages when they are so old; or none (a new queue)"};

  /// All but the last three, whose members differ. @throws usage_error
  template <class Options>
  void read(Options& out) const {
    lease.store(out.lease, duration_from(std::chrono::milliseconds{1}));
    max_attempts.store(out.max_attempts, number_from<int>(1, 1'000'000));
    retry.store(out.retry, parse_delays);
    ttl.store(out.time_to_live, parse_lifetime);
    key_window.store(out.key_window, duration_from({}));
    dead_letters.store(out.dead_letters);
    if (out.dead_letters == "") throw usage_error("--dead-letters is a queue's name, or none");
    if (out.dead_letters == "none") out.dead_letters = "";
  }
};

}  // namespace tool
