// The plain statements on the table of a claim queue, against the same on a plain table: which part
// of a take's price is the table's.
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "compare.hpp"
#include "subject.hpp"

namespace bench {

namespace {

void run_on_table(const bed& where, recorder& out, const std::string& name,
                  const std::vector<std::string>& changes, std::size_t batch) {
  constexpr action what = action::take_complete;
  tableq::database db = open(where);
  static_cast<void>(db.claim(queue_of(what)));
  for (const std::string& each : changes) where.raw.run(owner::tableq, each);
  side ours{.make = on_raw(where.raw, what, batch, owner::tableq)};
  side limit{.make = on_raw(where.raw, what, batch)};
  ours.fill = [&](std::size_t n) { where.raw.fill(owner::tableq, queue_of(what), n); };
  limit.fill = [&](std::size_t n) { where.raw.fill(owner::raw, table_of(what), n); };
  json result = {{"case", name}, {"threads", 1}, {"batch", batch}};
  result.update(compare(where.how, ours, limit));
  out.record(where, std::move(result));
  limit.fill(0);
  db.drop(queue_of(what));  // The next case needs it whole.
}

}  // namespace

std::vector<bench_case> table_cases() {
  const std::string no_leases = "DROP INDEX jobs_wait";
  const std::string no_checks = "ALTER TABLE jobs DROP CONSTRAINT jobs_rules";
  std::vector<bench_case> cases;
  const auto add = [&cases](const std::string& name, const std::string& description,
                            const std::vector<std::string>& changes,
                            bool (*fits)(const database_kind&)) {
    for (const std::size_t batch : {std::size_t{1}, std::size_t{100}}) {
      const std::string full = batch == 1 ? name : name + "_batch";
      cases.push_back({.name = full,
                       .description = description,
                       .fits = fits,
                       .run = [=](const bed& where, recorder& out) {
                         run_on_table(where, out, full, changes, batch);
                       }});
    }
  };
  add("table", "the plain statements on a claim queue's table", {}, natively);
  add("table_no_leases", "the same without the index of leases", {no_leases}, natively);
  add("table_no_checks", "the same without the table's CHECK", {no_checks}, with_many_writers);
  return cases;
}

}  // namespace bench
