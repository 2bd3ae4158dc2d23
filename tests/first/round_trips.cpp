#include "first/place.hpp"

namespace tableq_test::first {
namespace {

void expect(report& to, bool right, const std::string& what) {
  if (!right) to.finding("round trip: " + what);
}

/// All bytes; nothing; more than a page.
std::vector<std::string> payloads() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return {"first", "", bytes, std::string(1'000'000, 'x')};
}

template <class Queue>
void there_and_back(report& to, const std::string& name, Queue queue) {
  to.attempt(name, [&] {
    queue.purge();
    for (const std::string& each : payloads()) {
      queue.enqueue(each);
      const auto got = queue.dequeue();
      expect(to, got && got->payload == each,
             name + " returns another payload of " + std::to_string(each.size()) + " bytes");
    }
    expect(to, !queue.dequeue(), name + " returns a message that was not added");
  });
}

void leases(report& to, tableq::claim_queue queue) {
  using tableq::settle_result;
  for (auto left = queue.take(10); !left.empty(); left = queue.take(10)) {
    for (const auto& each : left) static_cast<void>(queue.complete(each));
  }
  const auto first = queue.enqueue("p", {.headers = {{"type", "x"}}, .key = "round trip"});
  expect(to, queue.enqueue("q", {.key = "round trip"}).id == first.id, "a key is held twice");
  const auto got = queue.take(1).at(0);
  expect(to, got.headers.contains("type") && got.key == "round trip", "headers and key");
  expect(to, queue.extend(got, std::chrono::minutes(1)) == settle_result::applied, "extend");
  expect(to, queue.fail(got, "why") == settle_result::applied, "fail");
  expect(to, queue.complete(got) == settle_result::lease_lost, "a receipt counts twice");
  const auto again = queue.take(1).at(0);
  expect(to, again.attempt == 2 && queue.complete(again) == settle_result::applied, "complete");
}

}  // namespace

void make_round_trips(report& to, const place& on) {
  tableq::database db = on.open();
  there_and_back(to, "heap", db.heap("heap"));
  there_and_back(to, "fifo", db.fifo("fifo"));
  there_and_back(to, "lifo", db.lifo("lifo"));
  there_and_back(to, "strict fifo", db.fifo("strict_fifo"));
  there_and_back(to, "pending", db.pending("pending"));
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
