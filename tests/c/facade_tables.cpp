// Tables of the application over tableq.h: see facade.cpp.

#include <chrono>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "facade.hpp"

namespace tableq::inline v0 {

using namespace tableq_facade;  // NOLINT(google-build-using-namespace): only this file
using core::access;

namespace {

c_result settings_of(const table_queue& queue) {
  return asked([&](tq_result** r, tq_error** e) {
    return tq_queue_settings(access::of(queue).queue.get(), r, e);
  });
}
c_options columns_of(const row& values) {
  const c_options out(TQ_FOR_ROW);
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.set_column(values.name(i), values.value(values.name(i)));
  }
  return out;
}
std::vector<row> rows_of(const c_result& result) {
  return all_of<row>(result, [](const row_of& each) { return each.columns(); });
}

}  // namespace

table_queue database::table(text_view name, const table_mapping& mapping) {
  const std::string json = to_json({.table = std::string(name.view()), .mapping = mapping});
  tq_queue* queue = nullptr;
  done([&](tq_error** e) {
    return tq_queue_open_table(access::of(*this).get(outside_), json.data(), json.size(), &queue,
                               e);
  });
  return table_queue(
      access::hidden(std::make_shared<c_queue>(access::shared(*this), queue, kind::table)));
}
table_queue database::stored_table(text_view name) {
  tq_queue* queue = nullptr;
  const std::string_view wanted = name.view();
  done([&](tq_error** e) {
    return tq_queue_open_stored_table(access::of(*this).get(outside_), wanted.data(), wanted.size(),
                                      &queue, e);
  });
  return table_queue(
      access::hidden(std::make_shared<c_queue>(access::shared(*this), queue, kind::table)));
}
void database::store_table(text_view name, const table_definition& definition) {
  const std::string json = to_json(definition);
  const std::string_view wanted = name.view();
  done([&](tq_error** e) {
    return tq_database_store_table(access::of(*this).get(outside_), wanted.data(), wanted.size(),
                                   json.data(), json.size(), e);
  });
}

table_guarantee table_queue::guarantee() const {
  const c_result all = settings_of(*this);
  return {.at_least_once = all.number(0, "at_least_once") != 0,
          .fenced = all.number(0, "fenced") != 0,
          .ends = all.number(0, "ends") != 0,
          .settles = all.number(0, "settles") != 0,
          .words = row_of{all.get(), 0}.text("words")};
}
const table_mapping& table_queue::mapping() const noexcept {
  auto& kept = access::of(*this).mapping;
  if (!kept) {
    const c_result all = settings_of(*this);
    kept = parse_table_definition(row_of{all.get(), 0}.text("definition")).mapping;
  }
  return *kept;
}

std::vector<row> table_queue::enqueue_batch(const batch_view<row>& rows) {
  const where in = access::in(*this);
  const c_batch batch;
  for (const row& each : rows.items()) batch.add({}, columns_of(each).get());
  return rows_of(asked([&](tq_result** r, tq_error** e) {
    return tq_enqueue_batch(in.queue, in.tx(), batch.get(), nullptr, r, e);
  }));
}
row table_queue::enqueue(const row& values) {
  // `tq_enqueue` does not return the row.
  return enqueue_batch(batch_view<row>({values})).at(0);
}
void table_queue::give_back(const std::vector<delivery>& taken, std::size_t bad,
                            const char* why) noexcept {
  try {
    static_cast<void>(fail(taken.at(bad), std::string_view(why)));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (i != bad) static_cast<void>(release(taken[i].receipt));
    }
  } catch (...) {  // As the library: leases end by themselves.
  }
}
std::size_t table_queue::requeue_older_than(std::chrono::milliseconds age) {
  std::int64_t count = 0;
  done([&](tq_error** e) {
    return tq_requeue_older_than(access::plain(*this), age.count(), &count, e);
  });
  return static_cast<std::size_t>(count);
}
std::vector<row> table_queue::peek(std::size_t max) const {
  return rows_of(
      asked([&](tq_result** r, tq_error** e) { return tq_peek(access::plain(*this), max, r, e); }));
}
claim_stats table_queue::stats(const stats_options& options) const {
  const c_options given = options_of(options);
  return claim_stats_of(asked([&](tq_result** r, tq_error** e) {
    return tq_queue_stats(access::plain(*this), given.get(), r, e);
  }));
}
std::string table_queue::ddl() const {
  return text_of(
      asked([&](tq_result** r, tq_error** e) { return tq_queue_ddl(access::plain(*this), r, e); }));
}
std::vector<finding> table_queue::inspect() const {
  return findings_of(asked(
      [&](tq_result** r, tq_error** e) { return tq_queue_inspect(access::plain(*this), r, e); }));
}

}  // namespace tableq::inline v0
