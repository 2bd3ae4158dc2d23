// Tests an application against a database that fails: each call fails in turn, before and after its
// effect. docs/testing.md explains it. Run with a connection string.
#include <iostream>
#include <string>
#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>

// The code under test: it hands an order over once, in spite of any failure.
void hand_over(tableq::claim_queue& orders, const std::string& number) {
  for (int attempt = 1;; ++attempt) {
    try {
      orders.enqueue("order " + number, {.key = number});
      return;
    } catch (const tableq::error& e) {
      // After an unknown outcome the key prevents a second copy of the order.
      const bool unknown = e.code() == tableq::errc::outcome_unknown;
      if (attempt == 3 || (!unknown && e.advice() == tableq::advice::never)) throw;
    }
  }
}

int main(int argc, char** argv) try {
  using tableq::testing::moment;
  const tableq::testing::faults faults;
  // tableq repeats nothing, so that the tested code has to handle every failure.
  auto db = faults.open(argc > 1 ? argv[1] : "sqlite://faults.db",
                        {.retry_for = std::chrono::milliseconds{0}});
  auto orders = db.claim("orders");

  std::size_t handed_over = 0;
  for (const moment when : {moment::before, moment::after}) {
    for (std::size_t n = 1; n == 1 || faults.failures() > 0; ++n) {  // until there is no n-th call
      faults.start_over();
      faults.fail(n, {tableq::testing::trouble::lost_connection, when});
      hand_over(orders, std::to_string(++handed_over));
    }
  }
  faults.heal();
  const std::size_t there = orders.stats({.exact = true}).ready;
  std::cout << (there == handed_over ? "every order is there once\n" : "wrong\n");
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
