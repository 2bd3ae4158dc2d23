// One thread that keeps many messages in flight.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cases.hpp"
#include "compare.hpp"
#include "subject.hpp"

namespace bench {

namespace {

constexpr std::size_t hundred = 100;

/// Shared with the thread that reports outcomes: its last report may come after the wait.
struct outcome_counts {
  std::atomic<std::size_t> known{0};
  std::atomic<bool> failed{false};
};

/// Enqueues for this time, and ends when all outcomes are known.
std::size_t enqueue_for(tableq::fifo_queue& mail, double seconds) {
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(seconds));
  const auto outcomes = std::make_shared<outcome_counts>();
  std::size_t sent = 0;
  while (std::chrono::steady_clock::now() < end && !outcomes->failed && !interrupted()) {
    for (std::size_t i = 0; i < hundred; ++i, ++sent) {
      mail.enqueue_async(std::string(payload()), {},
                         [outcomes](const tableq::outcome<tableq::message_id>& what) {
                           if (!what.ok()) outcomes->failed = true;
                           ++outcomes->known;
                           outcomes->known.notify_one();
                         });
    }
  }
  for (std::size_t now = outcomes->known; now < sent; now = outcomes->known) {
    outcomes->known.wait(now);
  }
  if (outcomes->failed) throw std::runtime_error("an asynchronous enqueue has failed");
  return sent;
}

void run(const bed& where, recorder& out) {
  tableq::database db = open(where);
  const side ours{.make = [mail = db.fifo("mail"), &where](std::size_t) -> operation {
    return [mail, &where]() mutable { return enqueue_for(mail, where.how.seconds); };
  }};
  const side limit{.make = on_raw(where.raw, action::enqueue, hundred)};
  json result = {{"case", "enqueue_async"}, {"threads", 1}, {"batch", 1}};
  result.update(compare(where.how, ours, limit));
  // On this side one call is a whole round.
  result.erase("p50_us");
  result.erase("p99_us");
  result["limit_batch"] = hundred;
  out.record(where, std::move(result));
  where.raw.fill(owner::tableq, "mail", 0);
  where.raw.fill(owner::raw, "plain", 0);
}

}  // namespace

std::vector<bench_case> asynchronous_cases() {
  return {{.name = "enqueue_async",
           .description = "one thread, one message a call, many in flight; limit: 100 a call",
           .fits = natively,
           .run = run}};
}

}  // namespace bench
