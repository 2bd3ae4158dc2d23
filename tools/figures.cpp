#include "figures.hpp"

namespace tool {

namespace {

template <class Visit>
auto either(const queue_figures& of, Visit visit) {
  return std::visit(visit, of.found);
}

}  // namespace

tableq::timestamp queue_figures::as_of() const {
  return either(*this, [](const auto& stats) { return stats.as_of; });
}

std::optional<tableq::timestamp> queue_figures::oldest() const {
  return either(*this, [](const auto& stats) { return stats.oldest; });
}

queue_figures look_at(const any_source& opened, const tableq::stats_options& options) {
  return std::visit(
      [&](const auto& queue) -> queue_figures {
        return {.queue = queue.name(), .kind = queue.kind(), .found = queue.stats(options)};
      },
      opened);
}

std::string figure::text() const {
  if (!count) return "-";
  return std::to_string(*count) + (at_least ? "+" : "");
}

std::vector<figure> figures_of(const queue_figures& of) {
  if (const auto* claim = std::get_if<tableq::claim_stats>(&of.found)) {
    const auto reached = [&](std::size_t count) {
      return claim->counted_to && count >= *claim->counted_to;
    };
    // Delayed and leased messages may have been counted together.
    const bool waiting = reached(claim->delayed + claim->leased);
    return {{"ready", claim->ready, reached(claim->ready)},
            {"delayed", claim->delayed, waiting},
            {"leased", claim->leased, waiting},
            {"held", claim->held, reached(claim->held)},
            {"done", claim->done, reached(claim->done)},
            {"dead", claim->dead, reached(claim->dead)},
            {"dead_letters", claim->dead_letters, claim->dead_letters_at_least}};
  }
  const auto& stats = std::get<tableq::queue_stats>(of.found);
  const auto reached = [&](std::size_t count) {
    return stats.counted_to && count >= *stats.counted_to;
  };
  figure delayed{"delayed", std::nullopt};
  if (of.kind == tableq::kind::pending) {
    delayed = {"delayed", stats.delayed, reached(stats.delayed)};
  }
  return {{"ready", stats.waiting, reached(stats.waiting)},
          delayed,
          {"leased", std::nullopt},
          {"held", std::nullopt},
          {"done", std::nullopt},
          {"dead", std::nullopt},
          {"dead_letters", std::nullopt}};
}

json figures_json(const queue_figures& of) {
  json result{{"queue", of.queue}, {"kind", tableq::to_string(of.kind)}};
  json at_least = json::array();
  for (const figure& each : figures_of(of)) {
    result[std::string(each.name)] = each.count ? json(*each.count) : json();
    if (each.at_least) at_least.push_back(each.name);
  }
  const auto* claim = std::get_if<tableq::claim_stats>(&of.found);
  result["due"] = claim != nullptr ? json(claim->due) : json();
  result["oldest"] = iso_or_null(of.oldest());
  const auto last = either(of, [](const auto& stats) { return stats.last_id; });
  result["last_id"] = last ? json(last->value) : json();
  result["as_of"] = iso(of.as_of());
  result["at_least"] = std::move(at_least);
  return result;
}

tableq::queue_rates rates_of(const queue_figures& earlier, const queue_figures& later) {
  return std::visit(
      [&](const auto& now) -> tableq::queue_rates {
        const auto* before = std::get_if<std::decay_t<decltype(now)>>(&earlier.found);
        return before == nullptr ? tableq::queue_rates() : rates_between(*before, now);
      },
      later.found);
}

}  // namespace tool
