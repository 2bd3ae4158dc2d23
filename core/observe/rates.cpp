#include <algorithm>
#include <chrono>

#include <tableq/stats.hpp>

namespace tableq::inline v0 {
namespace {

/// The number of messages in the queue; nothing if the counts are only lower bounds.
std::optional<std::size_t> inside(const queue_stats& stats) {
  const bool all =
      stats.counted_to == 0 || std::max(stats.waiting, stats.delayed) < stats.counted_to;
  return all ? std::optional(stats.waiting + stats.delayed) : std::nullopt;
}
std::optional<std::size_t> inside(const claim_stats& stats) {
  const bool all = stats.counted_to == 0 || std::max({stats.ready, stats.delayed + stats.leased,
                                                      stats.held}) < stats.counted_to;
  return all ? std::optional(stats.ready + stats.delayed + stats.leased + stats.held)
             : std::nullopt;
}

template <class Stats>
queue_rates between(const Stats& earlier, const Stats& later) {
  const double seconds = std::chrono::duration<double>(later.as_of - earlier.as_of).count();
  if (seconds <= 0 || !later.last_id) return {};
  const std::int64_t added = later.last_id->value - earlier.last_id.value_or(message_id{}).value;
  if (added < 0) return {};
  queue_rates out{.enqueued = static_cast<double>(added) / seconds};
  const auto before = inside(earlier);
  const auto after = inside(later);
  if (before && after) {
    const double more = static_cast<double>(*after) - static_cast<double>(*before);
    out.left = std::max(0.0, (static_cast<double>(added) - more) / seconds);
  }
  return out;
}

}  // namespace

queue_rates rates_between(const queue_stats& earlier, const queue_stats& later) {
  return between(earlier, later);
}
queue_rates rates_between(const claim_stats& earlier, const claim_stats& later) {
  return between(earlier, later);
}

}  // namespace tableq::inline v0
