// Operations that only a table of the application has: inserts, peeks, figures, requeues.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/validate.hpp"
#include "core/queue/effects.hpp"
#include "core/seam/statements.hpp"
#include "core/table/mapped_table.hpp"

namespace tableq::inline v0::core {
namespace {

/// Rows that one statement makes wait again.
constexpr std::size_t requeue_batch = 1000;
/// Different sets of columns in the inserts of one handle.
constexpr std::size_t most_inserts = 100;

/// Whether a value of one type can be written into a column of another.
bool converts(column_type from, column_type into) {
  if (from == into) return true;
  switch (into) {
    case column_type::number:
    case column_type::boolean:
      return from == column_type::integer;
    case column_type::bytes:
      return from == column_type::text;
    case column_type::integer:
      return from == column_type::boolean || from == column_type::time;
    case column_type::text:
    case column_type::time:
      break;
  }
  return false;
}

/// Values that some database would cut or lose without an error.
void check_value(const row_value& given, const table_column& column) {
  constexpr timestamp first = std::chrono::sys_days(std::chrono::year(1) / 1 / 1);
  constexpr timestamp last = std::chrono::sys_days(std::chrono::year(10000) / 1 / 1);
  if (given.type() == column_type::time &&
      (given.get<timestamp>() < first || given.get<timestamp>() >= last)) {
    refuse("the value for the column " + column.name + " must lie in the years 1 to 9999");
  }
  if (given.type() == column_type::text &&
      given.get<std::string>().find('\0') != std::string::npos) {
    refuse("the value for the column " + column.name +
           " is text with a NUL character; store it as bytes, or without it");
  }
}

/// A value of a new row, for its column.
row_value fitting(row_value given, const table_column& column) {
  const column_type into = type_of(column);
  if (given.is_null()) return row_value::null(into);
  check_value(given, column);
  if (!converts(given.type(), into)) {
    refuse("the value for the column " + column.name + " is " +
           std::string(to_string(given.type())) + "; the column has the type " + column.declared +
           ", " + std::string(to_string(into)));
  }
  if (into == column_type::number && given.type() == column_type::integer) {
    return row_value::decimal(std::to_string(given.get<std::int64_t>()));
  }
  return given;
}

}  // namespace

const mapped_statement& mapped_table::insert_of(const std::vector<std::size_t>& columns) const {
  const std::scoped_lock hold(mutex_);
  if (inserts_.size() >= most_inserts && !inserts_.contains(columns)) {
    throw error(errc::unsupported, advice::never,
                "rows with over 100 different sets of columns were inserted through one handle; "
                "name the same columns each time, with NULL where there is no value");
  }
  auto& made = inserts_[columns];
  if (made == nullptr) made = made_.insert(columns);
  return *made;
}

row mapped_table::insert(const queue_state& queue, transaction_state* tx, const row& values) const {
  std::vector<std::size_t> columns;
  std::vector<row_value> held;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto column = find_column(layout().columns, values.name(i));
    if (!column) refuse("the table " + layout().table + " has no column " + values.name(i));
    if (std::find(columns.begin(), columns.end(), *column) != columns.end()) {
      refuse("the row names the column " + layout().columns[*column].name + " twice");
    }
    held.push_back(fitting(values.value(values.name(i)), layout().columns[*column]));
    columns.push_back(*column);
  }
  if (columns.empty()) refuse("the row has no columns");
  std::vector<value> given;
  given.reserve(held.size());
  for (const row_value& each : held) given.push_back(to_value(each.cell()));
  const mapped_statement& what = insert_of(columns);
  const row_set rows = queue.execute(tx, what.what(), what.shared(given));
  apply(queue, tx, {.readable = 1});
  if (rows.empty()) {
    throw error(errc::constraint_violated, advice::never,
                "the database stored no row in the table " + layout().table +
                    ": a trigger, rule or conflict clause of the table dropped it",
                {.backend = queue.database().name()});
  }
  return shown(rows, 0);
}

std::vector<row> mapped_table::peek(const queue_state& queue, std::size_t max) const {
  check_batch_size(max);
  const row_set rows =
      run(queue, nullptr, made_.peek, timed_read_request{max, queue.database().now()});
  std::vector<row> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) out.push_back(shown(rows, i));
  return out;
}

std::size_t mapped_table::count(const queue_state& queue, const mapped_statements::one& what,
                                std::size_t max, timestamp& as_of) const {
  if (what == nullptr) return 0;
  const row_count_row found =
      rows_of<row_count_row>(
          run(queue, nullptr, what, timed_read_request{max, queue.database().now()}))
          .at(0);
  as_of = found.as_of;
  return found.count;
}

claim_stats mapped_table::stats(const queue_state& queue, const stats_options& options) const {
  const std::size_t max = count_limit(options);
  claim_stats out;
  out.counted_to = counted_to(options);
  out.delayed = count(queue, made_.delayed, max, out.as_of);
  out.leased = count(queue, made_.leased, max, out.as_of);
  out.done = count(queue, made_.done, max, out.as_of);
  out.dead = count(queue, made_.dead, max, out.as_of);
  out.ready = count(queue, made_.ready, max, out.as_of);
  out.ready = std::min(max, out.ready + count(queue, made_.expired, max, out.as_of));
  return out;
}

std::size_t mapped_table::requeue(const queue_state& queue, std::chrono::milliseconds age) const {
  check_delay(age, "age");
  if (made_.requeue == nullptr) lacks(queue, "taken_at");
  std::size_t waiting_again = 0;
  for (;;) {
    const std::size_t moved = run(queue, nullptr, made_.requeue,
                                  requeue_rows_request{requeue_batch, age, queue.database().now()})
                                  .size();
    waiting_again += moved;
    apply(queue, nullptr, {.readable = moved});
    if (moved < requeue_batch) return waiting_again;
  }
}

}  // namespace tableq::inline v0::core
