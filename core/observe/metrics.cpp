#include <tableq/metrics.hpp>

#include <algorithm>
#include <atomic>

#include <tableq/schema.hpp>

#include "core/observe/metric_store.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

template <class Counts>
void add_all(Counts& sums, const Counts& counts) {
  std::transform(sums.begin(), sums.end(), counts.begin(), sums.begin(), std::plus<>());
}

metric_key<std::string_view> key_of(const observed_operation& operation) {
  return {operation.backend, operation.queue,
          operation.kind ? to_string(*operation.kind) : std::string_view(), operation.name};
}

void check(const metrics_options& options) {
  constexpr std::size_t most = 64;
  const auto& bounds = options.buckets;
  const bool rising =
      std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) == bounds.end();
  if (bounds.empty() || bounds.size() > most || !rising || bounds.front().count() <= 0) {
    throw error(errc::invalid_argument, advice::never,
                "buckets of metrics are 1 to 64 positive durations, each longer than the one "
                "before",
                {.operation = "metrics"});
  }
}

}  // namespace

void metric_series::add(const metric_series& other) {
  operations += other.operations;
  messages += other.messages;
  nanoseconds += other.nanoseconds;
  buckets.resize(std::max(buckets.size(), other.buckets.size()));
  for (std::size_t i = 0; i < other.buckets.size(); ++i) buckets[i] += other.buckets[i];
  add_all(errors, other.errors);
  add_all(retries, other.retries);
  leases_lost += other.leases_lost;
  add_all(handled, other.handled);
  sessions_opened += other.sessions_opened;
  sessions_closed += other.sessions_closed;
  sessions_broken += other.sessions_broken;
}

metric_snapshot metric_store::all() const {
  metric_snapshot out;
  if (!born_.here()) return out;
  for (const shard& one : shards_) {
    const std::scoped_lock hold(one.mutex);
    for (const auto& [key, series] : one.series) out[key].add(series);
  }
  const std::scoped_lock hold(looks_mutex_);
  for (const auto& [key, look] : looks_) out[key].last_look = look;
  return out;
}

std::size_t metric_store::number_of_thread() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace core

metrics::metrics(const metrics_options& options) {
  core::check(options);
  store_ = std::make_unique<core::metric_store>(options);
}
metrics::~metrics() = default;

std::string metrics::prometheus() const {
  return core::prometheus_text(store_->all(), store_->options());
}
std::string metrics::json() const {
  return core::json_text(store_->all(), store_->options());
}

void metrics::after(const observed_operation& operation, const operation_result& result) {
  const auto& bounds = store_->options().buckets;
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), result.duration);
  store_->count_for(core::key_of(operation), [&](core::metric_series& series) {
    ++series.operations;
    series.messages += result.messages;
    series.nanoseconds += static_cast<core::total>(result.duration.count());
    if (bucket != bounds.end()) ++series.buckets[static_cast<std::size_t>(bucket - bounds.begin())];
    if (result.failed) ++series.errors.at(static_cast<std::size_t>(*result.failed));
  });
}

void metrics::retrying(const observed_operation& operation, const operation_retry& retry) {
  store_->count_for(core::key_of(operation), [&](core::metric_series& series) {
    ++series.retries.at(static_cast<std::size_t>(retry.failed));
  });
}

void metrics::leases_lost(const observed_operation& operation, std::size_t count) {
  store_->count_for(core::key_of(operation),
                    [&](core::metric_series& series) { series.leases_lost += count; });
}

void metrics::counted(const observed_operation& operation, const claim_stats& stats) {
  store_->keep({operation.backend,
                operation.queue,
                operation.kind ? to_string(*operation.kind) : std::string_view(),
                {}},
               {.dead = stats.dead, .dead_letters = stats.dead_letters});
}

void metrics::handled(const handled_message& message) {
  store_->count_for({message.backend, message.queue, to_string(kind::claim), {}},
                    [&](core::metric_series& series) {
                      ++series.handled.at(static_cast<std::size_t>(message.what));
                    });
}

void metrics::session_opened(std::string_view backend, std::chrono::nanoseconds /*duration*/) {
  store_->count_for({backend, {}, {}, {}},
                    [](core::metric_series& series) { ++series.sessions_opened; });
}

void metrics::session_closed(std::string_view backend, bool broken) {
  store_->count_for({backend, {}, {}, {}}, [&](core::metric_series& series) {
    ++series.sessions_closed;
    series.sessions_broken += broken ? 1 : 0;
  });
}

}  // namespace tableq::inline v0
