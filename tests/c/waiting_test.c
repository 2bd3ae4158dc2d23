#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

/// Whether the descriptor is readable, or becomes so within some seconds.
static int readable(int descriptor, int milliseconds) {
  struct pollfd one = {descriptor, POLLIN, 0};
  return poll(&one, 1, milliseconds) == 1 && (one.revents & POLLIN) != 0;
}

enum { patience = 20000 };

static void* request(void* stop) {
  tq_stop_request((tq_stop*)stop);
  return NULL;
}

static void a_stop_ends_a_wait_from_another_thread(const struct place* at) {
  tq_error* error = NULL;
  tq_stop* stop = NULL;
  tq_result* result = NULL;
  pthread_t other;
  tq_queue* jobs = queue_of(at->db, "c_wait", "claim");
  tq_queue* mail = queue_of(at->db, "c_mail", "fifo");
  tq_options* options = options_for(TQ_FOR_READ);
  OK(tq_stop_new(&stop, &error));
  EXPECT(tq_stop_requested(stop) == 0);
  OK(tq_options_set_int(options, "wait_ms", 3600000, &error));
  OK(tq_options_set_stop(options, stop, &error));
  EXPECT(pthread_create(&other, NULL, request, stop) == 0);
  OK(tq_take(jobs, NULL, 1, options, &result, &error));
  EXPECT(tq_result_count(result) == 0);
  tq_result_free(result);
  pthread_join(other, NULL);
  EXPECT(tq_stop_requested(stop) == 1);
  tq_stop_free(stop);  // The options keep it.
  OK(tq_dequeue(mail, NULL, 1, options, &result, &error));
  tq_result_free(result);
  tq_options_free(options);
  tq_queue_close(jobs);
  tq_queue_close(mail);
}

static void a_stop_ends_a_wait_for_room(const struct place* at) {
  tq_error* error = NULL;
  tq_stop* stop = NULL;
  tq_batch* batch = NULL;
  tq_queue* queue = queue_of(at->db, "c_full", "fifo");
  tq_options* limits = options_for(TQ_FOR_LIMITS);
  OK(tq_options_set_int(limits, "capacity", 1, &error));
  OK(tq_queue_set_limits(queue, limits, &error));
  tq_options_free(limits);
  add(queue, "fills it");
  OK(tq_stop_new(&stop, &error));
  tq_stop_request(stop);
  tq_options* one = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_int(one, "wait_ms", 3600000, &error));
  OK(tq_options_set_stop(one, stop, &error));
  REFUSED(TQ_ERROR_QUEUE_FULL, tq_enqueue(queue, NULL, "x", 1, one, NULL, NULL, &error));
  tq_options* all = options_for(TQ_FOR_ENQUEUE);
  OK(tq_options_set_int(all, "wait_ms", 3600000, &error));
  OK(tq_options_set_stop(all, stop, &error));
  OK(tq_batch_new(&batch, &error));
  OK(tq_batch_add(batch, "x", 1, NULL, &error));
  REFUSED(TQ_ERROR_QUEUE_FULL, tq_enqueue_batch(queue, NULL, batch, all, NULL, &error));
  tq_batch_free(batch);
  tq_options_free(one);
  tq_options_free(all);
  tq_stop_free(stop);
  tq_queue_close(queue);
}

/// Reads from all queues of a watch until it names none. @return the number of messages.
static size_t drain(tq_watch* watch, tq_queue** queues) {
  size_t found = 0;
  int64_t number = 0;
  while (tq_watch_next(watch, &number)) {
    tq_error* error = NULL;
    tq_result* taken = NULL;
    OK(tq_take(queues[number], NULL, 10, NULL, &taken, &error));
    const size_t count = tq_result_count(taken);
    OK(tq_watch_done(watch, number, count, &error));
    found += count;
    complete_all(queues[number], taken);
  }
  return found;
}

static void a_watch_names_the_queue_that_has_news(const struct place* at) {
  tq_error* error = NULL;
  tq_watch* watch = NULL;
  tq_watch* other = NULL;
  int64_t number = 7;
  tq_queue* queues[2] = {queue_of(at->db, "c_watched", "claim"),
                         queue_of(at->db, "c_watched_too", "claim")};
  OK(tq_watch_new(&watch, &error));
  OK(tq_watch_new(&other, &error));
  EXPECT(!readable(tq_watch_descriptor(watch), 0));
  for (int i = 0; i < 2; ++i) {
    OK(tq_watch_add(watch, queues[i], i, &error));
    OK(tq_watch_add(other, queues[i], i, &error));
  }
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_watch_add(watch, queues[0], 0, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_watch_done(watch, 5, 0, &error));
  EXPECT(readable(tq_watch_descriptor(watch), 0));  // Each queue is looked at once.
  EXPECT(drain(watch, queues) == 0);
  EXPECT(drain(other, queues) == 0);
  while (tq_watch_next(watch, &number)) {  // A poll may have named one meanwhile.
    OK(tq_watch_done(watch, number, 0, &error));
  }
  EXPECT(number == 0);

  add(queues[1], "news");
  EXPECT(readable(tq_watch_descriptor(watch), patience));
  EXPECT(readable(tq_watch_descriptor(other), patience));
  EXPECT(drain(watch, queues) == 1);
  EXPECT(readable(tq_watch_descriptor(other), 0));  // Its news are its own.
  EXPECT(drain(other, queues) == 0);

  tq_watch_remove(watch, 1);
  tq_watch_remove(watch, 1);
  add(queues[1], "nobody is told");
  while (tq_watch_next(watch, &number)) {
    EXPECT(number == 0);
    OK(tq_watch_done(watch, number, 0, &error));
  }
  EXPECT(drain(other, queues) == 1);
  tq_watch_free(watch);
  tq_watch_free(other);
  tq_queue_close(queues[0]);
  tq_queue_close(queues[1]);
}

