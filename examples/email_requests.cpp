// A table of the application as a queue: the web page's handler inserts with plain SQL, three
// workers send. Another one has died in the middle of a message, and one address always fails. The
// table is made for this example; yours is there already.
#include <soci/soci.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>

namespace {

using namespace std::chrono_literals;

constexpr int requests = 20;

tableq::table_queue open_queue(tableq::database& db) {
  return db.table("EmailRequests", {.key = {"Id"},
                                    .waiting = tableq::flag("IsProcessed"),
                                    .columns = {"Id", "Address", "Subject"},
                                    .lease_until = "LockedUntil",
                                    .fence = "Fence",
                                    .attempts = "RetryCount",
                                    .last_error = "LastError",
                                    .done = tableq::flag("IsEmailSent"),
                                    .completed = tableq::on_complete::mark,
                                    .max_attempts = 3,
                                    .lease = 2s});
}

/// The handler of the web page knows nothing of tableq.
void request_email(soci::session& sql, int id, const std::string& address) {
  const std::string subject = "Welcome, number " + std::to_string(id);
  sql << "INSERT INTO EmailRequests (Id, Address, Subject) VALUES (:id, :address, :subject)",
      soci::use(id), soci::use(address), soci::use(subject);
}

void send(const tableq::delivery& request) {
  const auto address = request.row.get<std::string>("Address");
  if (address.find('@') == std::string::npos) throw std::invalid_argument("no such address");
  // Here the mail goes out.
}

/// What a worker leaves behind that is killed in the middle of a message.
void take_and_die(const std::string& url) {
  tableq::database db = tableq::database::open(url);
  if (!open_queue(db).take_one()) throw std::runtime_error("nothing waited");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "sqlite://emails.db";
  {
    tableq::database db = tableq::database::open(url);
    soci::session sql;
    tableq::open_session(db, sql);
    sql << "CREATE TABLE IF NOT EXISTS EmailRequests (Id integer NOT NULL PRIMARY KEY, "
           "Address varchar(200) NOT NULL, Subject varchar(200), "
           "IsProcessed integer DEFAULT 0 NOT NULL, IsEmailSent integer DEFAULT 0 NOT NULL, "
           "RetryCount integer DEFAULT 0 NOT NULL, LockedUntil bigint, "
           "Fence bigint DEFAULT 0 NOT NULL, LastError varchar(2000))";
    sql << "DELETE FROM EmailRequests";
    for (int id = 1; id <= requests; ++id) {
      request_email(sql, id, id == 13 ? "nobody" : "user" + std::to_string(id) + "@b.example");
    }
  }

  take_and_die(url);
  tableq::database db = tableq::database::open(url);
  tableq::table_queue emails = open_queue(db);
  std::cout << emails.guarantee().words << '\n';
  tableq::worker workers(emails, send, {.threads = 3, .until_empty = true});
  workers.join();

  soci::session sql;
  tableq::open_session(db, sql);
  int sent = 0;
  std::string error;
  sql << "SELECT COUNT(*) FROM EmailRequests WHERE IsEmailSent = 1", soci::into(sent);
  sql << "SELECT LastError FROM EmailRequests WHERE IsProcessed = 1 AND IsEmailSent = 0",
      soci::into(error);
  std::cout << sent << " sent, " << emails.stats().dead << " given up: " << error << '\n';
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
