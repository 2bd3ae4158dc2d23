// Mistakes that the compiler must refuse, one for each macro; CMakeLists.txt has the expected
// texts. Without a macro everything here compiles, so that only the mistake itself is refused. The
// headers come from misuse_headers.inc, compiled once.

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
#if defined(HANDLER_TAKES_NO_NUMBER)
  const tableq::worker wrong(claim, [](int) {});
#elif defined(HANDLER_CHANGES_NO_DELIVERY)
  (void)tableq::drain(claim, [](tableq::delivery&) {});
#elif defined(HANDLER_RETURNS_NO_NUMBER)
  (void)tableq::drain(claim, [](const tableq::delivery&) { return 1; });
#elif defined(HANDLER_OF_A_TRANSACTION_RETURNS_NO_TEXT)
  const tableq::worker wrong(
      claim, [](tableq::transaction&, const tableq::delivery&) { return std::string(); });
#elif defined(HEAP_HAS_NO_TAKE)
  (void)heap.take();
#elif defined(FIFO_HAS_NO_COMPLETE)
  (void)fifo.complete(receipt);
#elif defined(PENDING_HAS_NO_FAIL)
  (void)pending.fail(receipt, "reason");
#elif defined(CLAIM_HAS_NO_DEQUEUE)
  (void)claim.dequeue();
#elif defined(HEAP_TAKES_NO_PRIORITY)
  heap.enqueue("x", {.priority = 1});
#elif defined(FIFO_TAKES_NO_DELAY)
  fifo.enqueue("x", {.delay = std::chrono::seconds{1}});
#elif defined(FIFO_TAKES_NO_GROUP)
  fifo.enqueue("x", {.group = "g"});
#elif defined(PENDING_TAKES_NO_KEY)
  pending.enqueue("x", {.key = "k"});
#elif defined(FIFO_TAKES_NO_LEASE)
  (void)db.fifo("mail", {.lease = std::chrono::seconds{1}});
#elif defined(LEASE_IS_NO_BARE_NUMBER)
  (void)claim.extend(receipt, 30);
#elif defined(TRANSACTION_IS_NO_ARGUMENT_OF_A_CALL)
  fifo.enqueue(tx, "x");
#elif defined(TEMPORARY_IS_NO_TRANSACTION_TO_BE_IN)
  (void)fifo.in(db.begin());
#elif defined(ENLISTMENT_DOES_NOT_CONVERT_UNASKED)
  by_transaction(joined);
#elif defined(LIBRARY_MAKES_TRANSACTIONS)
  const tableq::transaction own(nullptr);
#elif defined(INSIDE_OF_A_DATABASE_IS_HIDDEN)
  (void)db.state();
#elif defined(INSIDE_OF_A_QUEUE_IS_HIDDEN)
  (void)fifo.state();
#elif defined(DEQUEUE_OF_ONE_HAS_NO_COUNT)
  (void)fifo.dequeue({.max = 2});
#elif defined(TAKE_OF_ONE_HAS_NO_COUNT)
  (void)claim.take_one({.max = 2});
#elif defined(COMPLETE_OF_ONE_TAKES_NO_RANGE)
  (void)claim.complete(deliveries);
#elif defined(IDS_ARE_NO_RECEIPTS)
  (void)claim.complete_batch(std::vector<tableq::message_id>());
#elif defined(NULL_IS_NO_PAYLOAD)
  fifo.enqueue(nullptr);
#elif defined(NUMBER_IS_NO_PAYLOAD)
  fifo.enqueue(42);
#elif defined(DROPPED_TAKE_IS_NOTICED)
  claim.take(1);
#elif defined(DROPPED_TAKE_OF_ONE_IS_NOTICED)
  claim.take_one();
#elif defined(DROPPED_BOUND_HANDLE_IS_NOTICED)
  claim.in(tx);
#elif defined(DROPPED_TAKE_IN_TRANSACTION_IS_NOTICED)
  claim.in(tx).take(1);
#elif defined(DROPPED_COMPLETE_IS_NOTICED)
  claim.complete(receipt);
#elif defined(DROPPED_COMPLETE_BATCH_IS_NOTICED)
  claim.complete_batch(deliveries);
#elif defined(DROPPED_FAIL_IS_NOTICED)
  claim.fail(receipt, "reason");
#elif defined(DROPPED_RELEASE_IS_NOTICED)
  claim.release(receipt);
#elif defined(DROPPED_EXTEND_IS_NOTICED)
  claim.extend(receipt, std::chrono::seconds{1});
#elif defined(DROPPED_DEQUEUE_IS_NOTICED)
  fifo.dequeue();
#elif defined(DROPPED_DEQUEUE_IN_TRANSACTION_IS_NOTICED)
  fifo.in(tx).dequeue();
#elif defined(DROPPED_DEQUEUE_BATCH_IS_NOTICED)
  fifo.dequeue_batch(2);
#elif defined(DROPPED_TRANSACTION_IS_NOTICED)
  db.begin();
#elif defined(TRANSACTION_IS_NOT_COPYABLE)
  const tableq::transaction copy(tx);
#elif defined(INT_IS_NO_MESSAGE_ID)
  by_id(1);
#elif defined(INT_IS_NO_RECEIPT)
  (void)claim.complete(1);
#elif defined(MESSAGE_ID_IS_NO_RECEIPT)
  (void)claim.complete(tableq::message_id{1});
#elif defined(QUEUES_ARE_MADE_BY_THE_DATABASE)
  const tableq::fifo_queue nothing;
#endif
}
