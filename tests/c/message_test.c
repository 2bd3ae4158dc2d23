#include "check.h"

static void each_destructive_kind_returns_what_was_added(const struct place* at) {
  static const char* const kinds[] = {"heap", "fifo", "lifo", "pending"};
  for (size_t i = 0; i < 4; ++i) {
    tq_error* error = NULL;
    tq_result* messages = NULL;
    int64_t id = 0;
    int outcome = 0;
    char name[16];
    snprintf(name, sizeof name, "c_%s", kinds[i]);
    tq_queue* queue = queue_of(at->db, name, kinds[i]);
    EXPECT(strcmp(tq_queue_name(queue), name) == 0);
    EXPECT(strcmp(tq_queue_kind(queue), kinds[i]) == 0);
    OK(tq_enqueue(queue, NULL, "a\0b", 3, NULL, &id, &outcome, &error));
    EXPECT(id > 0 && outcome == TQ_OUTCOME_ADDED);
    OK(tq_peek(queue, 10, &messages, &error));
    EXPECT(tq_result_count(messages) == 1);
    tq_result_free(messages);
    OK(tq_dequeue(queue, NULL, 10, NULL, &messages, &error));
    EXPECT(tq_result_count(messages) == 1);
    size_t size = 0;
    const char* payload = tq_result_bytes(messages, 0, "payload", &size);
    EXPECT(size == 3 && memcmp(payload, "a\0b", 4) == 0);  // One NUL byte follows.
    EXPECT(tq_result_type(messages, 0, "payload") == TQ_TYPE_BYTES);
    EXPECT(tq_result_int(messages, 0, "id") == id);
    EXPECT(tq_result_int(messages, 0, "created_at") > 0);
    EXPECT((tq_result_type(messages, 0, "due_at") == TQ_TYPE_TIME) == (i == 3));
    tq_result_free(messages);
    OK(tq_dequeue(queue, NULL, 10, NULL, &messages, &error));
    EXPECT(tq_result_count(messages) == 0);
    tq_result_free(messages);
    tq_queue_close(queue);
  }
}

