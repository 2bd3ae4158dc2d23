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

  [[nodiscard]] std::array<std::string_view, 4> in_order() const noexcept {
    return {backend, queue, kind, operation};
  }
  template <class Other>
  [[nodiscard]] bool operator<(const metric_key<Other>& other) const noexcept {
    return in_order() < other.in_order();
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
};

using metric_snapshot = std::map<metric_key<std::string>, metric_series, std::less<>>;

/// The figures.
///
/// @par Thread safety
/// Shared objects: safe.
class metric_store {
 public:
  explicit metric_store(metrics_options options) : options_(std::move(options)) {}

  /// Calls `change(metric_series&)` under the lock.
  template <class Change>
  void count_for(const metric_key<std::string_view>& key, Change change) {
    if (!born_.here()) return;
    const std::scoped_lock hold(mutex_);
    auto found = series_.find(key);
    if (found == series_.end()) {
      found = series_
                  .try_emplace({std::string(key.backend), std::string(key.queue),
                                std::string(key.kind), std::string(key.operation)})
                  .first;
      found->second.buckets.resize(options_.buckets.size());
    }
    change(found->second);
  }

  /// Ends the figures of a queue.
  void forget(std::string_view backend, std::string_view queue) {
    if (!born_.here()) return;
    const std::scoped_lock hold(mutex_);
    std::erase_if(series_, [&](const auto& each) {
      return each.first.backend == backend && each.first.queue == queue;
    });
  }

  /// Empty in a child of the process that made them.
  [[nodiscard]] metric_snapshot all() const {
    if (!born_.here()) return {};
    const std::scoped_lock hold(mutex_);
    return series_;
  }
  [[nodiscard]] const metrics_options& options() const noexcept { return options_; }

 private:
  const birthplace born_;
  const metrics_options options_;
  mutable std::mutex mutex_;
  metric_snapshot series_;  // guarded by mutex_
};

/// Writes figures for a scraper.
std::string prometheus_text(const metric_snapshot& all, const metrics_options& options);
std::string json_text(const metric_snapshot& all, const metrics_options& options);

}  // namespace tableq::inline v0::core
