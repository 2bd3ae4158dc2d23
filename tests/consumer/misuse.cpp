// Mistakes that the compiler must refuse, one for each macro; CMakeLists.txt says with which words.
// Without a macro everything here compiles: what is refused is refused for its own sake.
#include <tableq/tableq.hpp>

void by_id(tableq::message_id id);

void use(tableq::database& db, tableq::heap_queue& heap, tableq::fifo_queue& fifo,
         tableq::pending_queue& pending, tableq::claim_queue& claim, tableq::transaction& tx) {
  const tableq::receipt receipt;
  (void)claim.take();
  (void)claim.complete(receipt);
  (void)fifo.dequeue();
  by_id(tableq::message_id{1});
#if defined(HEAP_HAS_NO_TAKE)
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
#elif defined(DROPPED_TAKE_IS_NOTICED)
  claim.take();
#elif defined(DROPPED_TAKE_IN_TRANSACTION_IS_NOTICED)
  claim.take(tx);
#elif defined(DROPPED_COMPLETE_IS_NOTICED)
  claim.complete(receipt);
#elif defined(DROPPED_FAIL_IS_NOTICED)
  claim.fail(receipt, "reason");
#elif defined(DROPPED_RELEASE_IS_NOTICED)
  claim.release(receipt);
#elif defined(DROPPED_EXTEND_IS_NOTICED)
  claim.extend(receipt, std::chrono::seconds{1});
#elif defined(DROPPED_DEQUEUE_IS_NOTICED)
  fifo.dequeue();
#elif defined(DROPPED_DEQUEUE_IN_TRANSACTION_IS_NOTICED)
  fifo.dequeue(tx);
#elif defined(DROPPED_DEQUEUE_BATCH_IS_NOTICED)
  fifo.dequeue_batch({.max = 2});
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
