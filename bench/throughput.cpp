// Messages a second, by action, threads and size of batches.
#include <string>
#include <utility>

#include "cases.hpp"
#include "compare.hpp"
#include "subject.hpp"

namespace bench {

namespace {

constexpr std::size_t hundred = 100;

/// Objects of an application, of this length.
std::string json_of(std::size_t length) {
  std::string out = R"({"items": [)";
  for (std::size_t i = 0; out.size() + 80 < length; ++i) {
    const std::string number = std::to_string(i * 7919 % 10007);
    out.append(R"({"id": )").append(number).append(R"(, "name": "item )").append(number);
    out.append(R"(", "price": )").append(number).append(R"(.5}, )");
  }
  out += "{}]}";
  out.append(length - out.size(), ' ');
  return out;
}

void run(const bed& where, recorder& out, const std::string& name, action what, bool many,
         std::size_t batch) {
  const std::size_t threads = many ? where.how.threads : 1;
  tableq::database db = open(where);
  side ours{.threads = threads, .make = on_tableq(db, what, batch)};
  // With one writer at a time, more raw clients are not faster than one.
  side limit{.threads = where.kind.one_writer ? 1 : threads,
             .make = on_raw(where.raw, what, batch)};
  if (what != action::enqueue) {
    ours.fill = [&](std::size_t n) {
      if (what == action::take_complete) return fill_claims(where.raw, db.claim(queue_of(what)), n);
      where.raw.fill(owner::tableq, queue_of(what), n);
    };
    limit.fill = [&](std::size_t n) { where.raw.fill(owner::raw, table_of(what), n); };
  }
  json result = {{"case", name}, {"threads", threads}, {"batch", batch}};
  result.update(compare(where.how, ours, limit));
  out.record(where, std::move(result));
  where.raw.fill(owner::tableq, queue_of(what), 0);
  where.raw.fill(owner::raw, table_of(what), 0);
}

}  // namespace

std::vector<bench_case> throughput_cases() {
  std::vector<bench_case> cases;
  const auto add = [&cases](const std::string& name, const std::string& description, action what,
                            bool many, std::size_t batch, bool (*fits)(const database_kind&)) {
    cases.push_back({.name = name,
                     .description = description,
                     .fits = fits,
                     .run = [=](const bed& where, recorder& out) {
                       run(where, out, name, what, many, batch);
                     }});
  };
  add("enqueue", "one thread, one message a call", action::enqueue, false, 1, everywhere);
  add("dequeue", "one thread, one message a call", action::dequeue, false, 1, everywhere);
  add("take_complete", "one thread, one message a call", action::take_complete, false, 1,
      everywhere);
  add("enqueue_batch", "one thread, 100 messages a call", action::enqueue, false, hundred,
      everywhere);
  add("dequeue_batch", "one thread, 100 messages a call", action::dequeue, false, hundred,
      everywhere);
  add("take_complete_batch", "one thread, 100 messages a call", action::take_complete, false,
      hundred, everywhere);
  add("enqueue_threads", "32 threads, one message a call", action::enqueue, true, 1, natively);
  add("dequeue_threads", "32 threads, one message a call", action::dequeue, true, 1, natively);
  add("take_complete_threads", "32 threads, one message a call", action::take_complete, true, 1,
      natively);
  add("dequeue_batch_threads", "32 threads, 100 messages a call", action::dequeue, true, hundred,
      natively);
  for (const auto& [size, length] :
       {std::pair{"10kB", 10'000}, {"100kB", 100'000}, {"1MB", 1'000'000}}) {
    for (const action what : {action::enqueue, action::take_complete}) {
      if (what == action::enqueue && length > 100'000) continue;  // Rounds add to each other.
      const std::string name =
          std::string(what == action::enqueue ? "enqueue_" : "take_complete_") + size;
      cases.push_back(
          {.name = name,
           .description = std::string("one thread, one message of JSON a call, ") + size,
           .fits = natively,
           .run = [=, bytes = static_cast<std::size_t>(length)](const bed& where, recorder& out) {
             const other_payload of_case(json_of(bytes));
             run(where, out, name, what, false, 1);
           }});
    }
  }
  return cases;
}

}  // namespace bench
