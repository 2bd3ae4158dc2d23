#include "check.h"

static void a_settlement_has_one_error_and_a_place_for_its_outcome(const struct place* at) {
  tq_error* error = NULL;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  int outcome = 7;
  size_t size = 0;
  add(queue, "work");
  tq_result* taken = take(queue, 1, 1);
  const char* receipt = tq_result_bytes(taken, 0, "receipt", &size);
  tq_options* twice = options_for(TQ_FOR_FAILURE);
  OK(tq_options_set_text(twice, "error", "twice", TQ_NUL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_fail(queue, NULL, receipt, size, "", 0, twice, &outcome, &error));
  tq_options_free(twice);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_complete(queue, NULL, receipt, size, NULL, &error));
  OK(tq_complete(queue, NULL, receipt, size, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  OK(tq_complete(queue, NULL, receipt, size, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_LEASE_LOST);
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

static void a_batch_has_an_outcome_for_each_of_its_items(const struct place* at) {
  tq_error* error = NULL;
  tq_batch* batch = NULL;
  tq_result* outcomes = NULL;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  OK(tq_batch_new(&batch, &error));
  for (int i = 0; i < 3; ++i) add(queue, "work");
  tq_result* taken = take(queue, 10, 3);
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
  tq_result_free(taken);
  tq_options_free(hopeless);
  tq_batch_free(batch);
  tq_queue_close(queue);
}

static void a_page_follows_a_page_alone(const struct place* at) {
  tq_error* error = NULL;
  tq_batch* ids = NULL;
  tq_result* found = NULL;
  tq_result* page = NULL;
  tq_queue* queue = queue_of(at->db, "c_jobs", "claim");
  OK(tq_batch_new(&ids, &error));
  OK(tq_batch_add_id(ids, 987654321, 0, &error));
  OK(tq_get_batch(queue, NULL, ids, NULL, &found, &error));
  EXPECT(tq_result_type(found, 0, "id") == TQ_TYPE_NULL);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_list(queue, "ready", 10, found, NULL, &page, &error));
  EXPECT(page == NULL);
  tq_result_free(found);
  tq_batch_free(ids);
  tq_queue_close(queue);
}

void run_claim_tests(const struct place* at) {
  a_settlement_has_one_error_and_a_place_for_its_outcome(at);
  a_receipt_is_a_text_of_its_queue(at);
  a_batch_has_an_outcome_for_each_of_its_items(at);
  a_page_follows_a_page_alone(at);
}
