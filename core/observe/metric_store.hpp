#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/metrics.hpp>
#include <tableq/worker_event.hpp>

#include "core/base/process.hpp"

namespace tableq::inline v0::core {

using total = std::uint64_t;

/// Errors by their codes, which begin at 1.
using counts_by_code = std::array<total, static_cast<std::size_t>(errc::internal) + 1>;
/// Results of messages, by worker_event::kind.
using counts_by_end = std::array<total, static_cast<std::size_t>(worker_event::kind::trouble) + 1>;

/// The labels of figures. Views, or strings that it owns.
template <class Text>
struct metric_key {
  Text backend;
  Text queue;  ///< Empty: the figures belong to no queue.
  Text kind;
  Text operation;  ///< Empty: the figures of the whole queue or backend.

  template <class Other>
  friend bool operator==(const metric_key& a, const metric_key<Other>& b) {
    return std::tie(a.operation, a.queue, a.kind, a.backend) ==
           std::tie(b.operation, b.queue, b.kind, b.backend);
  }
  friend bool operator<(const metric_key& a, const metric_key& b) {
    return std::tie(a.backend, a.queue, a.kind, a.operation) <
           std::tie(b.backend, b.queue, b.kind, b.operation);
  }
};

/// The findings of the last `stats` of a queue.
struct queue_look {
  std::size_t dead = 0;
  std::optional<std::size_t> dead_letters = {};
};

/// The figures of one key. Figures without meaning for the key stay zero.
struct metric_series {
  total operations = 0;
  total messages = 0;
  total nanoseconds = 0;
  std::vector<total> buckets = {};  ///< Not cumulative; longer durations are in none.
  counts_by_code errors = {};
  counts_by_code retries = {};
  total leases_lost = 0;
  counts_by_end handled = {};
  total sessions_opened = 0;
  total sessions_closed = 0;
  total sessions_broken = 0;  ///< Of those closed.
  std::optional<queue_look> last_look = {};

  void add(const metric_series& other);
};

using metric_snapshot = std::map<metric_key<std::string>, metric_series>;

/// The figures, in shards: each thread has one that it shares with few others.
///
/// @par Thread safety
/// Shared objects: safe.
class metric_store {
 public:
  explicit metric_store(metrics_options options) : options_(std::move(options)) {}

  /// Calls `change(metric_series&)` under the lock of the calling thread's shard.
  template <class Change>
  void count_for(const metric_key<std::string_view>& key, Change change) {
    if (!born_.here()) return;
    shard& mine = shards_[number_of_thread() % shards_.size()];
    const std::scoped_lock hold(mine.mutex);
    auto found = mine.series.find(key);
    if (found == mine.series.end()) {
      found = mine.series
                  .try_emplace({std::string(key.backend), std::string(key.queue),
                                std::string(key.kind), std::string(key.operation)})
                  .first;
      found->second.buckets.resize(options_.buckets.size());
    }
    change(found->second);
  }

  /// Keeps what `stats` of a queue found, in place of what it found before.
  void keep(const metric_key<std::string_view>& key, const queue_look& look) {
    if (!born_.here()) return;
    const std::scoped_lock hold(looks_mutex_);
    looks_[{std::string(key.backend), std::string(key.queue), std::string(key.kind), {}}] = look;
  }

  /// All shards together, and the last looks. Empty in a child of the process that made them.
  [[nodiscard]] metric_snapshot all() const;
  [[nodiscard]] const metrics_options& options() const noexcept { return options_; }

 private:
  struct hash {
    using is_transparent = void;
    template <class Text>
    std::size_t operator()(const metric_key<Text>& key) const noexcept {
      constexpr std::size_t odd = 0x9E3779B97F4A7C15U;
      const std::hash<std::string_view> hash_of;
      return hash_of(key.operation) + odd * hash_of(key.queue);
    }
  };
  /// Shares no cache line with another shard.
  struct alignas(128) shard {
    mutable std::mutex mutex;
    std::unordered_map<metric_key<std::string>, metric_series, hash, std::equal_to<>>
        series;  // guarded by mutex
  };
  static constexpr std::size_t most_shards = 64;

  /// Threads are numbered in the order of their first use.
  static std::size_t number_of_thread() noexcept;

  const birthplace born_;
  metrics_options options_;
  mutable std::mutex looks_mutex_;
  std::map<metric_key<std::string>, queue_look> looks_;  // guarded by looks_mutex_
  std::array<shard, most_shards> shards_;
};

/// Writes figures for a scraper.
std::string prometheus_text(const metric_snapshot& all, const metrics_options& options);
std::string json_text(const metric_snapshot& all, const metrics_options& options);

}  // namespace tableq::inline v0::core
