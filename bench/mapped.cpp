// A table of the application as a queue, against the plain statements on the same table.
#include <string>
#include <utility>

#include "cases.hpp"
#include "compare.hpp"
#include "subject.hpp"

namespace bench {

namespace {

void run_mapped(const bed& where, recorder& out, const std::string& name, bool many) {
  constexpr action what = action::take_complete;
  const std::size_t threads = many ? where.how.threads : 1;
  side ours{.threads = threads, .make = on_mapped(open_plain(where), 1)};
  // With one writer at a time, more raw clients are not faster than one.
  side limit{.threads = where.kind.one_writer ? 1 : threads, .make = on_raw(where.raw, what, 1)};
  const auto fill = [&](std::size_t n) { where.raw.fill(owner::raw, table_of(what), n); };
  ours.fill = fill;
  limit.fill = fill;
  json result = {{"case", name}, {"threads", threads}, {"batch", 1}};
  result.update(compare(where.how, ours, limit));
  out.record(where, std::move(result));
  fill(0);
}

bench_case mapped(const std::string& name, const std::string& description, bool many,
                  bool (*fits)(const database_kind&)) {
  return {.name = name,
          .description = description,
          .fits = fits,
          .run = [=](const bed& where, recorder& out) { run_mapped(where, out, name, many); }};
}

}  // namespace

std::vector<bench_case> mapped_cases() {
  return {
      mapped("mapped_take_complete", "the application's own table, one thread", false, everywhere),
      mapped("mapped_take_complete_threads", "the application's own table, 32 threads", true,
             natively)};
}

}  // namespace bench