static void a_watch_tells_when_a_message_falls_due(const struct place* at) {
  tq_error* error = NULL;
  tq_watch* watch = NULL;
  tq_queue* queue = queue_of(at->db, "c_due", "claim");
  tq_options* later = options_for(TQ_FOR_MESSAGE);
  OK(tq_watch_new(&watch, &error));
  OK(tq_watch_add(watch, queue, 0, &error));
  OK(tq_options_set_int(later, "delay_ms", 300, &error));
  OK(tq_enqueue(queue, NULL, "later", TQ_NUL, later, NULL, NULL, &error));
  size_t found = 0;
  while (found == 0) {
    EXPECT(readable(tq_watch_descriptor(watch), patience));
    found = drain(watch, &queue);
  }
  EXPECT(found == 1);
  tq_options_free(later);
  tq_watch_free(watch);
  tq_queue_close(queue);
}

static void a_keeper_extends_until_the_message_is_settled(const struct place* at) {
  tq_error* error = NULL;
  tq_keeper* keeper = NULL;
  tq_result* taken = NULL;
  tq_result* found = NULL;
  size_t size = 0;
  int kept = 7;
  int outcome = 7;
  tq_queue* queue = queue_of(at->db, "c_kept", "claim");
  tq_options* brief = options_for(TQ_FOR_READ);
  OK(tq_options_set_int(brief, "lease_ms", 600, &error));
  OK(tq_keeper_new(at->db, &keeper, &error));
  for (int i = 0; i < 2; ++i) add(queue, "long work");
  OK(tq_take(queue, NULL, 2, brief, &taken, &error));
  for (size_t i = 0; i < 2; ++i) {
    const char* receipt = tq_result_bytes(taken, i, "receipt", &size);
    OK(tq_keeper_add(keeper, queue, receipt, size, 600, &error));
  }
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_keeper_add(keeper, queue, "1.2.3", 5, 600, &error));
  EXPECT(tq_keeper_count(keeper) == 2);
  const char* first = tq_result_bytes(taken, 0, "receipt", &size);
  const int64_t until = tq_result_int(taken, 0, "lease_until");
  for (;;) {  // Until the first lease would have ended.
    OK(tq_get(queue, NULL, tq_result_int(taken, 0, "id"), NULL, &found, &error));
    const int64_t now = tq_result_int(found, 0, "due_at");
    EXPECT(same(found, 0, "state", "leased"));
    tq_result_free(found);
    if (now > until + 600) break;
    EXPECT(!readable(tq_keeper_descriptor(keeper), 10));
  }
  OK(tq_complete(queue, NULL, first, size, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  EXPECT(tq_keeper_count(keeper) == 1);
  OK(tq_keeper_remove(keeper, first, size, &kept, &error));
  EXPECT(kept == 0);
  const char* second = tq_result_bytes(taken, 1, "receipt", &size);
  OK(tq_keeper_remove(keeper, second, size, &kept, &error));
  EXPECT(kept == 1);
  EXPECT(tq_keeper_count(keeper) == 0);
  OK(tq_complete(queue, NULL, second, size, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  tq_result_free(taken);
  tq_keeper_free(keeper);
  tq_options_free(brief);
  tq_queue_close(queue);
}

static void a_lost_message_is_told(const struct place* at) {
  tq_error* error = NULL;
  tq_keeper* keeper = NULL;
  tq_database* elsewhere = NULL;
  tq_result* lost = NULL;
  size_t size = 0;
  int outcome = 7;
  tq_queue* queue = queue_of(at->db, "c_kept", "claim");
  OK(tq_database_open(at->url, TQ_NUL, NULL, &elsewhere, &error));
  tq_queue* same_queue = queue_of(elsewhere, "c_kept", "claim");
  OK(tq_keeper_new(at->db, &keeper, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_keeper_add(keeper, same_queue, "1.2.3", 5, 0, &error));
  add(queue, "work");
  tq_result* taken = take(queue, 1, 1);
  const char* receipt = tq_result_bytes(taken, 0, "receipt", &size);
  OK(tq_keeper_add(keeper, queue, receipt, size, 300, &error));
  OK(tq_release(same_queue, NULL, receipt, size, &outcome, &error));  // By another object.
  EXPECT(readable(tq_keeper_descriptor(keeper), patience));
  OK(tq_keeper_lost(keeper, &lost, &error));
  EXPECT(tq_result_count(lost) == 1);
  EXPECT(same(lost, 0, "receipt", receipt));
  EXPECT(same(lost, 0, "queue", "c_kept"));
  EXPECT(same(lost, 0, "why", "lease_lost"));
  tq_result_free(lost);
  EXPECT(!readable(tq_keeper_descriptor(keeper), 0));
  OK(tq_keeper_lost(keeper, &lost, &error));
  EXPECT(tq_result_count(lost) == 0);
  tq_result_free(lost);
  tq_result_free(taken);
  complete_all(queue, take(queue, 1, 1));
  tq_keeper_free(keeper);
  tq_queue_close(same_queue);
  tq_database_close(elsewhere);
  tq_queue_close(queue);
}

void run_waiting_tests(const struct place* at) {
  a_stop_ends_a_wait_from_another_thread(at);
  a_stop_ends_a_wait_for_room(at);
  a_watch_names_the_queue_that_has_news(at);
  a_watch_tells_when_a_message_falls_due(at);
  a_keeper_extends_until_the_message_is_settled(at);
  a_lost_message_is_told(at);
}
