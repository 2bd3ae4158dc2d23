// Groups that take turns, or have limits: the cost of a message must not depend on their number.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "compare.hpp"
#include "subject.hpp"

namespace bench {

namespace {

constexpr const char* queue_name = "turns";

/// The rules of a queue's groups.
struct group_rules {
  bool by_turns = false;
  tableq::group_limits limits = {};
};

tableq::claim_queue open_grouped(tableq::database& db, const group_rules& rules) {
  tableq::claim_queue queue = db.claim(queue_name, {.groups = {.by_turns = rules.by_turns}});
  if (rules.limits != tableq::group_limits()) queue.set_group_limits(rules.limits);
  return queue;
}

void run(const bed& where, recorder& out, const std::string& name, std::size_t groups,
         const group_rules& rules) {
  tableq::database db = open(where);
  tableq::claim_queue queue = open_grouped(db, rules);
  const side ours{
      .make =
          [queue](std::size_t) {
            return [queue]() mutable -> std::size_t {
              const auto taken = queue.take_one();
              if (!taken) return 0;
              const auto settled = queue.complete(taken->receipt);
              return settled == tableq::settle_result::applied ? 1 : 0;
            };
          },
      .fill =
          [&](std::size_t n) {
            // Of each group at least one.
            fill_claims(where.raw, queue, std::max(n, groups), [&](std::size_t i) {
              return tableq::claim_enqueue_options{.group = "tenant " + std::to_string(i % groups)};
            });
          }};
  const side limit{.make = on_raw(where.raw, action::take_complete, 1), .fill = [&](std::size_t n) {
                     where.raw.fill(owner::raw, table_of(action::take_complete), n);
                   }};
  json result = {{"case", name}, {"threads", 1}, {"batch", 1}, {"groups", groups}};
  result.update(compare(where.how, ours, limit));
  out.record(where, std::move(result));
  db.drop(queue_name);
  where.raw.fill(owner::raw, table_of(action::take_complete), 0);
}

}  // namespace

std::vector<bench_case> turn_cases() {
  const auto with = [](const char* what, std::size_t groups, const group_rules& rules) {
    const std::string name = what + ("_" + std::to_string(groups));
    return bench_case{
        .name = name,
        .description = "take and complete, " + std::to_string(groups) + " groups",
        .fits = natively,
        .run = [=](const bed& where, recorder& out) { run(where, out, name, groups, rules); }};
  };
  std::vector<bench_case> out;
  for (const std::size_t groups : {std::size_t{10}, std::size_t{10'000}}) {
    out.push_back(with("turns", groups, {.by_turns = true}));
    out.push_back(with("limited", groups, {.limits = {.running = 3}}));
    // No start is waited for.
    out.push_back(with("rated", groups, {.limits = {.running = 3, .rate = 1000, .burst = 1000}}));
  }
  return out;
}

}  // namespace bench
