#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <tableq/limits.hpp>
#include <tableq/message_filter.hpp>
#include <tableq/options.hpp>
#include <tableq/stats.hpp>

namespace tableq::inline v0::core {

// Each throws error errc::invalid_argument (too_large for payloads) that says what is allowed,
// before anything is sent.

/// Of payloads, in bytes.
struct payload_limit {
  std::size_t most = 0;     ///< That an enqueue accepts.
  std::size_t highest = 0;  ///< That open_options may allow.
};

/// @param highest the longest payload that the database stores.
void check_open_options(const open_options& options, std::size_t highest);
void check_batch_size(std::size_t size, std::size_t most = 10'000);
void check_lease(std::chrono::milliseconds lease);
/// From 0 to 3,650 days.
[[nodiscard]] bool good_delay(std::chrono::milliseconds delay) noexcept;
void check_delay(std::chrono::milliseconds delay, std::string_view what = "delay");
void check_wait(std::chrono::milliseconds wait, bool in_transaction);
void check_timestamp(const std::optional<timestamp>& time, std::string_view what);
void check_retry(const retry_delays& retry);
void check_max_attempts(int attempts);
void check_time_to_live(const lifetime& length);
/// Whether a text may be a key. Plain SQL may have written another one.
[[nodiscard]] bool is_key(std::string_view text);
void check_key(std::string_view key);
void check_rate(double per_second);
void check_limits(const queue_limits& limits, kind queue_kind);
/// @param group empty: each group without limits of its own.
void check_group_name(std::string_view group);
/// @param group the same.
void check_group_limits(const group_limits& limits, std::string_view group);
void check_payload(std::string_view payload, const payload_limit& limit);
/// @param grouped whether the queue has groups.
void check_message(const claim_enqueue_options& options, bool grouped);
void check_message(const pending_options& options);
void check_stats(const stats_options& options);
void check_filter(const message_filter& filter);

}  // namespace tableq::inline v0::core
