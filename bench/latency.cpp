// The time from the call of enqueue to the return of a waiting dequeue, without other load.
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "cases.hpp"
#include "child_process.hpp"
#include "statistics.hpp"
#include "subject.hpp"
#include "waiting_reader.hpp"

namespace bench {

namespace {

using std::chrono::milliseconds;

/// Longer than any pause between notifications: the reader is idle at each message.
constexpr milliseconds pause{350};
constexpr std::size_t samples_a_round = 10;

double since_us(std::int64_t begin, std::int64_t end) {
  return static_cast<double>(end - begin) / 1000;
}

/// An enqueue and a dequeue in one thread: the lowest cost of a message.
double alone_us(tableq::fifo_queue& queue) {
  const std::int64_t begin = now_ns();
  queue.enqueue(payload());
  static_cast<void>(queue.dequeue());
  return since_us(begin, now_ns());
}

json latencies(const bed& where, const std::string& name, const std::vector<double>& all,
               const std::vector<double>& limit) {
  json out = {{"case", name},
              {"threads", 1},
              {"batch", 1},
              {"p50_us", percentile(all, 0.5)},
              {"p99_us", percentile(all, 0.99)},
              {"limit_p50_us", percentile(limit, 0.5)},
              {"limit_p99_us", percentile(limit, 0.99)},
              {"above_us", percentile(all, 0.5) - percentile(limit, 0.5)},
              {"samples", all.size()},
              {"rounds", where.how.rounds}};
  out["ratio"] = limit.empty() ? 0 : percentile(all, 0.5) / percentile(limit, 0.5);
  return out;
}

/// The waiting reader is a thread of this process; the limit is the same work by one thread.
void inside(const bed& where, recorder& out) {
  tableq::database db = open(where);
  tableq::fifo_queue alone = db.fifo("alone");
  waiting_reader reader(db.fifo("mail"));
  std::vector<double> limit;
  for (std::size_t i = 0; i < samples_a_round * where.how.rounds; ++i) {
    std::this_thread::sleep_for(pause / 10);
    limit.push_back(alone_us(alone));
    std::this_thread::sleep_for(pause / 10);
    reader.send();
  }
  out.record(where, latencies(where, "latency_inside", reader.finish(), limit));
}

/// The waiting reader is another process. The limit: a bare notification if the database has them,
/// otherwise the same work by one thread.
void between(const bed& where, recorder& out) {
  tableq::database db = open(where);
  tableq::fifo_queue mail = db.fifo("mail");
  tableq::fifo_queue alone = db.fifo("alone");
  child_process reader({{"do", "receive"}, {"url", where.raw.url()}});
  reader.answer();
  const std::unique_ptr<hand_over> bare = where.raw.notifications();
  std::vector<double> all;
  std::vector<double> limit;
  for (std::size_t i = 0; i < samples_a_round * where.how.rounds; ++i) {
    std::this_thread::sleep_for(pause / 2);
    limit.push_back(bare ? bare->send_and_receive() : alone_us(alone));
    std::this_thread::sleep_for(pause / 2);
    const std::int64_t begin = now_ns();
    mail.enqueue(payload());
    all.push_back(since_us(begin, reader.answer()["received"].get<std::int64_t>()));
  }
  mail.enqueue(last_message);
  out.record(where, latencies(where, "latency_between", all, limit));
}

}  // namespace

std::vector<bench_case> latency_cases() {
  return {{.name = "latency_inside",
           .description = "idle, enqueue to receipt, by a thread of the same process",
           .fits = natively,
           .run = inside},
          {.name = "latency_between",
           .description = "idle, enqueue to receipt, by another process",
           .fits = natively,
           .run = between}};
}

}  // namespace bench