static void many_items_and_fields_go_by_one_call(const struct place* at) {
  tq_error* error = NULL;
  tq_batch* batch = NULL;
  tq_result* result = NULL;
  const size_t sizes[] = {2, 0, 3};
  size_t found[3] = {9, 9, 9};
  int64_t ids[3] = {0, 0, 0};
  char bytes[7] = "------";
  tq_queue* queue = queue_of(at->db, "c_fifo", "fifo");
  tq_options* row = options_for(TQ_FOR_ROW);
  OK(tq_batch_new(&batch, &error));
  OK(tq_batch_add_all(batch, "aab\0b", sizes, 3, NULL, &error));
  OK(tq_batch_add_all(batch, NULL, NULL, 0, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add_all(batch, "a", NULL, 1, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add_all(batch, NULL, sizes, 3, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add_all(batch, "aab\0b", sizes, 3, row, &error));
  EXPECT(tq_batch_count(batch) == 3);
  OK(tq_enqueue_batch(queue, NULL, batch, NULL, NULL, &error));
  OK(tq_dequeue(queue, NULL, 10, NULL, &result, &error));
  EXPECT(tq_result_all_bytes(result, "payload", found, bytes, 4) == 5);
  EXPECT(memcmp(bytes, "------", 6) == 0);  // There was no room for all.
  EXPECT(found[0] == 2 && found[1] == 0 && found[2] == 3);
  EXPECT(tq_result_all_bytes(result, "payload", NULL, bytes, 5) == 5);
  EXPECT(memcmp(bytes, "aab\0b-", 6) == 0);
  EXPECT(tq_result_all_bytes(result, "no", found, bytes, 5) == 0 && found[2] == 0);
  EXPECT(tq_result_all_bytes(NULL, "payload", found, bytes, 5) == 0);
  tq_result_all_ints(result, "id", ids);
  EXPECT(ids[0] == tq_result_int(result, 0, "id") && ids[2] == tq_result_int(result, 2, "id"));
  tq_result_all_ints(result, NULL, ids);
  EXPECT(ids[0] == 0 && ids[2] == 0);
  tq_result_all_ints(NULL, "id", ids);
  tq_result_all_ints(result, "id", NULL);
  tq_result_free(result);
  tq_batch_free(batch);
  tq_options_free(row);
  tq_queue_close(queue);
}

static void sizes_beyond_any_memory_are_refused(const struct place* at) {
  tq_error* error = NULL;
  tq_batch* batch = NULL;
  tq_queue* queue = queue_of(at->db, "c_heap", "heap");
  const size_t endless[] = {SIZE_MAX, 6};
  const size_t half[] = {SIZE_MAX / 2, SIZE_MAX / 2};
  OK(tq_batch_new(&batch, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add_all(batch, "a", endless, 2, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add_all(batch, "a", half, 2, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add(batch, "a", SIZE_MAX - 1, NULL, &error));
  EXPECT(tq_batch_count(batch) == 0);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_enqueue(queue, NULL, "a", SIZE_MAX - 1, NULL, NULL, NULL, &error));
  tq_batch_free(batch);
  tq_queue_close(queue);
}

static void an_option_of_another_kind_is_refused(const struct place* at) {
  tq_error* error = NULL;
  tq_batch* batch = NULL;
  tq_queue* fifo = queue_of(at->db, "c_fifo", "fifo");
  tq_queue* pending = queue_of(at->db, "c_pending", "pending");
  tq_options* options = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_int(options, "delay_ms", 3600000, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enqueue(fifo, NULL, "x", 1, options, NULL, NULL, &error));
  OK(tq_batch_new(&batch, &error));
  OK(tq_batch_add(batch, "x", 1, options, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enqueue_batch(fifo, NULL, batch, NULL, NULL, &error));
  OK(tq_enqueue(pending, NULL, "later", 5, options, NULL, NULL, &error));
  OK(tq_enqueue_batch(pending, NULL, batch, NULL, NULL, &error));
  OK(tq_options_set_int(options, "priority", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_enqueue(pending, NULL, "x", 1, options, NULL, NULL, &error));
  tq_result* stats = NULL;
  OK(tq_queue_stats(pending, NULL, &stats, &error));
  EXPECT(tq_result_int(stats, 0, "delayed") == 2);
  EXPECT(tq_result_int(stats, 0, "waiting") == 0);
  tq_result_free(stats);
  OK(tq_purge(pending, NULL, NULL, NULL, &error));
  tq_options_free(options);
  options = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_int(options, "wait_ms", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add(batch, "x", 1, options, &error));
  tq_batch_free(batch);
  tq_options_free(options);
  tq_queue_close(fifo);
  tq_queue_close(pending);
}

static void a_call_of_another_kind_is_refused(const struct place* at) {
  tq_error* error = NULL;
  tq_result* result = NULL;
  int outcome = 0;
  int64_t count = 0;
  tq_queue* fifo = queue_of(at->db, "c_fifo", "fifo");
  tq_queue* claim = queue_of(at->db, "c_jobs", "claim");
  tq_batch* ids = NULL;
  OK(tq_batch_new(&ids, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_take(fifo, NULL, 1, NULL, &result, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_complete(fifo, NULL, "1.2.3", 5, &outcome, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_get(fifo, NULL, 1, NULL, &result, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_redrive(fifo, ids, &count, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_dequeue(claim, NULL, 1, NULL, &result, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_queue_ddl(claim, &result, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_purge(fifo, "done", NULL, &count, &error));
  tq_batch_free(ids);
  tq_queue_close(fifo);
  tq_queue_close(claim);
}

static void rates_lie_between_two_figures(const struct place* at) {
  tq_error* error = NULL;
  tq_result* earlier = NULL;
  tq_result* later = NULL;
  tq_result* rates = NULL;
  tq_queue* queue = queue_of(at->db, "c_fifo", "fifo");
  tq_options* exact = options_for(TQ_FOR_STATS);
  OK(tq_options_set_bool(exact, "exact", 1, &error));
  OK(tq_options_set_int(exact, "count_to", 1000, &error));
  add(queue, "one");
  OK(tq_queue_stats(queue, exact, &earlier, &error));
  EXPECT(tq_result_int(earlier, 0, "waiting") == 1);
  EXPECT(tq_result_type(earlier, 0, "oldest") == TQ_TYPE_TIME);
  EXPECT(tq_result_type(earlier, 0, "counted_to") == TQ_TYPE_NULL);
  OK(tq_queue_stats(queue, exact, &later, &error));
  OK(tq_queue_rates(earlier, later, &rates, &error));
  EXPECT(tq_result_field_count(rates) == 2);
  tq_result_free(rates);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_queue_rates(earlier, rates = NULL, &rates, &error));
  OK(tq_purge(queue, NULL, NULL, NULL, &error));
  tq_result_free(earlier);
  tq_result_free(later);
  tq_options_free(exact);
  tq_queue_close(queue);
}

void run_message_tests(const struct place* at) {
  each_destructive_kind_returns_what_was_added(at);
  many_items_and_fields_go_by_one_call(at);
  sizes_beyond_any_memory_are_refused(at);
  an_option_of_another_kind_is_refused(at);
  a_call_of_another_kind_is_refused(at);
  rates_lie_between_two_figures(at);
}
