#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// One header of a message.
struct header_value {
  std::string name = {};   ///< 1 to 100 bytes.
  std::string value = {};  ///< Up to 500 bytes.
};

/// Which messages of a `claim` queue an action concerns. The database evaluates it; a message must
/// meet every condition that is given. All texts are UTF-8 without NUL.
struct message_filter {
  std::optional<message_state> state = {};  ///< Empty: all states that the action concerns.
  /// The least time since a done or dead message finished, or any other was enqueued; 0 to 3,650
  /// days.
  std::optional<std::chrono::milliseconds> older_than = {};
  std::optional<header_value> header = {};  ///< Exactly this value.
  std::optional<std::string> group = {};    ///< 1 to 200 bytes.
  std::optional<std::string> key_prefix =
      {};                                 ///< 1 to 200 bytes; also of keys that are free again.
  std::optional<std::string> error = {};  ///< 1 to 2,000 bytes that the last error contains.
  /// An action refuses a filter without a condition unless this is true.
  bool all = false;
};

/// How far a list or an action by filter has come. Opaque; plain numbers, so that it can be stored.
struct filter_place {
  int part = 0;            ///< The queue, or the state, that is being read.
  std::int64_t at = 0;     ///< The time of the last message that was read, where that is the order.
  std::int64_t id = 0;     ///< The last message that was read.
  std::int64_t until = 0;  ///< The last one to be read.

  friend bool operator==(const filter_place&, const filter_place&) = default;
};

/// The page of a `list` by filter.
struct filter_page {
  std::size_t max = 100;  ///< Messages on the page, 1 to 10,000.
  /// Where the previous page stopped. Empty: the first page.
  std::optional<filter_place> after = {};
  look_options with = {};  ///< What is read of each message that fits.
};

/// A page of messages that fit a filter.
struct filtered_messages {
  std::vector<stored_message> messages = {};  ///< By time or id: see claim_queue::list.
  /// Where the reading stopped, also if the page is not full: a call reads at most 10,000 messages.
  /// Empty: there are no others.
  std::optional<filter_place> next = {};
};

/// The progress or the result of an action by filter.
struct bulk_result {
  std::size_t count = 0;  ///< Messages that were changed; with `dry_run` those that fit.
  // Messages that fit, and were skipped:
  std::size_t running = 0;   ///< They were leased.
  std::size_t changed = 0;   ///< Another call changed or removed them meanwhile.
  std::size_t key_held = 0;  ///< Of a redrive from the dead-letter queue: others hold their keys.
  /// Where it stopped, because of `stop`, or with `dry_run` of the bound. Empty: at the end.
  std::optional<filter_place> stopped_at = {};
};

/// Options of an action by filter.
struct bulk_options {
  /// Counts the messages that match, and changes none: up to 10,000 messages, among up to
  /// 1,000,000.
  bool dry_run = false;
  /// Messages of one step, which is a transaction of its own: 1 to 1,000.
  std::size_t batch = 1000;
  /// Where an earlier call with the same filter stopped. Empty: from the beginning.
  std::optional<filter_place> after = {};
  /// Called after each step, outside of transactions, with the totals; `stopped_at` is then where
  /// another call would go on. What it throws ends the action.
  std::function<void(const bulk_result&)> progress = {};
  std::stop_token stop = {};  ///< A request ends the action after the current step.
};

}  // namespace tableq::inline v0
