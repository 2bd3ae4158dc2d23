// Memory that runs out, at each allocation of a call: the call fails if and only if it gives an
// error, gives nothing else then, and the next one works. With the allocator of glibc.
#include "check.h"

#include <errno.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);

static _Thread_local long left = -1;  // allocations until the one that fails; below 0: none does
static _Thread_local int failed_one = 0;

static int runs_out(void) {
  if (left < 0 || left-- > 0) return 0;
  failed_one = 1;
  errno = ENOMEM;
  return 1;
}
void* malloc(size_t size) {
  return runs_out() ? NULL : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return runs_out() ? NULL : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return runs_out() ? NULL : __libc_realloc(old, size);
}

static tq_database* db;
static tq_queue* queue;
static tq_options* message;
static char receipt[100];
static size_t receipt_size;

static int enqueues(tq_error** error) {
  int64_t id = 7;
  const int code = tq_enqueue(queue, NULL, "payload", TQ_NUL, message, &id, NULL, error);
  EXPECT(code == TQ_OK || id == 0);
  return code;
}
static int fails(tq_error** error) {
  int outcome = 7;
  const int code =
      tq_fail(queue, NULL, receipt, receipt_size, "why", TQ_NUL, NULL, &outcome, error);
  EXPECT(code == TQ_OK || outcome == 0);
  return code;
}
static int completes(tq_error** error) {
  int outcome = 7;
  return tq_complete(queue, NULL, receipt, receipt_size, &outcome, error);
}
static int lists(tq_error** error) {
  tq_result* page = NULL;
  const int code = tq_list(queue, "ready", 10, NULL, NULL, &page, error);
  EXPECT((code == TQ_OK) == (page != NULL));
  tq_result_free(page);
  return code;
}
static int takes(tq_error** error) {
  tq_result* taken = NULL;
  const int code = tq_take(queue, NULL, 2, NULL, &taken, error);
  EXPECT((code == TQ_OK) == (taken != NULL));
  tq_result_free(taken);
  return code;
}
static int commits(tq_error** error) {
  tq_transaction* tx = NULL;
  int code = tq_transaction_begin(db, &tx, error);
  EXPECT((code == TQ_OK) == (tx != NULL));
  if (code == TQ_OK) code = tq_enqueue(queue, tx, "x", 1, message, NULL, NULL, error);
  if (code == TQ_OK) code = tq_transaction_commit(tx, error);
  tq_transaction_free(tx);
  return code;
}

static void each_allocation_may_fail(int (*call)(tq_error** error)) {
  int hit = 1;
  for (long allowed = 0; hit; ++allowed) {
    add(queue, "work");
    tq_result* taken = take(queue, 1, 1);
    memcpy(receipt, tq_result_bytes(taken, 0, "receipt", &receipt_size), receipt_size);
    tq_result_free(taken);
    tq_error* error = NULL;
    failed_one = 0;
    left = allowed;
    const int code = call(&error);
    left = -1;
    hit = failed_one;
    EXPECT((code == TQ_OK) == (error == NULL));
    EXPECT(code == tq_error_code(error));
    tq_error_free(error);
  }
}

int main(int count, char** words) {
  tq_error* error = NULL;
  EXPECT(count == 2);
  OK(tq_database_open(words[1], TQ_NUL, NULL, &db, &error));
  queue = queue_of(db, "c_memory", "claim");
  message = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_header(message, "name", 4, "a value that is not short at all", TQ_NUL, &error));
  each_allocation_may_fail(enqueues);
  each_allocation_may_fail(fails);
  each_allocation_may_fail(completes);
  each_allocation_may_fail(lists);
  each_allocation_may_fail(takes);
  each_allocation_may_fail(commits);
  tq_options_free(message);
  tq_queue_close(queue);
  OK(tq_database_drop(db, "c_memory", TQ_NUL, NULL, &error));
  tq_database_close(db);
  printf("passed\n");
  return 0;
}
