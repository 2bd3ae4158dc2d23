#include "compare.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "statistics.hpp"

namespace bench {

namespace {

/// The results of one side's rounds.
struct series {
  std::vector<double> rates = {};
  std::vector<double> p50 = {};
  std::vector<double> p99 = {};
  std::size_t needed = 0;  ///< Messages to add before each round.

  void add(outcome&& measured) {
    rates.push_back(measured.rate());
    p50.push_back(percentile(measured.latency, 0.5));
    p99.push_back(percentile(std::move(measured.latency), 0.99));
  }
};

/// Of payloads that are added before it is known how many a round needs.
constexpr std::size_t most_bytes = std::size_t{64} * 1024 * 1024;

/// A short run that warms plans and caches, and finds the number of messages for a round.
void warm_up(const settings& how, const side& one, series& results) {
  const std::size_t first = std::min<std::size_t>(50'000, most_bytes / payload().size());
  const double seconds = std::min(how.seconds, 0.2);
  if (one.fill) one.fill(std::max(one.least, std::min(first, how.messages)));
  const outcome pilot = measure(one.threads, {seconds, one.messages}, one.make);
  const std::size_t reserve = std::min<std::size_t>(1000, most_bytes / payload().size());
  results.needed =
      std::max(one.least, reserve + static_cast<std::size_t>(pilot.rate() * how.seconds * 1.5));
}

void run_round(const settings& how, const side& one, series& results) {
  if (one.fill) one.fill(results.needed);
  results.add(measure(one.threads, {how.seconds, one.messages}, one.make));
}

}  // namespace

json compare(const settings& how, const side& ours, const side& limit) {
  series our_rounds;
  series limit_rounds;
  warm_up(how, ours, our_rounds);
  warm_up(how, limit, limit_rounds);
  std::vector<double> ratios;
  for (std::size_t round = 0; round < how.rounds; ++round) {
    if (round % 2 == 0) run_round(how, ours, our_rounds);
    run_round(how, limit, limit_rounds);
    if (round % 2 == 1) run_round(how, ours, our_rounds);
    const double reference = limit_rounds.rates.back();
    ratios.push_back(reference > 0 ? our_rounds.rates.back() / reference : 0);
  }
  return {{"rate", median(our_rounds.rates)},
          {"limit", median(limit_rounds.rates)},
          {"ratio", median(ratios)},
          {"spread", spread(ratios)},
          {"p50_us", median(our_rounds.p50)},
          {"p99_us", median(our_rounds.p99)},
          {"limit_p50_us", median(limit_rounds.p50)},
          {"limit_p99_us", median(limit_rounds.p99)},
          {"limit_threads", limit.threads},
          {"rounds", how.rounds},
          {"seconds", how.seconds},
          {"payload", payload().size()}};
}

}  // namespace bench
