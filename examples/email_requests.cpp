// A table of the application as a queue: the web page's handler inserts with plain SQL, three
// worker processes send. One of them is killed in the middle of a message, and one address always
// fails. The table is made for this example; yours is there already.
#include <soci/soci.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>
#include <vector>

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
                                    .max_attempts = 3,
                                    .lease = 2s});
}

void make_table(soci::session& sql) {
  sql << "CREATE TABLE IF NOT EXISTS EmailRequests (Id integer NOT NULL PRIMARY KEY, "
         "Address varchar(200) NOT NULL, Subject varchar(200), "
         "IsProcessed integer DEFAULT 0 NOT NULL, IsEmailSent integer DEFAULT 0 NOT NULL, "
         "RetryCount integer DEFAULT 0 NOT NULL, LockedUntil bigint, "
         "Fence bigint DEFAULT 0 NOT NULL, LastError varchar(2000))";
  sql << "DELETE FROM EmailRequests";
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

/// One worker process. It ends when nothing is left to send.
void send_all(const std::string& url) {
  tableq::database db = tableq::database::open(url);
  tableq::worker(open_queue(db), send, {.until_empty = true}).join();
}

/// A worker process that hangs in its first message, after a byte to `told`.
void hang(const std::string& url, int told) {
  tableq::database db = tableq::database::open(url);
  const auto stuck = [told](const tableq::delivery& /*request*/) {
    if (::write(told, "x", 1) == 1) ::pause();
  };
  tableq::worker(open_queue(db), stuck, {.prefetch = 0}).join();
}

template <class Work>
pid_t start(Work work) {
  const pid_t child = ::fork();
  if (child == -1) throw std::runtime_error("cannot start a process");
  if (child != 0) return child;
  try {
    work();
    ::_exit(0);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    ::_exit(1);
  }
}

void run_workers(const std::string& url) {
  std::array<int, 2> told{};
  if (::pipe(told.data()) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t victim = start([&] { hang(url, told[1]); });
  ::close(told[1]);
  char in_the_middle = 0;
  if (::read(told[0], &in_the_middle, 1) != 1) throw std::runtime_error("no message was taken");
  const std::vector<pid_t> others{start([&] { send_all(url); }), start([&] { send_all(url); })};
  ::kill(victim, SIGKILL);
  for (const pid_t each : {victim, others[0], others[1]}) {
    int status = 0;
    ::waitpid(each, &status, 0);
    if (each != victim && status != 0) throw std::runtime_error("a worker failed");
  }
}

void report(const std::string& url) {
  tableq::database db = tableq::database::open(url);
  const tableq::table_queue emails = open_queue(db);
  soci::session sql;
  tableq::open_session(db, sql);
  int sent = 0;
  int again = 0;
  int refused = 0;
  std::string error;
  sql << "SELECT COUNT(*) FROM EmailRequests WHERE IsEmailSent = 1", soci::into(sent);
  sql << "SELECT COUNT(*) FROM EmailRequests WHERE IsEmailSent = 1 AND RetryCount > 1",
      soci::into(again);
  sql << "SELECT Id, LastError FROM EmailRequests WHERE IsProcessed = 1 AND IsEmailSent = 0",
      soci::into(refused), soci::into(error);
  std::cout << emails.guarantee().words << '\n'
            << sent << " sent, also that of the killed worker: " << (again > 0 ? "yes" : "no")
            << '\n'
            << emails.stats().dead << " given up: request " << refused << ", " << error << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "sqlite://emails.db";
  {
    // Closed before the processes start: a child of fork() must not use its parent's sessions.
    tableq::database db = tableq::database::open(url);
    soci::session sql;
    tableq::open_session(db, sql);
    make_table(sql);
    for (int id = 1; id <= requests; ++id) {
      request_email(sql, id, id == 13 ? "nobody" : "user" + std::to_string(id) + "@b.example");
    }
  }
  run_workers(url);
  report(url);
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
