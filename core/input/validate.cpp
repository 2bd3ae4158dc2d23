#include "core/input/validate.hpp"

#include <string>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/codec.hpp"

namespace tableq::inline v0::core {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds longest_lease = 24h * 365;
constexpr std::chrono::milliseconds longest_delay = 24h * 3650;
constexpr std::chrono::milliseconds longest_wait = 24h * 365;
constexpr std::size_t longest_key = 200;
constexpr std::size_t longest_header_name = 100;
constexpr std::size_t longest_headers = std::size_t{64} * 1024;

/// The rules for keys and groups.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_key && is_plain_utf8(text);
}

/// @param Options have a delay and a due_at.
template <class Options>
void check_due(const Options& options) {
  check_delay(options.delay);
  check_timestamp(options.due_at, "due_at");
  if (options.due_at && options.delay != 0ms) refuse("give delay or due_at, not both");
}

void check_group(const claim_enqueue_options& options, bool grouped) {
  if (!options.group) return;
  if (!grouped) {
    refuse("the queue has no groups: create it with groups, or give no group");
  }
  if (!is_name(*options.group)) refuse("a group has 1 to 200 bytes of UTF-8 without NUL");
  if (options.delay != 0ms || options.due_at) {
    refuse(
        "messages of a group come in the order of their ids: give a group, or a delay or due_at, "
        "not both");
  }
}

}  // namespace

