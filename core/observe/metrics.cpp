#include <tableq/metrics.hpp>

#include <algorithm>

#include <tableq/schema.hpp>

#include "core/observe/metric_store.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

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
  // Neither is this one of a queue that is there.
  if (operation.name == "drop" && !result.failed)
    return store_->forget(operation.backend, operation.queue);
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
  auto key = core::key_of(operation);
  key.operation = {};
  store_->count_for(key, [&](core::metric_series& series) {
    series.last_look = core::queue_look{.dead = stats.dead, .dead_letters = stats.dead_letters};
  });
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
