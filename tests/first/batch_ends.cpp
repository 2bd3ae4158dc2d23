#include "first/place.hpp"
#include "support/in_threads.hpp"

namespace tableq_test::first {

/// The last two messages of a batch are completed at the same time, each by a process of its own:
/// the row of the batch, READPAST and NOWAIT decide which of them ends it.
void end_batches(report& to, const place& on) {
  using namespace std::chrono_literals;
  constexpr int rounds = 50;
  tableq::database one = on.open();
  tableq::database other = on.open();
  auto ends = one.fifo("ends");
  auto jobs = one.claim("parts", {.batches = true});
  auto others_jobs = other.claim("parts");
  int late = 0;
  int wrong = 0;
  for (int round = 0; round < rounds && !interrupted; ++round) {
    auto all = jobs.begin_batch({.then = tableq::batch_end{.queue = "ends", .payload = "over"}});
    jobs.enqueue_batch({{"a", {.batch = all}}, {"b", {.batch = all}}});
    all.seal();
    const auto taken = jobs.take(2);
    if (taken.size() != 2) throw std::runtime_error("a message of a batch was not ready");
    in_threads(2, [&](int i) {
      static_cast<void>(
          (i == 0 ? jobs : others_jobs).complete(taken.at(static_cast<std::size_t>(i))));
    });
    auto end = ends.dequeue();
    if (!end) ++late;
    if (!end) end = ends.dequeue({.wait = 20s});
    if (!end || ends.dequeue()) ++wrong;
  }
  to.note(std::to_string(rounds) + " batches, of which " + std::to_string(late) +
          " ended with a later look");
  if (wrong != 0) to.finding(std::to_string(wrong) + " batches did not end, or twice");
}

}  // namespace tableq_test::first
