// Reads of a long queue beside reads of a short one: the limit is tableq itself.
#include <chrono>
#include <utility>

#include "cases.hpp"
#include "compare.hpp"
#include "subject.hpp"

namespace bench {

namespace {

constexpr std::size_t little = 10'000;
constexpr std::size_t reads_a_round = 2000;
constexpr std::chrono::hours far{24};

std::size_t reads_of(const settings& how) {
  return reads_a_round * (how.rounds + 1);
}

operation reading(tableq::fifo_queue queue) {
  return [queue]() mutable { return std::size_t{queue.dequeue() ? 1U : 0U}; };
}

operation reading(tableq::claim_queue queue) {
  return [queue]() mutable -> std::size_t {
    const std::vector<tableq::delivery> taken = queue.take(1);
    if (taken.empty()) return 0;
    return queue.complete(taken.front().receipt) == tableq::settle_result::applied ? 1 : 0;
  };
}

template <class Queue>
side reads_of(Queue queue) {
  return {.make = [queue](std::size_t) { return reading(queue); }, .messages = reads_a_round};
}

void report(const bed& where, recorder& out, const std::string& name, const side& much,
            const side& few, json more) {
  json result = {{"case", name}, {"threads", 1}, {"batch", 1}};
  result.update(compare(where.how, much, few));
  result.update(more);
  result["limit_of"] = "tableq, " + std::to_string(little) + " waiting";
  out.record(where, std::move(result));
}

void many_waiting(const bed& where, recorder& out, const std::string& name, auto open_queue) {
  tableq::database db = open(where);
  auto large = open_queue(db, "large");
  auto small = open_queue(db, "small");
  const std::size_t waiting = where.how.messages * 5;
  where.raw.fill(owner::tableq, "small", little + reads_of(where.how));
  where.raw.fill(owner::tableq, "large", waiting + reads_of(where.how));
  report(where, out, name, reads_of(large), reads_of(small), {{"waiting", waiting}});
  db.drop("large");
  db.drop("small");
}

/// Messages that cannot be taken now: delayed and leased ones.
void add_others(const bed& where, tableq::claim_queue& jobs) {
  where.raw.fill(owner::tableq, jobs.name(), where.how.messages);
  while (!jobs.take(10'000, {.lease = far}).empty()) continue;
  constexpr std::size_t at_once = 10'000;
  const std::vector<tableq::new_claim_message> some(at_once,
                                                    {std::string(payload()), {.delay = far}});
  for (std::size_t done = 0; done < where.how.messages; done += at_once) {
    jobs.enqueue_batch(std::span(some).first(std::min(at_once, where.how.messages - done)));
  }
}

void many_beside(const bed& where, recorder& out, const std::string& name) {
  tableq::database db = open(where);
  tableq::claim_queue crowded = db.claim("crowded");
  tableq::claim_queue small = db.claim("small");
  add_others(where, crowded);
  for (const char* queue : {"crowded", "small"}) {
    where.raw.add(owner::tableq, queue, little + reads_of(where.how));
    where.raw.tidy(owner::tableq, queue);
  }
  report(where, out, name, reads_of(crowded), reads_of(small),
         {{"delayed", where.how.messages}, {"leased", where.how.messages}});
  db.drop("crowded");
  db.drop("small");
}

}  // namespace

std::vector<bench_case> backlog_cases() {
  const auto modes = std::vector<std::string>{"normal", "off"};
  return {
      {.name = "backlog_fifo",
       .description = "dequeue with many waiting, beside 10,000",
       .fits = natively,
       .synchronous = modes,
       .run =
           [](const bed& where, recorder& out) {
             many_waiting(where, out, "backlog_fifo",
                          [](auto& db, const char* name) { return db.fifo(name); });
           }},
      {.name = "backlog_claim",
       .description = "take and complete with many waiting, beside 10,000",
       .fits = natively,
       .synchronous = modes,
       .run =
           [](const bed& where, recorder& out) {
             many_waiting(where, out, "backlog_claim",
                          [](auto& db, const char* name) { return db.claim(name); });
           }},
      {.name = "beside_claim",
       .description = "take and complete with many delayed and leased beside",
       .fits = natively,
       .synchronous = modes,
       .run = [](const bed& where, recorder& out) { many_beside(where, out, "beside_claim"); }}};
}

}  // namespace bench
