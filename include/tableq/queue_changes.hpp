#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <tableq/claim_options.hpp>
#include <tableq/message_rules.hpp>
#include <tableq/options.hpp>

namespace tableq::inline v0 {

/// New values of a queue's stored options, for `database::alter`. An empty one stays as it is.
/// Ranges are those of claim_options. All but the last three belong to `claim` queues.
struct queue_changes {
  std::optional<std::chrono::milliseconds> lease = {};  ///< Of takes that give none.
  std::optional<int> max_attempts = {};                 ///< Of messages without their own number.
  std::optional<bool> keep_completed = {};              ///< Of messages completed from then on.
  optional_retry retry = std::nullopt;                  ///< Of attempts that fail from then on.
  std::optional<lifetime> time_to_live = {};            ///< Of messages added from then on.
  std::optional<key_scope> keys = {};                   ///< Of takes from then on.
  /// Of messages completed from then on.
  std::optional<std::chrono::milliseconds> key_window = {};
  /// Of a queue with groups. Groups that a new limit or policy lets go follow when one of their
  /// messages is added, settled or falls due.
  std::optional<int> group_limit = {};
  std::optional<group_policy> group_on_failure = {};  ///< Of a queue with groups.
  /// Opened or created if it is given. An empty text: dead messages stay in the queue.
  std::optional<std::string> dead_letters = {};
  std::optional<lifetime> retain_done = {};  ///< lifetime::forever(): until purge.
  std::optional<lifetime> retain_dead = {};  ///< The same for dead messages.

  // Options that a queue keeps for its life: another value is errc::options_mismatch, which says
  // why.
  std::optional<tableq::ordering> ordering = {};  ///< `fifo` and `lifo`.
  std::optional<bool> groups = {};                ///< `claim`: whether messages may have groups.
  std::optional<bool> groups_by_turns = {};       ///< `claim`: whether groups take turns.
};

/// Options of `database::alter`.
struct alter_options {
  bool dry_run = false;  ///< Checks and reports all, and changes nothing.
};

/// A changed option of a queue.
struct option_change {
  std::string option = {};  ///< Its name in tableq.h: `lease_ms`.
  std::string before = {};  ///< Empty: it was not stored, which means the default.
  std::string after = {};   ///< Empty: it is stored no more.
  /// The next start of a program that opens the queue with the old value. True: it
  /// is refused with errc::options_mismatch. False: the value holds for its handle.
  bool refused_at_open = false;

  friend bool operator==(const option_change&, const option_change&) = default;
};

}  // namespace tableq::inline v0
