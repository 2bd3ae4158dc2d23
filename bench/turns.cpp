// Groups that take turns: the cost of a message must not depend on their number.
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

tableq::claim_queue open_turns(tableq::database& db) {
  return db.claim(queue_name, {.groups = {.by_turns = true}});
}

void run(const bed& where, recorder& out, const std::string& name, std::size_t groups) {
  tableq::database db = open(where);
  tableq::claim_queue queue = open_turns(db);
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
  const auto with = [](std::size_t groups) {
    const std::string name = "turns_" + std::to_string(groups);
    return bench_case{
        .name = name,
        .description = "take and complete, " + std::to_string(groups) + " groups in turn",
        .fits = natively,
        .run = [=](const bed& where, recorder& out) { run(where, out, name, groups); }};
  };
  return {with(10), with(10'000)};
}

}  // namespace bench
