// Reads beside an open transaction, which prevents the clean-up of deleted rows: the last tenth
// against the first.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cases.hpp"
#include "measure.hpp"
#include "statistics.hpp"
#include "subject.hpp"

namespace bench {

namespace {

constexpr std::size_t points = 20;
constexpr std::size_t windows = 5;
/// The limit for a side that becomes ever slower, in lengths of a measurement.
constexpr double patience = 200;
constexpr double patience_with_raw = 20;

struct curve {
  std::vector<double> reads = {};
  std::vector<double> rates = {};
};

/// Each point has some windows of single reads; between the points there are reads of a hundred.
curve follow(const settings& how, const operation_maker& one, const operation_maker& many,
             double patience_left) {
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(how.seconds * patience_left));
  const bounds window{how.seconds / windows};
  curve out;
  std::size_t done = 0;
  for (std::size_t point = 0; point <= points; ++point) {
    const std::size_t at = how.messages * point / points;
    while (done < at) {
      const outcome moved = measure(1, {how.seconds, at - done}, many);
      if (moved.messages == 0) return out;
      done += moved.messages;
      if (std::chrono::steady_clock::now() > end) return out;
    }
    std::vector<double> rates;
    const std::size_t from = done;
    for (std::size_t i = 0; i < windows; ++i) {
      const outcome read = measure(1, window, one);
      done += read.messages;
      if (read.messages > 0) rates.push_back(read.rate());
    }
    if (rates.empty()) break;
    out.reads.push_back(static_cast<double>(from));
    out.rates.push_back(median(rates));
    if (done >= how.messages) break;
  }
  return out;
}

/// A share of the number that was reached.
double tenth(const curve& reached, bool last) {
  const double all = reached.reads.empty() ? 0 : reached.reads.back();
  std::vector<double> rates;
  for (std::size_t i = 0; i < reached.reads.size(); ++i) {
    const bool inside = last ? reached.reads[i] >= 0.9 * all : reached.reads[i] <= 0.1 * all;
    if (inside) rates.push_back(reached.rates[i]);
  }
  return median(rates);
}

/// The transaction that stays open.
enum class beside { reader, writer };

constexpr const char* about(beside what) {
  return what == beside::writer ? "a transaction open that has added a message"
                                : "a transaction open that holds a snapshot";
}

std::unique_ptr<held> hold(const bed& where, owner whose, const std::string& table, beside what) {
  return what == beside::reader ? where.raw.hold_snapshot(whose) : where.raw.hold_writer(table);
}

/// The reads of the last windows come after the last point.
std::size_t stored_for(const settings& how) {
  return how.messages + how.messages / 4 + 10'000;
}

curve of_tableq(const bed& where, action what, beside open_one) {
  tableq::database db = open(where);
  const auto one = on_tableq(db, what, 1);
  const auto many = on_tableq(db, what, 100);
  where.raw.fill(owner::tableq, queue_of(what), stored_for(where.how));
  curve out;
  {
    const auto open = hold(where, owner::tableq, queue_of(what), open_one);
    out = follow(where.how, one, many, patience);
  }
  where.raw.fill(owner::tableq, queue_of(what), 0);
  return out;
}

/// Of ten groups that may run three messages each.
curve of_limited(const bed& where, action what, beside open_one) {
  constexpr const char* name = "limited";
  tableq::database db = open(where);
  tableq::claim_queue queue = db.claim(name, {.groups = tableq::group_options()});
  queue.set_group_limits({.running = 3});
  fill_claims(where.raw, queue, stored_for(where.how), [](std::size_t i) {
    return tableq::claim_enqueue_options{.group = "tenant " + std::to_string(i % 10)};
  });
  const auto reads = [queue](std::size_t batch) {
    return [queue, batch](std::size_t) {
      return [queue, batch]() mutable { return queue.complete_batch(queue.take(batch)).size(); };
    };
  };
  curve out;
  {
    const auto open = hold(where, owner::tableq, queue_of(what), open_one);
    out = follow(where.how, reads(1), reads(30), patience);
  }
  db.drop(name);
  return out;
}

using follower = curve (*)(const bed& where, action what, beside open_one);

void run(const bed& where, recorder& out, const std::string& name, action what, beside open_one,
         follower of) {
  const settings& how = where.how;
  const std::size_t stored = stored_for(how);
  const curve ours = of(where, what, open_one);
  where.raw.fill(owner::raw, table_of(what), stored);
  curve plain;
  {
    const auto open = hold(where, owner::raw, table_of(what), open_one);
    plain =
        follow(how, on_raw(where.raw, what, 1), on_raw(where.raw, what, 100), patience_with_raw);
  }
  where.raw.fill(owner::raw, table_of(what), 0);
  const double first = tenth(ours, false);
  const double last = tenth(ours, true);
  out.record(where, {{"case", name},
                     {"beside", about(open_one)},
                     {"threads", 1},
                     {"batch", 1},
                     {"rate", last},
                     {"limit", first},
                     {"ratio", first > 0 ? last / first : 0},
                     {"limit_of", "tableq, the first tenth"},
                     {"messages", how.messages},
                     {"reached", ours.reads.empty() ? 0 : ours.reads.back()},
                     {"rounds", 1},
                     {"reads", ours.reads},
                     {"rates", ours.rates},
                     {"raw_reads", plain.reads},
                     {"raw_rates", plain.rates}});
}

}  // namespace

std::vector<bench_case> growth_cases() {
  const auto with = [](const std::string& name, action what, beside open_one,
                       follower of = of_tableq) {
    const bool writes = open_one == beside::writer;
    return bench_case{
        .name = name,
        .description =
            std::string("the last tenth of many reads against the first, ") + about(open_one),
        .fits = writes ? with_many_writers : natively,
        .synchronous = {"normal", "off"},
        .run = [=](const bed& where, recorder& out) { run(where, out, name, what, open_one, of); }};
  };
  return {with("growth_fifo", action::dequeue, beside::reader),
          with("growth_claim", action::take_complete, beside::reader),
          with("growth_limited", action::take_complete, beside::reader, of_limited),
          with("growth_fifo_writer", action::dequeue, beside::writer),
          with("growth_claim_writer", action::take_complete, beside::writer)};
}

}  // namespace bench
