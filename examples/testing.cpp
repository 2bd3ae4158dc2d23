// Unit tests of an application's own code: a database in memory, a clock that the test sets,
// `drain` in place of a worker, and faults on request. docs/testing.md explains them.
#include <iostream>
#include <stdexcept>
#include <string>
#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>

namespace {

using namespace std::chrono_literals;

/// The code under test: reminders, each sent once, at its time, with retries.
class reminders {
 public:
  explicit reminders(tableq::database& db)
      : waiting_(db.claim("reminders", {.lease = 30s, .max_attempts = 2, .retry = {1min}})),
        sent_(db.fifo("sent")) {}

  bool remind(const std::string& name, std::chrono::minutes later) {
    return waiting_.enqueue(name, {.delay = later, .key = name}).created();
  }
  /// In production the same handler runs in a tableq::worker.
  std::size_t send() {
    return tableq::drain(waiting_, [this](tableq::transaction& tx, const tableq::delivery& due) {
      if (!server_up) throw std::runtime_error("the server is down");
      sent_.in(tx).enqueue(due.payload);
    });
  }

  tableq::claim_queue& waiting() { return waiting_; }
  tableq::fifo_queue& sent() { return sent_; }

  bool server_up = true;

 private:
  tableq::claim_queue waiting_;
  tableq::fifo_queue sent_;
};

void check(bool holds, const char* promise) {
  if (!holds) throw std::logic_error(promise);
  std::cout << "passed: " << promise << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  using tableq::testing::trouble;
  tableq::timestamp now = std::chrono::sys_days{std::chrono::year{2030} / 1 / 1};
  const tableq::testing::faults faults;
  // One thread uses the database here: with several, the clock needs a lock.
  auto db = faults.open(argc > 1 ? argv[1] : "sqlite://:memory:",
                        {.clock = tableq::testing::clock_of([&] { return now; })});
  reminders tested(db);

  tested.remind("rent", 60min);
  check(!tested.remind("rent", 60min), "a second reminder of one name is not added");
  check(tested.send() == 0, "nothing is sent early");
  now += 1h;
  check(tested.send() == 1 && tested.sent().dequeue()->payload == "rent", "it is sent when due");

  tested.server_up = false;
  tested.remind("tax", 0min);
  tested.send();
  check(tested.send() == 0, "after a failure it rests");
  now += 1min;
  tested.send();
  check(tested.waiting().stats().dead == 1, "after the second failure it is dead");
  tested.server_up = true;
  tested.waiting().redrive_all();
  check(tested.send() == 1, "a dead one is sent after redrive_all");

  tested.remind("birthday", 0min);
  const auto crashed = tested.waiting().take_one();  // a process that died
  now += 31s;
  check(crashed && tested.send() == 1, "after a crash another process sends it");
  check(tested.waiting().complete(*crashed) == tableq::settle_result::lease_lost,
        "the first process is told that it was too late");

  (void)tested.sent().purge();
  tested.remind("dentist", 0min);
  faults.start_over();
  faults.fail("commit", {trouble::deadlock});  // the handler runs again
  tested.send();
  check(faults.failures() == 1 && tested.sent().stats().waiting == 1, "a deadlock sends it once");
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
