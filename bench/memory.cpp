// Resident memory of one process after the first tenth of many messages, and at the end.
#include <unistd.h>

#include <fstream>
#include <utility>

#include "cases.hpp"
#include "measure.hpp"
#include "subject.hpp"

namespace bench {

namespace {

constexpr std::size_t threads = 4;

double resident_kib() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGE_SIZE)) / 1024;
}

/// Enqueues, dequeues and claims, single and in batches: all operations that may keep memory.
operation all_ways(const operation_maker& enqueue, const operation_maker& dequeue,
                   const operation_maker& enqueue_one, const operation_maker& dequeue_one) {
  return [=, in = enqueue(0), out = dequeue(0), in_one = enqueue_one(0),
          out_one = dequeue_one(0)]() -> std::size_t {
    std::size_t moved = in();
    out();
    moved += in_one();
    out_one();
    return moved;
  };
}

void run(const bed& where, recorder& out) {
  tableq::database db = open(where);
  const auto make = [&db](std::size_t) {
    return all_ways(on_tableq(db, action::enqueue, 100), on_tableq(db, action::dequeue, 100),
                    on_tableq(db, action::enqueue, 1), on_tableq(db, action::dequeue, 1));
  };
  const std::size_t all = where.how.messages;
  constexpr double no_bound = 3600;
  const outcome begin = measure(threads, {no_bound, all / 10}, make);
  const double first = resident_kib();
  const outcome rest = measure(threads, {no_bound, all - all / 10}, make);
  const double last = resident_kib();
  out.record(where, {{"case", "memory"},
                     {"threads", threads},
                     {"batch", 100},
                     {"messages", begin.messages + rest.messages},
                     {"rate", rest.rate()},
                     {"first_kib", first},
                     {"last_kib", last},
                     {"ratio", last / first},
                     {"limit_of", "resident memory after the first tenth"}});
  where.raw.fill(owner::tableq, queue_of(action::dequeue), 0);
}

}  // namespace

std::vector<bench_case> memory_cases() {
  return {{.name = "memory",
           .description = "resident memory at the end of many messages against the first tenth",
           .fits = natively,
           .synchronous = {"normal", "off"},
           .run = run}};
}

}  // namespace bench
