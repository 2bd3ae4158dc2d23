// Mistakes that the compiler must refuse: each statement below a comment with the error. Without
// MISTAKES everything here compiles, so that only the mistakes themselves are refused. The headers
// come from misuse_headers.inc, compiled once.

struct move_only_handler {
  std::unique_ptr<int> own;
  void operator()(const tableq::delivery& taken) const;
};

void by_id(tableq::message_id id);
void by_transaction(tableq::transaction& tx);

void use(tableq::database& db, tableq::heap_queue& heap, tableq::fifo_queue& fifo,
         tableq::pending_queue& pending, tableq::claim_queue& claim, tableq::transaction& tx,
         tableq::enlistment& joined) {
  using namespace std::chrono_literals;
  const tableq::receipt receipt;
  const std::vector<tableq::delivery> deliveries = claim.take(2);
  (void)claim.take_one();
  (void)claim.complete(receipt);
  (void)claim.complete(deliveries.front());
  (void)claim.complete_batch(deliveries);
  (void)db.claim("jobs", {.retry = {1s, 10s, 1min}, .groups = {.limit = 2}});
  (void)db.claim("jobs", {.retry = {1s, 10s}});
  (void)db.claim("jobs", {.retry = {1s}, .groups = {}});
  fifo.enqueue_batch({{"a"}, {"b"}});
  claim.redrive({tableq::message_id{1}});
  fifo.outside().enqueue("x");
  fifo.in(tx).enqueue("x");
  fifo.in(joined).enqueue("x");
  by_transaction(static_cast<tableq::transaction&>(joined));
  (void)fifo.dequeue();
  by_id(tableq::message_id{1});
  (void)tableq::drain(claim, [](const tableq::delivery&) {});
  (void)tableq::drain(claim, [](const tableq::delivery&, const std::stop_token&) {});
  (void)tableq::drain(claim, [n = 0](tableq::delivery) mutable { ++n; });
  (void)tableq::drain(claim, move_only_handler());
  const tableq::worker pool(claim, [](tableq::transaction&, const tableq::delivery&) {
    return tableq::handled::settled();
  });
  const std::unordered_set<tableq::message_id> ids;
  const std::unordered_set<tableq::receipt> receipts;
#if defined(MISTAKES)
  // error: a tableq handler takes
  const tableq::worker number(claim, [](int) {});
  (void)tableq::drain(claim, [](tableq::delivery&) {});
  // error: a tableq handler returns
  (void)tableq::drain(claim, [](const tableq::delivery&) { return 1; });
  const tableq::worker text(
      claim, [](tableq::transaction&, const tableq::delivery&) { return std::string(); });
  // error: no member named take
  (void)heap.take();
  // error: no member named complete
  (void)fifo.complete(receipt);
  // error: no member named fail
  (void)pending.fail(receipt, "reason");
  // error: no member named dequeue
  (void)claim.dequeue();
  // error: no conversion
  heap.enqueue("x", {.priority = 1});
  fifo.enqueue("x", {.delay = std::chrono::seconds{1}});
  fifo.enqueue("x", {.group = "g"});
  pending.enqueue("x", {.key = "k"});
  (void)db.fifo("mail", {.lease = std::chrono::seconds{1}});
  (void)claim.extend(receipt, 30);
  fifo.enqueue(tx, "x");
  (void)fifo.in(db.begin());
  by_transaction(joined);
  // error: private
  const tableq::transaction own(nullptr);
  // error: no member named state
  (void)db.state();
  (void)fifo.state();
  // error: no conversion
  (void)fifo.dequeue({.max = 2});
  (void)claim.take_one({.max = 2});
  (void)claim.complete(deliveries);
  (void)claim.complete_batch(std::vector<tableq::message_id>());
  // error: deleted
  fifo.enqueue(nullptr);
  // error: no conversion
  fifo.enqueue(42);
  // error: ignoring return value
  claim.take(1);
  claim.take_one();
  claim.in(tx);
  claim.in(tx).take(1);
  claim.complete(receipt);
  claim.complete_batch(deliveries);
  claim.fail(receipt, "reason");
  claim.release(receipt);
  claim.extend(receipt, std::chrono::seconds{1});
  fifo.dequeue();
  fifo.in(tx).dequeue();
  fifo.dequeue_batch(2);
  db.begin();
  // error: no copy
  const tableq::transaction copy(tx);
  // error: no conversion
  by_id(1);
  (void)claim.complete(1);
  (void)claim.complete(tableq::message_id{1});
  // error: no copy
  const tableq::fifo_queue nothing;
#endif
}
