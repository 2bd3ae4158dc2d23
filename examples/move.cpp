// Moves work from one queue to the next, exactly once: the order leaves its queue and the invoice
// enters the other in one transaction, even if a process dies.
#include <iostream>
#include <optional>
#include <string>
#include <tableq/tableq.hpp>

namespace {

/// @return whether there was an order.
bool move_one(tableq::database& db, tableq::fifo_queue& orders, tableq::fifo_queue& invoices) {
  bool moved = false;
  // Repeated as a whole if the database rolled it back; never after an unknown outcome.
  db.transact([&](tableq::transaction& tx) {
    const std::optional<tableq::message> order = orders.in(tx).dequeue();
    moved = order.has_value();
    if (order) invoices.in(tx).enqueue("invoice " + order->payload);
  });
  return moved;
}

}  // namespace

int main(int argc, char** argv) try {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://orders.db");
  auto orders = db.fifo("orders");
  auto invoices = db.fifo("invoices");
  for (const char* order : {"order 1", "order 2", "order 3"}) orders.enqueue(order);

  while (move_one(db, orders, invoices)) {
  }
  while (const auto invoice = invoices.dequeue()) std::cout << invoice->payload << '\n';
  std::cout << "left: " << orders.stats().waiting << '\n';
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
