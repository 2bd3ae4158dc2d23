#include <pthread.h>

#include "check.h"

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

void run_waiting_tests(const struct place* at) {
  a_stop_ends_a_wait_from_another_thread(at);
}
