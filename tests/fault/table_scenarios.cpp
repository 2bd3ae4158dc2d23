// Operations on a table of the application.
#include <functional>

#include "fault/stage.hpp"

namespace tableq_test {
namespace {

using namespace std::chrono_literals;
using tableq::table_queue;

const std::string orders = "orders";

std::string rows_told(const std::vector<tableq::settle_result>& results) {
  std::string out;
  for (const auto each : results) out += each == tableq::settle_result::applied ? "done " : "lost ";
  return out;
}

std::string rows_told(const std::vector<tableq::delivery>& taken) {
  std::string out;
  for (const auto& each : taken) out.append(each.row.get<std::string>("what")).append(" ");
  return out;
}

tableq::table_mapping whole_mapping() {
  return {.key = {"id"},
          .waiting = tableq::flag("busy"),
          .taken_at = "taken_at",
          .lease_until = "lease_until",
          .fence = "fence",
          .attempts = "attempts",
          .last_error = "last_error",
          .errors = "errors",
          .due_at = "due_at",
          .max_attempts = 2};
}

table_queue& queue_of(actor& player) {
  return player.table(orders, whole_mapping());
}

tableq::row order(int id) {
  return {{"id", id}, {"what", "p" + std::to_string(id)}};
}

using table_act = std::function<std::string(table_queue& table, notes& left)>;
using table_preparation = std::function<void(table_queue& table, notes& left)>;

/// In a table of three rows, after a preparation.
scenario on_table(const std::string& name, const table_preparation& before, const table_act& what) {
  return {.name = name,
          .prepare =
              [=](actor& player, notes& left) {
                left.here->sql(
                    "CREATE TABLE IF NOT EXISTS orders (id INTEGER NOT NULL PRIMARY KEY, "
                    "what VARCHAR(20) NOT NULL, busy INTEGER DEFAULT 0 NOT NULL, taken_at BIGINT, "
                    "lease_until BIGINT, fence BIGINT DEFAULT 0 NOT NULL, "
                    "attempts INTEGER DEFAULT 0 NOT NULL, last_error VARCHAR(100), due_at BIGINT, "
                    "errors VARCHAR(100))");
                for (int id = 0; id < 3; ++id) queue_of(player).enqueue(order(id));
                before(queue_of(player), left);
              },
          .act = [=](actor& player, notes& left) { return what(queue_of(player), left); },
          .shared = true};
}

void no_change(table_queue& /*table*/, notes& /*left*/) {}

void lease_two(table_queue& table, notes& left) {
  for (const auto& each : table.take(2, {.lease = 1h})) left.receipts.push_back(each.receipt);
}

void let_two_expire(table_queue& table, notes& left) {
  static_cast<void>(table.take(2, {.lease = 1s}));
  left.clock->advance(2s);
}

}  // namespace

std::vector<scenario> table_scenarios() {
  const auto take_two = [](table_queue& table, notes& /*left*/) {
    return rows_told(table.take(2, {.lease = 1h}));
  };
  return {
      {.name = "open a table",
       .prepare = on_table("", no_change, {}).prepare,
       .act =
           [](actor& player, notes& /*left*/) {
             return player.db().table(orders, whole_mapping()).guarantee().words;
           },
       .shared = true},
      on_table("add a row", no_change,
               [](table_queue& table, notes& /*left*/) {
                 return table.enqueue(order(7)).get<std::string>("what");
               }),
      on_table("add several rows", no_change,
               [](table_queue& table, notes& /*left*/) {
                 return std::to_string(table.enqueue_batch({order(7), order(8)}).size());
               }),
      on_table("take rows", no_change, take_two),
      on_table("take rows whose leases ended", let_two_expire, take_two),
      {.name = "take rows in strict order",
       .prepare = on_table("", no_change, {}).prepare,
       .act =
           [](actor& by, notes& /*left*/) {
             tableq::table_mapping strict = whole_mapping();
             strict.ordering = tableq::ordering::strict;
             return rows_told(by.db().table(orders, strict).take(2, {.lease = 1h}));
           },
       .shared = true},
      on_table("complete rows", lease_two,
               [](table_queue& table, notes& left) {
                 return rows_told(table.complete_batch(left.receipts));
               }),
      on_table("fail a row", lease_two,
               [](table_queue& table, notes& left) {
                 return rows_told(
                     std::vector{table.fail(left.receipts.at(0), "broke", {.delay = 1s})});
               }),
      on_table("release rows", lease_two,
               [](table_queue& table, notes& left) {
                 return rows_told(table.release_batch(left.receipts));
               }),
      on_table("extend the leases of rows", lease_two,
               [](table_queue& table, notes& left) {
                 return rows_told(table.extend_batch(left.receipts, 2h));
               }),
      on_table("requeue rows", lease_two,
               [](table_queue& table, notes& left) {
                 left.clock->advance(2s);
                 return std::to_string(table.requeue_older_than(1s));
               }),
      on_table("look at rows", lease_two,
               [](table_queue& table, notes& /*left*/) {
                 return std::to_string(table.peek(5).size()) + " of " +
                        std::to_string(table.stats().ready);
               }),
      on_table("look for missing indexes", no_change,
               [](table_queue& table, notes& /*left*/) {
                 return table.ddl() + std::to_string(table.inspect().size());
               }),
  };
}

}  // namespace tableq_test
