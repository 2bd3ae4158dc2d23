// An application that uses libpqxx 6 stores a row and a message in its own transaction. libpqxx
// gives no handle of an open connection; a connection class with a policy of its own keeps it.
#include <tableq/libpq.hpp>

#include <iostream>
#include <pqxx/pqxx>
#include <string>
#include <type_traits>

namespace {

/// A connection of libpqxx that knows its PGconn.
class shared_connection : public pqxx::connection_base {
 public:
  explicit shared_connection(const std::string& options)
      : connection_base(policy_), policy_(options) {
    init();
  }
  ~shared_connection() noexcept { close(); }

  [[nodiscard]] pg_conn* handle() const noexcept { return policy_.open; }

 private:
  struct policy : pqxx::connectionpolicy {
    using connectionpolicy::connectionpolicy;
    handle do_startconnect(handle before) override {
      const handle now = before != nullptr ? before : normalconnect(before);
      open = reinterpret_cast<pg_conn*>(now);  // libpqxx has a name of its own for it
      return now;
    }
    handle do_disconnect(handle last) noexcept override {
      open = nullptr;
      return connectionpolicy::do_disconnect(last);
    }
    pg_conn* open = nullptr;
  };

  policy policy_;
};

}  // namespace

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "postgresql:///shop";
  auto db = tableq::database::open(url);
  auto outbox = db.claim("outbox");

  shared_connection sql(url);
  {
    pqxx::work setup(sql);
    setup.exec("CREATE TABLE IF NOT EXISTS orders (number integer NOT NULL)");
    setup.commit();
  }
  const auto place = [&](int number, bool fails) {
    pqxx::work mine(sql);
    // libpqxx begins the transaction with its first statement.
    mine.exec_params("INSERT INTO orders (number) VALUES ($1)", number);
    outbox.in(tableq::enlist(db, sql.handle())).enqueue(std::to_string(number));
    if (!fails) mine.commit();
  };
  place(41, false);
  place(42, true);

  pqxx::read_transaction look(sql);
  std::cout << "orders: " << look.exec("SELECT count(*) FROM orders")[0][0].as<int>()
            << ", messages: " << outbox.stats().ready << '\n';
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
