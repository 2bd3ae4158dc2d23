#include "first/place.hpp"

namespace tableq_test::first {
namespace {

constexpr const char* wrong = "send the file: this is what tableq promises";

void expect(report& to, bool right, const std::string& what) {
  if (!right) to.finding("round trip: " + what, wrong);
}

/// All bytes; nothing; more than a page.
std::vector<std::string> payloads() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return {"first", "", bytes, std::string(1'000'000, 'x')};
}

template <class Queue>
void there_and_back(report& to, Queue queue, const std::string& name) {
  queue.purge();
  for (const std::string& each : payloads()) {
    queue.enqueue(each);
    const auto got = queue.dequeue();
    expect(to, got && got->payload == each,
           name + " returns another payload of " + std::to_string(each.size()) + " bytes");
  }
  expect(to, !queue.dequeue(), name + " returns a message that was not added");
}

void leases(report& to, tableq::claim_queue queue) {
  using namespace std::chrono_literals;
  for (const tableq::message_state each :
       {tableq::message_state::done, tableq::message_state::dead}) {
    queue.purge(each);
  }
  for (auto left = queue.take(10); !left.empty(); left = queue.take(10)) {
    for (const auto& each : left) static_cast<void>(queue.complete(each));
  }
  const auto first = queue.enqueue("p", {.headers = {{"type", "x"}}, .key = "round trip"});
  expect(to, queue.enqueue("q", {.key = "round trip"}).id == first.id, "a key is held twice");
  const auto taken = queue.take(1);
  const tableq::delivery* got = taken.empty() ? nullptr : &taken.front();
  expect(to, got != nullptr && got->headers.contains("type") && got->key == "round trip",
         "headers and key of a taken message");
  if (got == nullptr) return;
  expect(to, queue.extend(*got, 60s) == tableq::settle_result::applied, "extend");
  expect(to, queue.fail(*got, "why") == tableq::settle_result::applied, "fail");
  expect(to, queue.complete(*got) == tableq::settle_result::lease_lost, "a receipt counts twice");
  const auto taken_again = queue.take(1);
  const tableq::delivery* again = taken_again.empty() ? nullptr : &taken_again.front();
  expect(to, again != nullptr && again->attempt == 2, "a failed message comes again");
  if (again != nullptr) {
    expect(to, queue.complete(*again) == tableq::settle_result::applied, "complete");
  }
}

}  // namespace

void make_round_trips(report& to, const place& on) {
  tableq::database db = on.open();
  to.attempt("heap", [&] { there_and_back(to, db.heap("heap"), "heap"); });
  to.attempt("fifo", [&] { there_and_back(to, db.fifo("fifo"), "fifo"); });
  to.attempt("lifo", [&] { there_and_back(to, db.lifo("lifo"), "lifo"); });
  to.attempt("strict fifo", [&] { there_and_back(to, db.fifo("strict_fifo"), "strict fifo"); });
  to.attempt("pending", [&] { there_and_back(to, db.pending("pending"), "pending"); });
  to.attempt("claim",
             [&] { leases(to, db.claim("claim", {.retry = tableq::retry_delays::none()})); });
  to.attempt("transaction", [&] {
    auto fifo = db.fifo("fifo");
    auto tx = db.begin();
    fifo.in(tx).enqueue("undone");
    tx.rollback();
    expect(to, !fifo.dequeue(), "a transaction that was rolled back has left a message");
  });
  to.note("made");
}

}  // namespace tableq_test::first
