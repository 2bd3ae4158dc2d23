// A producer and a worker in C, with an event loop: one descriptor for the queue, one for lost
// leases, one for SIGTERM. Run with a connection string; it ends when all is done.
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tableq.h>
#include <unistd.h>

static int ending[2];  // a pipe: the signal handler may only write

static void on_signal(int number) {
  const char byte = (char)number;
  if (write(ending[1], &byte, 1) != 1) abort();
}

static void check(int code, tq_error** error) {
  if (code == TQ_OK) return;
  fprintf(stderr, "%s\n", tq_error_message(*error));
  tq_error_free(*error);
  exit(1);
}

/// Three jobs, together or not at all. Again while the error says that it may help.
static void produce(tq_database* db, tq_queue* jobs) {
  static const char* const files[] = {"cat.jpg", "notes.txt", "sea.jpg"};
  for (int attempt = 0;; ++attempt) {
    tq_error* error = NULL;
    tq_transaction* tx = NULL;
    int code = tq_transaction_begin(db, &tx, &error);
    for (size_t i = 0; i < 3 && code == TQ_OK; ++i) {
      code = tq_enqueue(jobs, tx, files[i], TQ_NUL, NULL, NULL, NULL, &error);
    }
    if (code == TQ_OK) code = tq_transaction_commit(tx, &error);
    tq_transaction_free(tx);  // Rolls back if it was not committed.
    if (code == TQ_OK) return;
    if (!tq_error_retryable(error) || attempt == 5) check(code, &error);
    tq_error_free(error);
  }
}

/// The work itself, which may take longer than the lease.
static int resize(const char* file, size_t size) {
  if (size < 4 || memcmp(file + size - 4, ".jpg", 4) != 0) return 0;
  printf("resized %.*s\n", (int)size, file);
  return 1;
}

/// Handles up to ten jobs. @return how many there were; `ended` counts those that are over.
static size_t work(tq_queue* jobs, tq_keeper* keeper, size_t* ended) {
  tq_error* error = NULL;
  tq_result* taken = NULL;
  check(tq_take(jobs, NULL, 10, NULL, &taken, &error), &error);
  const size_t count = tq_result_count(taken);
  for (size_t i = 0; i < count; ++i) {  // The library extends their leases from now on.
    size_t size = 0;
    const char* receipt = tq_result_bytes(taken, i, "receipt", &size);
    check(tq_keeper_add(keeper, jobs, receipt, size, 0, &error), &error);
  }
  for (size_t i = 0; i < count; ++i) {
    size_t size = 0, receipt_size = 0;
    int outcome = TQ_OUTCOME_LEASE_LOST;
    const char* file = tq_result_bytes(taken, i, "payload", &size);
    const char* receipt = tq_result_bytes(taken, i, "receipt", &receipt_size);
    if (resize(file, size)) {
      check(tq_complete(jobs, NULL, receipt, receipt_size, &outcome, &error), &error);
    } else {
      tq_options* hopeless = NULL;
      check(tq_options_new(TQ_FOR_FAILURE, &hopeless, &error), &error);
      check(tq_options_set_bool(hopeless, "give_up", 1, &error), &error);
      check(tq_fail(jobs, NULL, receipt, receipt_size, "not an image", TQ_NUL, hopeless, &outcome,
                    &error),
            &error);
      tq_options_free(hopeless);
      printf("gave up %.*s\n", (int)size, file);
    }
    if (outcome == TQ_OUTCOME_LEASE_LOST) printf("too late\n");
    ++*ended;
  }
  tq_result_free(taken);
  return count;
}

static void tell_lost(tq_keeper* keeper) {
  tq_error* error = NULL;
  tq_result* lost = NULL;
  check(tq_keeper_lost(keeper, &lost, &error), &error);
  for (size_t i = 0; i < tq_result_count(lost); ++i) {
    printf("lost: %s\n", tq_result_bytes(lost, i, "receipt", NULL));
  }
  tq_result_free(lost);
}

int main(int argc, char** argv) {
  tq_error* error = NULL;
  tq_database* db = NULL;
  tq_queue* jobs = NULL;
  tq_watch* watch = NULL;
  tq_keeper* keeper = NULL;
  if (pipe(ending) != 0) return 1;
  signal(SIGTERM, on_signal);
  signal(SIGINT, on_signal);
  check(tq_database_open(argc > 1 ? argv[1] : "sqlite://jobs.db", TQ_NUL, NULL, &db, &error),
        &error);
  check(tq_queue_open(db, "resize", TQ_NUL, "claim", NULL, &jobs, &error), &error);
  produce(db, jobs);

  check(tq_watch_new(&watch, &error), &error);
  check(tq_watch_add(watch, jobs, 0, &error), &error);
  check(tq_keeper_new(db, &keeper, &error), &error);
  struct pollfd ready[3] = {{tq_watch_descriptor(watch), POLLIN, 0},
                            {tq_keeper_descriptor(keeper), POLLIN, 0},
                            {ending[0], POLLIN, 0}};
  size_t ended = 0;
  while (ended < 3 && poll(ready, 3, -1) >= 0 && ready[2].revents == 0) {
    int64_t number = 0;
    if (ready[1].revents != 0) tell_lost(keeper);
    while (tq_watch_next(watch, &number)) {
      const size_t found = work(jobs, keeper, &ended);
      check(tq_watch_done(watch, number, found, &error), &error);
    }
  }
  tq_keeper_free(keeper);
  tq_watch_free(watch);
  tq_queue_close(jobs);
  tq_database_close(db);
  return 0;
}
