// The cost of a feature of a claim queue: a queue with it against one without.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "child_process.hpp"
#include "compare.hpp"
#include "statistics.hpp"
#include "subject.hpp"

namespace bench {

namespace {

using std::chrono::milliseconds;
using tableq::claim_enqueue_options;

constexpr std::size_t of_a_batch = 100;
constexpr const char* with_name = "jobs-with";
constexpr const char* plain_name = "jobs-plain";

struct feature {
  std::string name;
  tableq::claim_options options = {};
  tableq::queue_limits limits = {};
  bool groups = false;
  tableq::group_limits of_groups = {};
};

/// The messages of 1,000 groups come in turn.
claim_enqueue_options in_group(std::size_t number) {
  return {.group = "tenant " + std::to_string(number % 1000)};
}

struct two_queues {
  two_queues(const bed& where, const feature& what)
      : db(open(where)),
        with(db.claim(with_name, what.options)),
        plain(db.claim(plain_name)),
        groups(what.groups) {
    if (what.limits.rate || what.limits.concurrency) with.set_limits(what.limits);
    if (what.of_groups.running) with.set_group_limits(what.of_groups);
  }

  tableq::database db;
  tableq::claim_queue with;
  tableq::claim_queue plain;
  bool groups;

  void fill(const bed& where, bool feature, std::size_t messages) const {
    const bool grouped = feature && groups;
    fill_claims(where.raw, feature ? with : plain, messages,
                grouped ? in_group : std::function<claim_enqueue_options(std::size_t)>());
  }
};

operation enqueue_to(tableq::claim_queue queue, std::size_t batch, bool grouped) {
  return [queue, batch, grouped, next = std::size_t{0}]() mutable {
    if (batch == 1) {
      queue.enqueue(payload(), grouped ? in_group(next++) : claim_enqueue_options{});
      return batch;
    }
    std::vector<tableq::new_claim_message> all;
    for (std::size_t i = 0; i < batch; ++i)
      all.push_back({std::string(payload()), grouped ? in_group(next++) : claim_enqueue_options{}});
    queue.enqueue_batch(all);
    return batch;
  };
}

operation take_from(tableq::claim_queue queue, std::size_t batch) {
  return [queue, batch]() mutable { return queue.complete_batch(queue.take(batch)).size(); };
}

void run_calls(const bed& where, recorder& out, const std::string& name, const feature& what,
               action does, std::size_t batch) {
  const two_queues both(where, what);
  const auto side_of = [&](bool feature) {
    const tableq::claim_queue queue = feature ? both.with : both.plain;
    const bool grouped = feature && both.groups;
    side made{.make = [=](std::size_t) {
      return does == action::enqueue ? enqueue_to(queue, batch, grouped) : take_from(queue, batch);
    }};
    if (does != action::enqueue)
      made.fill = [&both, &where, feature](std::size_t n) { both.fill(where, feature, n); };
    return made;
  };
  json result = {{"case", name}, {"threads", 1}, {"batch", batch}, {"limit_of", "a plain queue"}};
  result.update(compare(where.how, side_of(true), side_of(false)));
  out.record(where, std::move(result));
  for (const bool feature : {true, false}) both.fill(where, feature, 0);
}

/// A worker empties the queue.
double drained(const bed& where, const two_queues& both, bool feature, std::size_t messages) {
  both.fill(where, feature, messages);
  const std::int64_t began = now_ns();
  tableq::worker working(
      feature ? both.with : both.plain,
      [](const tableq::delivery&) { std::this_thread::sleep_for(milliseconds{1}); },
      {.threads = 64, .until_empty = true});
  working.join();
  return static_cast<double>(messages) / (static_cast<double>(now_ns() - began) / 1e9);
}

void run_worker(const bed& where, recorder& out, const std::string& name, const feature& what) {
  const two_queues both(where, what);
  const auto messages =
      std::max<std::size_t>(static_cast<std::size_t>(where.how.seconds * 20'000), 100);
  std::vector<double> rates;
  std::vector<double> limits;
  std::vector<double> ratios;
  for (std::size_t round = 0; round < where.how.rounds && !interrupted(); ++round) {
    const bool first = round % 2 == 0;
    const double one = drained(where, both, first, messages);
    const double other = drained(where, both, !first, messages);
    rates.push_back(first ? one : other);
    limits.push_back(first ? other : one);
    ratios.push_back(rates.back() / limits.back());
  }
  out.record(where, {{"case", name},
                     {"threads", 64},
                     {"batch", 1},
                     {"rate", median(rates)},
                     {"limit", median(limits)},
                     {"limit_of", "a plain queue"},
                     {"ratio", median(ratios)},
                     {"spread", spread(ratios)},
                     {"rounds", where.how.rounds},
                     {"seconds", where.how.seconds},
                     {"payload", payload().size()}});
  for (const bool feature : {true, false}) both.fill(where, feature, 0);
}

}  // namespace

std::vector<bench_case> feature_cases() {
  const std::vector<feature> features{
      {.name = "groups", .options = {.groups = tableq::group_options{}}, .groups = true},
      {.name = "group_limit",
       .options = {.groups = tableq::group_options{}},
       .groups = true,
       .of_groups = {.running = 3}},
      {.name = "group_rate",
       .options = {.groups = tableq::group_options{}},
       .groups = true,
       .of_groups = {.running = 3, .rate = 1000.0}},
      {.name = "rate", .limits = {.rate = 1'000'000}},
      {.name = "concurrency", .limits = {.concurrency = 100'000}}};
  std::vector<bench_case> cases;
  const auto add = [&cases](const std::string& name, const std::string& description, auto run) {
    cases.push_back({.name = name,
                     .description = description + "; limit: a plain queue",
                     .fits = natively,
                     .run = [=](const bed& where, recorder& out) { run(where, out, name); }});
  };
  for (const feature& each : features) {
    for (const auto& [suffix, does, batch] :
         {std::tuple{"_enqueue", action::enqueue, std::size_t{1}},
          {"_enqueue_batch", action::enqueue, of_a_batch},
          {"_take_complete", action::take_complete, std::size_t{1}},
          {"_take_complete_batch", action::take_complete, of_a_batch}}) {
      if (!each.groups && does == action::enqueue) continue;
      add(each.name + suffix, "a queue with " + each.name,
          [=, what = does, count = batch](const bed& where, recorder& out,
                                          const std::string& name) {
            run_calls(where, out, name, each, what, count);
          });
    }
    add(each.name + "_worker", "64 handlers of 1 ms empty a queue with " + each.name,
        [=](const bed& where, recorder& out, const std::string& name) {
          run_worker(where, out, name, each);
        });
  }
  return cases;
}

}  // namespace bench
