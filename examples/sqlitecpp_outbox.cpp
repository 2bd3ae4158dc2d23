// An application that uses SQLiteCpp stores a row and a message in its own transaction.
#include <SQLiteCpp/SQLiteCpp.h>

#include <iostream>
#include <string>
#include <tableq/sqlite.hpp>

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "sqlite:///tmp/shop.db";
  auto db = tableq::database::open(url);
  auto outbox = db.claim("outbox");

  constexpr int patience = 10'000;  // milliseconds for a lock
  SQLite::Database sql(url.substr(std::string("sqlite://").size()),
                       SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, patience);
  sql.exec("CREATE TABLE IF NOT EXISTS orders (number integer NOT NULL)");
  const auto place = [&](int number, bool fails) {
    SQLite::Transaction mine(sql);
    SQLite::Statement insert(sql, "INSERT INTO orders (number) VALUES (?)");
    insert.bind(1, number);
    insert.exec();
    outbox.in(tableq::enlist(db, sql.getHandle())).enqueue(std::to_string(number));
    if (!fails) mine.commit();
  };
  place(41, false);
  place(42, true);

  std::cout << "orders: " << sql.execAndGet("SELECT count(*) FROM orders").getInt()
            << ", messages: " << outbox.stats().ready << '\n';
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
