// Several processes on one file: their common rate, and the fairness between them.
#include <algorithm>
#include <utility>

#include "cases.hpp"
#include "child_process.hpp"
#include "measure.hpp"
#include "statistics.hpp"
#include "subject.hpp"

namespace bench {

namespace {

constexpr std::size_t processes = 8;
/// A round lasts this many times the usual length, so that the share of each process is stable.
constexpr double longer = 3;

struct crowd {
  std::vector<double> rates = {};
  std::vector<double> fairness = {};
  std::vector<double> longest = {};
  std::vector<double> p50 = {};
  std::vector<double> p99 = {};
};

void run_round(const bed& where, action what, crowd& all) {
  const json order = {{"do", "work"},
                      {"url", where.raw.url()},
                      {"action", what},
                      {"seconds", where.how.seconds * longer}};
  std::vector<child_process> children;
  for (std::size_t i = 0; i < processes; ++i) children.emplace_back(order);
  for (child_process& each : children) each.answer();
  for (const child_process& each : children) each.go();
  double rate = 0;
  std::vector<double> shares;
  std::vector<double> p50;
  std::vector<double> p99;
  double longest = 0;
  for (child_process& each : children) {
    const json did = each.answer();
    shares.push_back(did["messages"].get<double>());
    rate += shares.back() / std::max(did["seconds"].get<double>(), 0.001);
    longest = std::max(longest, did["longest_us"].get<double>());
    p50.push_back(did["p50_us"].get<double>());
    p99.push_back(did["p99_us"].get<double>());
  }
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  all.rates.push_back(rate);
  all.fairness.push_back(*most > 0 ? *least / *most : 0);
  all.longest.push_back(longest);
  all.p50.push_back(median(p50));
  all.p99.push_back(percentile(p99, 1));
}

void run(const bed& where, recorder& out, const std::string& name, action what) {
  tableq::database db = open(where);
  const auto prepared = on_tableq(db, what, 1);
  const auto raw = on_raw(where.raw, what, 1);
  std::vector<double> limits;
  std::vector<double> ratios;
  crowd all;
  std::size_t needed = 50'000;
  for (std::size_t round = 0; round <= where.how.rounds; ++round) {
    if (what == action::dequeue) where.raw.fill(owner::raw, table_of(what), needed);
    const double limit = measure(1, {where.how.seconds}, raw).rate();
    needed = std::max<std::size_t>(1000, static_cast<std::size_t>(limit * where.how.seconds * 1.5));
    if (round == 0) continue;  // The first round only finds the number of messages.
    if (what == action::dequeue) {
      where.raw.fill(owner::tableq, queue_of(what),
                     static_cast<std::size_t>(static_cast<double>(needed) * longer));
    }
    run_round(where, what, all);
    limits.push_back(limit);
    ratios.push_back(limit > 0 ? all.rates.back() / limit : 0);
  }
  out.record(where, {{"case", name},
                     {"threads", processes},
                     {"batch", 1},
                     {"rate", median(all.rates)},
                     {"limit", median(limits)},
                     {"ratio", median(ratios)},
                     {"spread", spread(ratios)},
                     {"fairness", median(all.fairness)},
                     {"longest_us", median(all.longest)},
                     {"p50_us", median(all.p50)},
                     {"p99_us", median(all.p99)},
                     {"limit_threads", 1},
                     {"rounds", where.how.rounds},
                     {"seconds", where.how.seconds * longer},
                     {"payload", payload().size()}});
  where.raw.fill(owner::tableq, queue_of(what), 0);
  where.raw.fill(owner::raw, table_of(what), 0);
}

}  // namespace

std::vector<bench_case> process_cases() {
  const auto with = [](const std::string& name, action what) {
    return bench_case{.name = name,
                      .description = "8 processes, one message a call; fairness: slowest / fastest",
                      .fits = with_one_writer,
                      .run = [=](const bed& where, recorder& out) { run(where, out, name, what); }};
  };
  return {with("enqueue_processes", action::enqueue), with("dequeue_processes", action::dequeue)};
}

}  // namespace bench