void check_open_options(const open_options& options, std::size_t highest) {
  if (options.max_sessions == 0) refuse("max_sessions must be at least 1");
  if (options.max_sessions > 10'000) refuse("max_sessions must be at most 10,000");
  if (options.session_timeout <= 0ms || options.session_timeout > longest_wait) {
    refuse("session_timeout must be from 1 ms to 365 days");
  }
  if (options.retry_for < 0ms || options.retry_for > longest_wait) {
    refuse("retry_for must be from 0 to 365 days");
  }
  if (options.async_messages == 0) refuse("async_messages must be at least 1");
  if (options.async_bytes == 0) refuse("async_bytes must be at least 1");
  if (options.poll_interval < 10ms || options.poll_interval > 24h) {
    refuse("poll_interval must be from 10 ms to 1 day");
  }
  if (options.max_payload && (*options.max_payload == 0 || *options.max_payload > highest)) {
    refuse("max_payload must be from 1 to the longest payload of this database, " +
           std::to_string(highest) + " bytes");
  }
}

void check_batch_size(std::size_t size, std::size_t most) {
  if (size == 0 || size > most) {
    refuse("the number at a time (max, batch or page) is 1 to " + std::to_string(most) + ", not " +
           std::to_string(size));
  }
}

void check_lease(std::chrono::milliseconds lease) {
  if (lease < 1ms || lease > longest_lease) refuse("a lease lasts from 1 ms to 365 days");
}

bool good_delay(std::chrono::milliseconds delay) noexcept {
  return delay >= 0ms && delay <= longest_delay;
}

void check_delay(std::chrono::milliseconds delay, std::string_view what) {
  if (!good_delay(delay)) {
    refuse(std::string(what) + " must be from 0 to 3,650 days");
  }
}

void check_time_to_live(const lifetime& length) {
  if (length.length() && (*length.length() < 1ms || *length.length() > longest_delay)) {
    refuse("time_to_live must be from 1 ms to 3,650 days, or for ever");
  }
}

void check_wait(std::chrono::milliseconds wait, bool in_transaction) {
  if (wait < 0ms || wait > longest_wait) refuse("wait must be from 0 to 365 days");
  if (in_transaction && wait != 0ms) {
    refuse(
        "a wait inside a transaction would hold its locks; repeat short transactions without a "
        "wait, or take from a claim queue before the transaction, and settle in it");
  }
}

void check_timestamp(const std::optional<timestamp>& time, std::string_view what) {
  constexpr timestamp last = std::chrono::sys_days(std::chrono::year(10000) / 1 / 1);
  if (time && (*time < timestamp() || *time >= last)) {
    refuse(std::string(what) + " must lie in the years 1970 to 9999");
  }
}

void check_retry(const retry_delays& retry) {
  constexpr std::size_t most_delays = 32;
  if (retry.after.size() > most_delays) refuse("retry has at most 32 delays; the last one repeats");
  for (const std::chrono::milliseconds each : retry.after) check_delay(each, "a delay of retry");
  if (retry.jitter < 0 || retry.jitter > 100) refuse("the jitter of retry is 0 to 100 per cent");
}

void check_max_attempts(int attempts) {
  if (attempts < 1 || attempts > 1'000'000) refuse("max_attempts must be from 1 to 1,000,000");
}

void check_rate(double per_second) {
  if (!(per_second > 0 && per_second <= 1e9)) {
    refuse("per_second must be above 0, and at most 1,000,000,000; leave it out for no limit");
  }
}

void check_limits(const queue_limits& limits, kind queue_kind) {
  constexpr std::size_t most_capacity = 1'000'000'000'000;
  constexpr int most = 1'000'000;
  if (limits.capacity && (*limits.capacity < 1 || *limits.capacity > most_capacity)) {
    refuse("capacity must be from 1 to 10^12; leave it empty for none");
  }
  // Written so that NaN is refused too.
  if (limits.rate && !(*limits.rate >= 0.001 && *limits.rate <= most)) {
    refuse("rate must be from 0.001 to 1,000,000 messages per second; pause the queue to stop it");
  }
  if (limits.burst && (*limits.burst < 1 || *limits.burst > most)) {
    refuse("burst must be from 1 to 1,000,000");
  }
  if (limits.burst && !limits.rate) refuse("a burst needs a rate");
  if (!limits.concurrency) return;
  if (queue_kind != kind::claim) refuse("concurrency can be limited for claim queues only");
  if (*limits.concurrency < 1 || *limits.concurrency > most) {
    refuse("concurrency must be from 1 to 1,000,000; pause the queue to stop it");
  }
}

void check_group_name(std::string_view group) {
  if (!group.empty() && !is_name(group)) refuse("a group has 1 to 200 bytes of UTF-8 without NUL");
}

void check_group_limits(const group_limits& limits, std::string_view group) {
  constexpr int most = 1000;
  check_group_name(group);
  if (limits.running && (*limits.running < 1 || *limits.running > most)) {
    refuse("the running messages of a group are limited to 1 to 1,000; pause the queue to stop it");
  }
  if (limits.rate && !(*limits.rate >= 0.001 && *limits.rate <= most)) {
    refuse("the rate of a group must be from 0.001 to 1,000 starts per second");
  }
  if (limits.burst && (*limits.burst < 1 || *limits.burst > most)) {
    refuse("the burst of a group must be from 1 to 1,000");
  }
  if (limits.burst && !limits.rate) refuse("a burst needs a rate");
  if (limits.weight && (*limits.weight < 1 || *limits.weight > most)) {
    refuse("the weight of a group must be from 1 to 1,000");
  }
}

void check_payload(std::string_view payload, const payload_limit& limit) {
  if (payload.size() <= limit.most) return;
  const bool can_rise = payload.size() <= limit.highest;
  refuse(errc::too_large, "the payload has " + std::to_string(payload.size()) +
                              " bytes and at most " + std::to_string(limit.most) +
                              " are accepted; store it elsewhere and enqueue its address" +
                              (can_rise ? ", or raise max_payload (--max-payload)" : ""));
}

bool is_key(std::string_view text) {
  return is_name(text);
}

void check_key(std::string_view key) {
  if (!is_key(key)) refuse("a key has 1 to 200 bytes of UTF-8 without NUL");
}

void check_message(const claim_enqueue_options& options, bool grouped) {
  check_due(options);
  check_timestamp(options.created_at, "created_at");
  if (options.key) check_key(*options.key);
  if (!options.key && options.on_duplicate != on_duplicate::keep_first) {
    refuse("on_duplicate needs a key");
  }
  check_group(options, grouped);
  if (options.time_to_live) check_time_to_live(*options.time_to_live);
  if (options.max_attempts) check_max_attempts(*options.max_attempts);
  if (options.retry) check_retry(*options.retry);
  if (options.batch && options.batch->value <= 0) refuse("the id of a batch is above zero");
  std::size_t total = 0;
  for (const auto& [name, text] : options.headers) {
    if (name.empty() || name.size() > longest_header_name || !is_plain_utf8(name)) {
      refuse("a header's name has 1 to 100 bytes of UTF-8 without NUL");
    }
    if (!is_plain_utf8(text)) refuse("a header's value must be UTF-8 without NUL");
    total += name.size() + text.size();
  }
  if (total > longest_headers ||
      (total > longest_headers / 8 && encode_headers(options.headers).size() > longest_headers)) {
    refuse("the headers of a message must be smaller than 64 KiB together");
  }
}

void check_message(const pending_options& options) {
  check_due(options);
  check_timestamp(options.created_at, "created_at");
}

void check_filter(const message_filter& filter) {
  constexpr std::size_t longest_value = 500;
  const auto check_text = [](const std::string& text, std::size_t most, const char* what) {
    if (!text.empty() && text.size() <= most && is_plain_utf8(text)) return;
    refuse(std::string(what) + " of a filter has 1 to " + std::to_string(most) +
           " bytes of UTF-8 without NUL");
  };
  if (filter.older_than) check_delay(*filter.older_than, "older_than");
  if (filter.group) check_text(*filter.group, longest_key, "the group");
  if (filter.key_prefix) check_text(*filter.key_prefix, longest_key, "the key prefix");
  if (filter.error) check_text(*filter.error, longest_error, "the error");
  if (!filter.header) return;
  check_text(filter.header->name, longest_header_name, "the header's name");
  if (filter.header->value.empty()) return;
  check_text(filter.header->value, longest_value, "the header's value");
}

void check_stats(const stats_options& options) {
  if (options.count_to < 1 || options.count_to > 1'000'000) {
    refuse("count_to must be from 1 to 1,000,000; use exact to count all");
  }
}

}  // namespace tableq::inline v0::core
