// The outbox: a row of the application's own and the message about it commit together, or neither
// does. Nothing is sent for an order that was rolled back, and no order is forgotten.
#include <soci/soci.h>

#include <iostream>
#include <stdexcept>
#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>

namespace {

void place_order(tableq::database& db, tableq::fifo_queue& outbox, int number) {
  db.transact([&](tableq::transaction& tx) {  // repeated on a conflict
    soci::session& sql = tableq::session_of(tx);
    sql << "INSERT INTO orders (number) VALUES (:number)", soci::use(number);
    outbox.in(tx).enqueue("confirm order " + std::to_string(number));
    if (number < 0) throw std::invalid_argument("orders are numbered from 0");
  });
}

}  // namespace

int main(int argc, char** argv) try {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://orders.db");
  auto outbox = db.fifo("outbox");
  db.transact([](tableq::transaction& tx) {
    tableq::session_of(tx) << "CREATE TABLE IF NOT EXISTS orders (number integer NOT NULL)";
  });

  place_order(db, outbox, 41);
  try {
    place_order(db, outbox, -1);
  } catch (const std::invalid_argument& refused) {
    std::cout << "refused: " << refused.what() << '\n';
  }
  place_order(db, outbox, 42);

  while (auto m = outbox.dequeue()) std::cout << m->payload << '\n';
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
