// A shop with an outbox: the shop writes an order through its own SOCI session, and its message
// commits together with the row, or neither does. A worker confirms the orders: the new state of
// the order and the completion of the message are one transaction, too.
#include <soci/soci.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>
#include <utility>

namespace {

class shop {
 public:
  explicit shop(tableq::database db) : db_(std::move(db)), outbox_(db_.claim("outbox")) {
    tableq::open_session(db_, sql_);  // or any session of the application on the same database
    sql_ << "CREATE TABLE IF NOT EXISTS orders (number integer NOT NULL, state text NOT NULL)";
  }

  void place(int number) {
    soci::transaction mine(sql_);
    sql_ << "INSERT INTO orders (number, state) VALUES (:number, 'new')", soci::use(number);
    outbox_.in(tableq::enlist(db_, sql_)).enqueue(std::to_string(number));
    if (number < 0) throw std::invalid_argument("orders are numbered from 0");
    mine.commit();  // only now the order and its message are stored
  }

  /// @return how many messages failed.
  std::size_t confirm_all() {
    const auto confirm = [](tableq::transaction& tx, const tableq::delivery& message) {
      const int number = std::stoi(message.payload);
      tableq::session_of(tx) << "UPDATE orders SET state = 'confirmed' WHERE number = :number",
          soci::use(number);
      // The first attempt fails: its update is rolled back, and the message rests a second.
      if (number == 42 && message.attempt == 1) throw std::runtime_error("try again");
    };
    tableq::worker work(outbox_, confirm, {.threads = 2, .until_empty = true});
    work.join();
    return work.counts().failed;
  }

  int count(const std::string& state) {
    int orders = 0;
    sql_ << "SELECT COUNT(*) FROM orders WHERE state = :state", soci::use(state),
        soci::into(orders);
    return orders;
  }

 private:
  tableq::database db_;
  tableq::claim_queue outbox_;
  soci::session sql_;
};

}  // namespace

int main(int argc, char** argv) try {
  shop books(tableq::database::open(argc > 1 ? argv[1] : "sqlite://shop.db"));
  books.place(41);
  try {
    books.place(-1);
  } catch (const std::invalid_argument& refused) {
    std::cout << "refused: " << refused.what() << '\n';
  }
  books.place(42);

  std::cout << "new: " << books.count("new") << '\n';
  std::cout << "failed attempts: " << books.confirm_all() << '\n';
  std::cout << "confirmed: " << books.count("confirmed") << '\n';
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
