// Operations on a table of the application.
#include "fault/stage.hpp"

namespace tableq_test {
namespace {

using namespace std::chrono_literals;
using tableq::table_queue;

const std::string orders = "orders";

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

/// In a table of three rows, after a preparation.
template <class Before, class Act>
scenario on_table(std::string name, Before before, Act act) {
  scenario out = playing(
      std::move(name),
      [=](actor& player, notes& left) {
        left.here->sql(
            "CREATE TABLE IF NOT EXISTS orders (id INTEGER NOT NULL PRIMARY KEY, "
            "what VARCHAR(20) NOT NULL, busy INTEGER DEFAULT 0 NOT NULL, taken_at BIGINT, "
            "lease_until BIGINT, fence BIGINT DEFAULT 0 NOT NULL, "
            "attempts INTEGER DEFAULT 0 NOT NULL, last_error VARCHAR(100), due_at BIGINT, "
            "errors VARCHAR(100))");
        for (int id = 0; id < 3; ++id) queue_of(player).enqueue(order(id));
        result_of(before, queue_of(player), left);
      },
      [=](actor& player, notes& left) { return result_of(act, queue_of(player), left); });
  out.shared = true;
  return out;
}

void no_change(table_queue& /*table*/) {}

void lease_two(table_queue& table, notes& left) {
  for (const auto& each : table.take(2, {.lease = 1h})) left.receipts.push_back(each.receipt);
}

void let_two_expire(table_queue& table, notes& left) {
  static_cast<void>(table.take(2, {.lease = 1s}));
  left.clock->advance(2s);
}

std::string take_two(table_queue& table) {
  return rows_told(table.take(2, {.lease = 1h}));
}

/// Without the queue that the stage has opened.
template <class Act>
scenario alone(std::string name, Act act) {
  scenario out = on_table(std::move(name), no_change, no_change);
  out.act = [=](actor& player, notes& /*left*/) { return act(player.db()); };
  return out;
}

}  // namespace

std::vector<scenario> table_scenarios() {
  return {
      alone(
          "open a table",
          [](tableq::database& db) { return db.table(orders, whole_mapping()).guarantee().words; }),
      alone("take rows in strict order",
            [](tableq::database& db) {
              tableq::table_mapping strict = whole_mapping();
              strict.ordering = tableq::ordering::strict;
              table_queue table = db.table(orders, strict);
              return take_two(table);
            }),
      on_table("add a row", no_change,
               [](table_queue& table) { return table.enqueue(order(7)).get<std::string>("what"); }),
      on_table("add several rows", no_change,
               [](auto& table) {
                 return table.enqueue_batch({order(7), order(8)}).size();
               }),
      on_table("take rows", no_change, take_two),
      on_table("take rows whose leases ended", let_two_expire, take_two),
      on_table("complete rows", lease_two,
               [](auto& table, auto& left) { return table.complete_batch(left.receipts); }),
      on_table("fail a row", lease_two,
               [](auto& table, auto& left) {
                 return table.fail(left.receipts.at(0), "broke", {.delay = 1s});
               }),
      on_table("release rows", lease_two,
               [](auto& table, auto& left) { return table.release_batch(left.receipts); }),
      on_table("extend the leases of rows", lease_two,
               [](auto& table, auto& left) { return table.extend_batch(left.receipts, 2h); }),
      on_table("requeue rows", lease_two,
               [](auto& table, auto& left) {
                 left.clock->advance(2s);
                 return table.requeue_older_than(1s);
               }),
      on_table("look at rows", lease_two,
               [](auto& table) {
                 return told(table.peek(5).size()) + " of " + told(table.stats().ready);
               }),
      on_table("look for missing indexes", no_change,
               [](auto& table) { return table.ddl() + told(table.inspect().size()); }),
  };
}

}  // namespace tableq_test
