#include "check.h"

static void a_delivery_has_all_that_was_added(const struct place* at) {
  tq_error* error = NULL;
  int64_t id = 0;
  int outcome = 0;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  tq_options* options = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_int(options, "priority", 5, &error));
  OK(tq_options_set_text(options, "key", "cat", TQ_NUL, &error));
  OK(tq_options_set_header(options, "type", TQ_NUL, "image", TQ_NUL, &error));
  OK(tq_options_set_header(options, "size", TQ_NUL, "large", TQ_NUL, &error));
  OK(tq_options_set_int(options, "max_attempts", 9, &error));
  OK(tq_options_set_null(options, "time_to_live_ms", 0, &error));
  OK(tq_options_add_int(options, "retry_ms", 10, &error));
  OK(tq_options_set_text(options, "on_duplicate", "keep_first", TQ_NUL, &error));
  OK(tq_enqueue(queue, NULL, "cat.jpg", TQ_NUL, options, &id, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_ADDED);
  OK(tq_enqueue(queue, NULL, "cat.jpg", TQ_NUL, options, &id, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_KEPT_FIRST);

  tq_options* how = options_for(TQ_FOR_READ);
  OK(tq_options_set_int(how, "lease_ms", 60000, &error));
  OK(tq_options_set_time(how, "claimed_at", 86400000, &error));
  OK(tq_options_set_int(how, "wait_ms", 1, &error));
  tq_result* taken = NULL;
  OK(tq_take(queue, NULL, 10, how, &taken, &error));
  EXPECT(tq_result_count(taken) == 1);
  EXPECT(tq_result_int(taken, 0, "id") == id);
  EXPECT(same(taken, 0, "payload", "cat.jpg"));
  EXPECT(same(taken, 0, "key", "cat"));
  EXPECT(tq_result_type(taken, 0, "group") == TQ_TYPE_NULL);
  EXPECT(tq_result_int(taken, 0, "priority") == 5);
  EXPECT(tq_result_int(taken, 0, "attempt") == 1);
  EXPECT(tq_result_int(taken, 0, "claimed_at") == 86400000);
  EXPECT(tq_result_int(taken, 0, "lease_until") > tq_result_int(taken, 0, "created_at"));
  EXPECT(tq_result_type(taken, 0, "row") == TQ_TYPE_NULL);
  const tq_result* headers = tq_result_list(taken, 0, "headers");
  EXPECT(tq_result_count(headers) == 2);
  EXPECT(same(headers, 1, "name", "type") && same(headers, 1, "value", "image"));
  complete_all(queue, taken);
  tq_options_free(options);
  tq_options_free(how);
  tq_queue_close(queue);
}

static void each_settlement_has_its_effect_once(const struct place* at) {
  tq_error* error = NULL;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  int outcome = 7;
  size_t size = 0;
  add(queue, "work");
  tq_result* taken = take(queue, 1, 1);
  const char* receipt = tq_result_bytes(taken, 0, "receipt", &size);
  OK(tq_extend(queue, NULL, receipt, size, 60000, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  OK(tq_release(queue, NULL, receipt, size, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  OK(tq_complete(queue, NULL, receipt, size, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_LEASE_LOST);
  tq_result_free(taken);

  taken = take(queue, 1, 1);
  EXPECT(tq_result_int(taken, 0, "attempt") == 1);
  receipt = tq_result_bytes(taken, 0, "receipt", &size);
  tq_options* now = options_for(TQ_FOR_FAILURE);
  OK(tq_options_set_int(now, "delay_ms", 0, &error));
  OK(tq_fail(queue, NULL, receipt, size, "no such file", TQ_NUL, now, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  OK(tq_options_set_text(now, "error", "twice", TQ_NUL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_fail(queue, NULL, receipt, size, "", 0, now, &outcome, &error));
  tq_options_free(now);
  tq_result_free(taken);

  taken = take(queue, 1, 1);
  EXPECT(tq_result_int(taken, 0, "attempt") == 2);
  receipt = tq_result_bytes(taken, 0, "receipt", &size);
  OK(tq_complete(queue, NULL, receipt, size, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_complete(queue, NULL, receipt, size, NULL, &error));
  tq_result_free(taken);
  tq_queue_close(queue);
}

static void a_receipt_is_a_text_of_its_queue(const struct place* at) {
  tq_error* error = NULL;
  int outcome = 0;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  tq_queue* other = queue_of(at->db, "c_other_jobs", "claim");
  add(queue, "work");
  tq_result* taken = take(queue, 1, 1);
  char receipt[200];
  snprintf(receipt, sizeof receipt, "%s", tq_result_bytes(taken, 0, "receipt", NULL));
  EXPECT(strpbrk(receipt, " \t\n") == NULL);
  tq_result_free(taken);
  static const char* const wrong[] = {"", "1", "1.2", "1.2.x", "1.2.3.", "1.2.3.0g", " 1.2.3"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    REFUSED(TQ_ERROR_INVALID_ARGUMENT,
            tq_complete(queue, NULL, wrong[i], TQ_NUL, &outcome, &error));
  }
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_complete(other, NULL, receipt, TQ_NUL, &outcome, &error));
  OK(tq_complete(queue, NULL, receipt, TQ_NUL, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  tq_queue_close(queue);
  tq_queue_close(other);
}

static void batches_settle_in_one_call(const struct place* at) {
  tq_error* error = NULL;
  tq_batch* batch = NULL;
  tq_result* outcomes = NULL;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  OK(tq_batch_new(&batch, &error));
  for (int i = 0; i < 3; ++i) add(queue, "work");
  tq_result* taken = take(queue, 10, 3);
  OK(tq_batch_add_receipts(batch, taken, NULL, &error));
  OK(tq_extend_batch(queue, NULL, batch, 60000, &outcomes, &error));
  EXPECT(tq_result_count(outcomes) == 3);
  tq_result_free(outcomes);
  OK(tq_release_batch(queue, NULL, batch, &outcomes, &error));
  EXPECT(tq_result_int(outcomes, 2, "outcome") == TQ_OUTCOME_APPLIED);
  tq_result_free(outcomes);
  OK(tq_release_batch(queue, NULL, batch, &outcomes, &error));
  EXPECT(tq_result_int(outcomes, 2, "outcome") == TQ_OUTCOME_LEASE_LOST);
  tq_result_free(outcomes);
  tq_result_free(taken);

  taken = take(queue, 10, 3);
  tq_batch_clear(batch);
  size_t size = 0;
  const char* text = tq_result_bytes(taken, 1, "receipt", &size);
  OK(tq_batch_add(batch, text, size, NULL, &error));
  OK(tq_batch_add_receipts(batch, taken, NULL, &error));
  text = tq_result_bytes(taken, 2, "receipt", &size);
  OK(tq_batch_add(batch, text, size, NULL, &error));
  EXPECT(tq_batch_count(batch) == 5);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add(batch, "1.2", TQ_NUL, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enqueue_batch(queue, NULL, batch, NULL, NULL, &error));
  EXPECT(tq_batch_count(batch) == 5);
  OK(tq_release_batch(queue, NULL, batch, &outcomes, &error));
  EXPECT(tq_result_int(outcomes, 0, "outcome") == TQ_OUTCOME_APPLIED);
  EXPECT(tq_result_int(outcomes, 1, "outcome") == TQ_OUTCOME_APPLIED);
  EXPECT(tq_result_int(outcomes, 2, "outcome") == TQ_OUTCOME_LEASE_LOST);
  EXPECT(tq_result_int(outcomes, 3, "outcome") == TQ_OUTCOME_APPLIED);
  EXPECT(tq_result_int(outcomes, 4, "outcome") == TQ_OUTCOME_LEASE_LOST);
  tq_result_free(outcomes);
  tq_result_free(taken);

  taken = take(queue, 10, 3);
  tq_batch_clear(batch);
  OK(tq_batch_add(batch, "work", TQ_NUL, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add_receipts(batch, taken, NULL, &error));
  EXPECT(tq_batch_count(batch) == 1);
  tq_batch_clear(batch);
  tq_options* hopeless = options_for(TQ_FOR_FAILURE);
  OK(tq_options_set_bool(hopeless, "give_up", 1, &error));
  OK(tq_options_set_text(hopeless, "error", "not an image", TQ_NUL, &error));
  const char* receipt = tq_result_bytes(taken, 0, "receipt", &size);
  OK(tq_batch_add(batch, receipt, size, hopeless, &error));
  OK(tq_fail_batch(queue, NULL, batch, &outcomes, &error));
  EXPECT(tq_result_int(outcomes, 0, "outcome") == TQ_OUTCOME_APPLIED);
  tq_result_free(outcomes);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_complete_batch(queue, NULL, batch, &outcomes, &error));
  tq_batch_clear(batch);
  for (size_t i = 1; i < 3; ++i) {
    receipt = tq_result_bytes(taken, i, "receipt", &size);
    OK(tq_batch_add(batch, receipt, size, NULL, &error));
  }
  OK(tq_complete_batch(queue, NULL, batch, &outcomes, &error));
  EXPECT(tq_result_count(outcomes) == 2);
  tq_result_free(outcomes);
  tq_result_free(taken);
  tq_options_free(hopeless);
  tq_batch_free(batch);
  tq_queue_close(queue);
}

/// After batches_settle_in_one_call: one dead message.
static void dead_messages_are_listed_and_come_back(const struct place* at) {
  tq_error* error = NULL;
  tq_result* dead = NULL;
  tq_result* result = NULL;
  tq_batch* ids = NULL;
  int64_t count = 0;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  OK(tq_list(queue, "dead", 10, NULL, NULL, &dead, &error));
  EXPECT(tq_result_count(dead) == 1);
  EXPECT(same(dead, 0, "state", "dead"));
  EXPECT(tq_result_type(dead, 0, "finished_at") == TQ_TYPE_TIME);
  EXPECT(tq_result_type(dead, 0, "unread_headers") == TQ_TYPE_NULL);
  EXPECT(tq_result_int(dead, 0, "attempts") == 1);
  const tq_result* errors = tq_result_list(dead, 0, "errors");
  EXPECT(tq_result_count(errors) == 1);
  EXPECT(same(errors, 0, "error", "not an image"));
  EXPECT(tq_result_type(errors, 0, "at") == TQ_TYPE_TIME);
  OK(tq_list(queue, "dead", 10, dead, NULL, &result, &error));
  EXPECT(tq_result_count(result) == 0);
  tq_result_free(result);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_list(queue, "lost", 10, NULL, NULL, &result, &error));
  EXPECT(result == NULL);

  OK(tq_batch_new(&ids, &error));
  OK(tq_batch_add_id(ids, tq_result_int(dead, 0, "id"), 0, &error));
  OK(tq_redrive(queue, ids, &count, &error));
  EXPECT(count == 1);
  tq_result_free(dead);

  tq_result* taken = take(queue, 1, 1);
  tq_batch* batch = NULL;
  tq_options* hopeless = options_for(TQ_FOR_FAILURE);
  OK(tq_options_set_bool(hopeless, "give_up", 1, &error));
  OK(tq_batch_new(&batch, &error));
  OK(tq_batch_add_receipts(batch, taken, hopeless, &error));
  OK(tq_fail_batch(queue, NULL, batch, &result, &error));
  tq_result_free(result);
  tq_result_free(taken);
  tq_options* some = options_for(TQ_FOR_REDRIVE);
  OK(tq_options_set_int(some, "max", 5, &error));
  OK(tq_options_set_double(some, "per_second", 1000, &error));
  OK(tq_options_set_stop(some, NULL, &error));
  OK(tq_redrive_all(queue, some, &result, &error));
  EXPECT(tq_result_int(result, 0, "count") == 1);
  EXPECT(tq_result_int(result, 0, "key_held") == 0);
  tq_result_free(result);

  taken = take(queue, 1, 1);
  tq_batch_clear(batch);
  OK(tq_batch_add_receipts(batch, taken, hopeless, &error));
  OK(tq_fail_batch(queue, NULL, batch, &result, &error));
  tq_result_free(result);
  tq_result_free(taken);
  tq_options* old = options_for(TQ_FOR_PURGE);
  OK(tq_options_set_int(old, "older_than_ms", 0, &error));
  OK(tq_options_set_int(old, "batch", 100, &error));
  OK(tq_purge(queue, "dead", old, &count, &error));
  EXPECT(count == 1);
  tq_options_free(old);
  tq_options_free(some);
  tq_options_free(hopeless);
  tq_batch_free(batch);
  tq_batch_free(ids);
  tq_queue_close(queue);
}

static void waiting_messages_are_found_and_changed(const struct place* at) {
  tq_error* error = NULL;
  tq_result* found = NULL;
  tq_batch* batch = NULL;
  int64_t first = 0;
  int64_t second = 0;
  int outcome = 7;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  tq_options* keyed = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_text(keyed, "key", "dog", TQ_NUL, &error));
  OK(tq_enqueue(queue, NULL, "dog.jpg", TQ_NUL, keyed, &first, NULL, &error));
  OK(tq_enqueue(queue, NULL, "sea.jpg", TQ_NUL, NULL, &second, NULL, &error));
  OK(tq_find(queue, NULL, "dog", TQ_NUL, NULL, &found, &error));
  EXPECT(tq_result_int(found, 0, "id") == first);
  tq_result_free(found);
  OK(tq_find(queue, NULL, "cow", TQ_NUL, NULL, &found, &error));
  EXPECT(tq_result_count(found) == 0);
  tq_result_free(found);
  OK(tq_get(queue, NULL, second, NULL, &found, &error));
  EXPECT(same(found, 0, "payload", "sea.jpg") && same(found, 0, "state", "ready"));
  tq_result_free(found);

  OK(tq_set_priority(queue, NULL, second, 3, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  OK(tq_batch_new(&batch, &error));
  OK(tq_batch_add_id(batch, first, 4, &error));
  OK(tq_batch_add_id(batch, second + 1000, 4, &error));
  OK(tq_set_priority_batch(queue, NULL, batch, &found, &error));
  EXPECT(tq_result_int(found, 0, "outcome") == TQ_OUTCOME_APPLIED);
  EXPECT(tq_result_int(found, 1, "outcome") == TQ_OUTCOME_NOT_THERE);
  tq_result_free(found);
  OK(tq_get_batch(queue, NULL, batch, NULL, &found, &error));
  EXPECT(tq_result_count(found) == 2);
  EXPECT(tq_result_int(found, 0, "priority") == 4);
  EXPECT(tq_result_type(found, 1, "id") == TQ_TYPE_NULL);
  EXPECT(tq_result_type(found, 1, "headers") == TQ_TYPE_NULL);
  tq_result_free(found);
  OK(tq_peek(queue, 10, &found, &error));
  EXPECT(tq_result_count(found) == 2 && same(found, 0, "payload", "dog.jpg"));
  tq_result_free(found);

  tq_result* stats = NULL;
  OK(tq_queue_stats(queue, NULL, &stats, &error));
  EXPECT(tq_result_int(stats, 0, "ready") == 2);
  EXPECT(tq_result_int(stats, 0, "leased") == 0);
  EXPECT(tq_result_type(stats, 0, "dead_letters") == TQ_TYPE_NULL);
  EXPECT(tq_result_type(stats, 0, "dead_letters_at_least") == TQ_TYPE_BOOL);
  tq_result_free(stats);
  OK(tq_queue_settings(queue, &found, &error));
  EXPECT(tq_result_int(found, 0, "lease_ms") == 30000);
  EXPECT(tq_result_int(found, 0, "max_attempts") == 5);
  EXPECT(tq_result_type(found, 0, "words") == TQ_TYPE_NULL);
  tq_result_free(found);

  OK(tq_cancel(queue, NULL, first, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  tq_batch_clear(batch);
  OK(tq_batch_add_id(batch, first, 0, &error));
  OK(tq_batch_add_id(batch, second, 0, &error));
  OK(tq_cancel_batch(queue, NULL, batch, &found, &error));
  EXPECT(tq_result_int(found, 0, "outcome") == TQ_OUTCOME_NOT_THERE);
  EXPECT(tq_result_int(found, 1, "outcome") == TQ_OUTCOME_APPLIED);
  tq_result_free(found);
  tq_batch_free(batch);
  tq_options_free(keyed);
  tq_queue_close(queue);
}

/// One row of an action by filter.
static void expect_done(tq_result* done, int64_t count) {
  EXPECT(tq_result_count(done) == 1);
  EXPECT(tq_result_int(done, 0, "count") == count);
  EXPECT(tq_result_int(done, 0, "running") == 0);
  EXPECT(tq_result_int(done, 0, "changed") == 0);
  EXPECT(tq_result_int(done, 0, "key_held") == 0);
  EXPECT(tq_result_type(done, 0, "stopped_at") == TQ_TYPE_NULL);
  tq_result_free(done);
}

static void messages_are_listed_and_changed_by_a_filter(const struct place* at) {
  tq_error* error = NULL;
  tq_result* done = NULL;
  tq_result* next = NULL;
  int outcome = 7;
  int64_t first = 0;
  tq_queue* queue = queue_of(at->db, "c_filtered", "claim");
  tq_options* later = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_int(later, "delay_ms", 3600000, &error));
  OK(tq_options_set_header(later, "tenant", TQ_NUL, "a", TQ_NUL, &error));
  OK(tq_enqueue(queue, NULL, "p0", TQ_NUL, later, &first, NULL, &error));
  for (int i = 1; i < 5; ++i) OK(tq_enqueue(queue, NULL, "p", TQ_NUL, later, NULL, NULL, &error));
  add(queue, "other");
  tq_options* filter = options_for(TQ_FOR_FILTER);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_cancel_by(queue, filter, &done, &error));
  OK(tq_options_set_header(filter, "tenant", TQ_NUL, "a", TQ_NUL, &error));
  OK(tq_options_set_int(filter, "max", 3, &error));
  OK(tq_list_by(queue, filter, &done, &next, &error));
  EXPECT(tq_result_count(done) == 3 && tq_result_count(next) == 1);
  EXPECT(same(done, 0, "payload", "p0"));
  tq_result_free(done);
  size_t size = 0;
  const char* place = tq_result_bytes(next, 0, "place", &size);
  OK(tq_options_set_text(filter, "after", place, size, &error));
  tq_result_free(next);
  OK(tq_list_by(queue, filter, &done, &next, &error));
  EXPECT(tq_result_count(done) == 2 && tq_result_count(next) == 0);
  tq_result_free(done);
  tq_result_free(next);
  OK(tq_options_set_text(filter, "after", "nowhere", TQ_NUL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_make_ready_by(queue, filter, &done, &error));
  tq_options_free(filter);

  OK(tq_make_ready(queue, NULL, first, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  tq_batch* batch = NULL;
  OK(tq_batch_new(&batch, &error));
  OK(tq_batch_add_id(batch, first, 0, &error));
  OK(tq_batch_add_id(batch, first + 1000, 0, &error));
  OK(tq_make_ready_batch(queue, NULL, batch, &done, &error));
  EXPECT(tq_result_int(done, 0, "outcome") == TQ_OUTCOME_APPLIED);
  EXPECT(tq_result_int(done, 1, "outcome") == TQ_OUTCOME_NOT_THERE);
  tq_result_free(done);
  tq_batch_free(batch);

  filter = options_for(TQ_FOR_FILTER);
  OK(tq_options_set_bool(filter, "all", 1, &error));
  OK(tq_make_ready_by(queue, filter, &done, &error));
  expect_done(done, 4);
  OK(tq_set_priority_by(queue, 3, filter, &done, &error));
  expect_done(done, 6);
  OK(tq_redrive_by(queue, filter, &done, &error));
  expect_done(done, 0);
  OK(tq_purge_by(queue, filter, &done, &error));
  expect_done(done, 0);
  OK(tq_cancel_by(queue, filter, &done, &error));
  expect_done(done, 6);
  tq_options_free(filter);
  tq_options_free(later);
  tq_queue_close(queue);
}

static void progress_and_results_are_kept_and_shown(const struct place* at) {
  tq_error* error = NULL;
  int64_t id = 0;
  int outcome = 0;
  size_t size = 0;
  tq_queue* queue = NULL;
  tq_options* keeps = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_bool(keeps, "keep_completed", 1, &error));
  OK(tq_queue_open(at->db, "c_kept", TQ_NUL, "claim", keeps, &queue, &error));
  tq_options_free(keeps);
  OK(tq_enqueue(queue, NULL, "work", TQ_NUL, NULL, &id, NULL, &error));
  tq_result* taken = take(queue, 1, 1);
  const char* receipt = tq_result_bytes(taken, 0, "receipt", &size);
  OK(tq_progress(queue, receipt, size, 0.5, "half", TQ_NUL, &error));
  OK(tq_extend(queue, NULL, receipt, size, 60000, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);

  tq_result* found = NULL;
  tq_options* look = options_for(TQ_FOR_LOOK);
  OK(tq_options_set_text(look, "detail", "outline", TQ_NUL, &error));
  OK(tq_options_set_bool(look, "progress", 1, &error));
  OK(tq_options_set_bool(look, "result", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_text(look, "detail", "some", TQ_NUL, &error));
  OK(tq_get(queue, NULL, id, look, &found, &error));
  EXPECT(same(found, 0, "payload", ""));
  EXPECT(tq_result_double(found, 0, "progress") == 0.5);
  EXPECT(same(found, 0, "progress_note", "half"));
  EXPECT(tq_result_type(found, 0, "progress_at") == TQ_TYPE_TIME);
  EXPECT(tq_result_type(found, 0, "result") == TQ_TYPE_NULL);
  tq_result_free(found);
  OK(tq_wait_for(queue, id, NULL, &found, &error));
  EXPECT(tq_result_int(found, 0, "ending") == TQ_ENDING_WAITING);
  EXPECT(same(found, 0, "state", "leased"));
  EXPECT(tq_result_type(found, 0, "error") == TQ_TYPE_NULL);
  tq_result_free(found);

  OK(tq_complete_with_result(queue, NULL, receipt, size, "42", 2, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  OK(tq_complete_with_result(queue, NULL, receipt, size, "43", 2, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_LEASE_LOST);
  OK(tq_list(queue, "done", 10, NULL, look, &found, &error));
  EXPECT(same(found, 0, "result", "42"));
  EXPECT(tq_result_type(found, 0, "progress") == TQ_TYPE_NULL);
  tq_result_free(found);
  tq_options* how = options_for(TQ_FOR_READ);
  OK(tq_options_set_int(how, "wait_ms", 60000, &error));
  OK(tq_wait_for(queue, id, how, &found, &error));
  EXPECT(tq_result_int(found, 0, "ending") == TQ_ENDING_DONE);
  EXPECT(same(found, 0, "result", "42"));
  tq_result_free(found);
  OK(tq_wait_for(queue, id + 1000, how, &found, &error));
  EXPECT(tq_result_int(found, 0, "ending") == TQ_ENDING_GONE);
  EXPECT(tq_result_type(found, 0, "state") == TQ_TYPE_NULL);
  tq_result_free(found);

  tq_queue* plain = queue_of(at->db, "c_jobs", "claim");
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_complete_with_result(plain, NULL, receipt, size, "42", 2, &outcome, &error));
  tq_queue_close(plain);
  tq_options_free(how);
  tq_options_free(look);
  tq_result_free(taken);
  tq_queue_close(queue);
}

static void groups_that_wait_are_counted(const struct place* at) {
  tq_error* error = NULL;
  tq_result* found = NULL;
  tq_queue* queue = NULL;
  tq_options* grouped = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_bool(grouped, "groups", 1, &error));
  OK(tq_queue_open(at->db, "c_grouped", TQ_NUL, "claim", grouped, &queue, &error));
  tq_options_free(grouped);
  tq_options* message = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_text(message, "group", "ann", TQ_NUL, &error));
  OK(tq_enqueue(queue, NULL, "1", TQ_NUL, message, NULL, NULL, &error));
  OK(tq_enqueue(queue, NULL, "2", TQ_NUL, message, NULL, NULL, &error));
  tq_options_free(message);
  OK(tq_groups(queue, 10, &found, &error));
  EXPECT(tq_result_count(found) == 1);
  EXPECT(same(found, 0, "group", "ann"));
  EXPECT(tq_result_int(found, 0, "waiting") == 2);
  EXPECT(tq_result_type(found, 0, "oldest") == TQ_TYPE_TIME);
  tq_result_free(found);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_groups(queue, 0, &found, &error));
  tq_queue_close(queue);
}

void run_claim_tests(const struct place* at) {
  a_delivery_has_all_that_was_added(at);
  each_settlement_has_its_effect_once(at);
  a_receipt_is_a_text_of_its_queue(at);
  batches_settle_in_one_call(at);
  dead_messages_are_listed_and_come_back(at);
  waiting_messages_are_found_and_changed(at);
  messages_are_listed_and_changed_by_a_filter(at);
  progress_and_results_are_kept_and_shown(at);
  groups_that_wait_are_counted(at);
}
