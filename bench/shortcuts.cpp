// The effect of each shortcut: tableq against tableq without that shortcut.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "child_process.hpp"
#include "compare.hpp"
#include "subject.hpp"

namespace bench {

namespace {

tableq::shortcuts without(bool tableq::shortcuts::*which) {
  tableq::shortcuts out;
  out.*which = false;
  return out;
}

json about(const std::string& name, std::size_t count, const std::string& off) {
  return {{"case", name}, {"threads", count}, {"batch", 1}, {"limit_of", "without " + off}};
}

/// Many threads enqueue through one `database`.
void many_threads(const bed& where, recorder& out, const std::string& off,
                  bool tableq::shortcuts::*which) {
  const std::size_t count = where.how.threads;
  const side with{.threads = count, .make = on_tableq(open(where, {}), action::enqueue, 1)};
  const side limit{.threads = count,
                   .make = on_tableq(open(where, without(which)), action::enqueue, 1)};
  json result = about("without_" + off, count, off);
  result.update(compare(where.how, with, limit));
  out.record(where, std::move(result));
  where.raw.fill(owner::tableq, queue_of(action::enqueue), 0);
}

/// One thread reads while a snapshot keeps the rows that it deletes.
void floors(const bed& where, recorder& out) {
  constexpr std::size_t messages = 20'000;
  const auto fill = [&](std::size_t) {
    where.raw.fill(owner::tableq, queue_of(action::dequeue), messages);
  };
  const auto reads = [&](const tableq::shortcuts& shortcuts) {
    return side{.make = on_tableq(open(where, shortcuts), action::dequeue, 1),
                .fill = fill,
                .messages = messages / 2};
  };
  const auto snapshot = where.raw.hold_snapshot(owner::tableq);
  json result = about("without_floors", 1, "floors, a snapshot held");
  result.update(compare(where.how, reads({}), reads(without(&tableq::shortcuts::floors))));
  out.record(where, std::move(result));
}

/// Each thread has its own `database`, like a process.
operation_maker each_alone(const bed& where, const tableq::shortcuts& shortcuts) {
  return [&where, shortcuts](std::size_t index) {
    return on_tableq(open(where, shortcuts), action::enqueue, 1)(index);
  };
}

void writers_line(const bed& where, recorder& out) {
  constexpr std::size_t writers = 8;
  const side with{.threads = writers, .make = each_alone(where, {})};
  const side limit{.threads = writers,
                   .make = each_alone(where, without(&tableq::shortcuts::writers_line))};
  json result = about("without_writers_line", writers, "the line of writers");
  result.update(compare(where.how, with, limit));
  out.record(where, std::move(result));
  where.raw.fill(owner::tableq, queue_of(action::enqueue), 0);
}

bench_case many_threads_without(const std::string& off, bool tableq::shortcuts::*which) {
  return {.name = "without_" + off,
          .description = "32 threads enqueue; limit: the same without " + off,
          .fits = natively,
          .run = [off, which](const bed& where, recorder& out) {
            many_threads(where, out, off, which);
          }};
}

}  // namespace

std::vector<bench_case> shortcut_cases() {
  return {many_threads_without("combining", &tableq::shortcuts::combining),
          many_threads_without("spinning", &tableq::shortcuts::spinning),
          {.name = "without_floors",
           .description = "dequeue, a snapshot held; limit: the same without floors",
           .fits = with_many_writers,
           .run = floors},
          {.name = "without_writers_line",
           .description = "8 databases enqueue; limit: the same without the line of writers",
           .fits = with_one_writer,
           .run = writers_line}};
}

}  // namespace bench
