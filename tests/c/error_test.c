#include "check.h"

static void an_error_tells_what_a_program_decides_by(void) {
  tq_error* error = NULL;
  tq_database* db = (tq_database*)&error;
  EXPECT(tq_database_open("nosuch://x", TQ_NUL, NULL, &db, &error) == TQ_ERROR_INVALID_ARGUMENT);
  EXPECT(db == NULL);
  EXPECT(tq_error_code(error) == TQ_ERROR_INVALID_ARGUMENT);
  EXPECT(tq_error_advice(error) == TQ_ADVICE_NEVER);
  EXPECT(tq_error_retryable(error) == 0);
  EXPECT(strstr(tq_error_message(error), "sqlite") != NULL);
  EXPECT(strcmp(tq_error_operation(error), "connect") == 0);
  EXPECT(strcmp(tq_error_backend(error), "") == 0);
  EXPECT(strcmp(tq_error_sqlstate(error), "") == 0);
  EXPECT(tq_error_native(error) == 0);
  tq_error_free(error);
}

static void a_success_clears_the_error_of_the_caller(const struct place* at) {
  tq_error* error = (tq_error*)(void*)&at;
  tq_result* queues = NULL;
  OK(tq_database_queues(at->db, &queues, &error));
  tq_result_free(queues);
}

static void nobody_has_to_take_the_error(void) {
  tq_database* db = NULL;
  EXPECT(tq_database_open("nosuch://x", TQ_NUL, NULL, &db, NULL) == TQ_ERROR_INVALID_ARGUMENT);
}

static void no_error_is_ok(void) {
  EXPECT(tq_error_code(NULL) == TQ_OK);
  EXPECT(tq_error_retryable(NULL) == 0);
  EXPECT(strcmp(tq_error_message(NULL), "") == 0);
  tq_error_free(NULL);
}

static void codes_have_names(void) {
  EXPECT(strcmp(tq_code_name(TQ_OK), "ok") == 0);
  EXPECT(strcmp(tq_code_name(TQ_ERROR_INVALID_ARGUMENT), "invalid_argument") == 0);
  EXPECT(strcmp(tq_code_name(TQ_ERROR_OUTCOME_UNKNOWN), "outcome_unknown") == 0);
  EXPECT(strcmp(tq_code_name(TQ_ERROR_INTERNAL), "internal") == 0);
  EXPECT(strcmp(tq_code_name(TQ_ERROR_NO_MEMORY), "no_memory") == 0);
  EXPECT(strcmp(tq_code_name(99), "unknown") == 0);
  EXPECT(strcmp(tq_advice_name(TQ_ADVICE_TRANSACTION), "transaction") == 0);
  EXPECT(strcmp(tq_advice_name(TQ_ADVICE_SESSION), "session") == 0);
  EXPECT(strcmp(tq_outcome_name(TQ_OUTCOME_LEASE_LOST), "lease_lost") == 0);
  EXPECT(strcmp(tq_outcome_name(TQ_OUTCOME_POSTPONED), "postponed") == 0);
  EXPECT(strcmp(tq_outcome_name(99), "unknown") == 0);
  EXPECT(strcmp(tq_ending_name(TQ_ENDING_GONE), "gone") == 0);
  EXPECT(strcmp(tq_ending_name(-1), "unknown") == 0);
  EXPECT(strchr(tq_version(), '.') != NULL);
}

static void null_and_foreign_handles_are_refused(const struct place* at) {
  tq_error* error = NULL;
  tq_result* result = NULL;
  tq_options* options = options_for(TQ_FOR_OPEN);
  int outcome = 7;
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_database_queues(NULL, &result, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_database_queues(at->db, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_database_queues((tq_database*)(void*)options, &result, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_complete(NULL, NULL, "1.2.3", 5, &outcome, &error));
  EXPECT(outcome == 0);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_int(NULL, "max_sessions", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_queue_open(at->db, NULL, 3, "fifo", NULL, (tq_queue**)(void*)&result, &error));
  EXPECT(tq_result_count(NULL) == 0);
  EXPECT(tq_result_field_name(NULL, 0) == NULL);
  EXPECT(tq_result_type(NULL, 0, "id") == TQ_TYPE_NONE);
  EXPECT(tq_batch_count(NULL) == 0);
  EXPECT(tq_watch_descriptor(NULL) == -1);
  EXPECT(tq_keeper_descriptor(NULL) == -1);
  EXPECT(tq_keeper_count(NULL) == 0);
  EXPECT(tq_transaction_active(NULL) == 0);
  EXPECT(tq_stop_requested(NULL) == 0);
  EXPECT(strcmp(tq_database_backend(NULL), "") == 0);
  EXPECT(strcmp(tq_queue_name(NULL), "") == 0);
  EXPECT(strcmp(tq_queue_kind(NULL), "") == 0);
  tq_options_free(options);
}

static void the_end_of_nothing_is_nothing(void) {
  tq_options_free(NULL);
  tq_clock_free(NULL);
  tq_clock_set(NULL, 0);
  tq_stop_free(NULL);
  tq_stop_request(NULL);
  tq_result_free(NULL);
  tq_batch_free(NULL);
  tq_batch_clear(NULL);
  tq_database_close(NULL);
  tq_transaction_free(NULL);
  tq_queue_close(NULL);
  tq_watch_free(NULL);
  tq_watch_remove(NULL, 1);
  tq_keeper_free(NULL);
}

// In other builds this is what happens as long as nothing else has the memory.
#if defined(TABLEQ_C_CHECKS)
static void freed_handles_are_refused_and_freed_once(const struct place* at) {
  tq_error* error = NULL;
  tq_database* db = NULL;
  tq_queue* queue = NULL;
  tq_transaction* tx = NULL;
  tq_result* result = NULL;
  tq_stop* stop = NULL;
  tq_batch* batch = NULL;
  tq_watch* watch = NULL;
  tq_keeper* keeper = NULL;
  int64_t number = 0;
  tq_options* options = options_for(TQ_FOR_READ);
  OK(tq_database_outside(at->db, &db, &error));
  OK(tq_queue_open(db, "c_freed", TQ_NUL, "claim", NULL, &queue, &error));
  OK(tq_stop_new(&stop, &error));
  OK(tq_batch_new(&batch, &error));
  OK(tq_watch_new(&watch, &error));
  OK(tq_watch_add(watch, queue, 1, &error));
  OK(tq_keeper_new(db, &keeper, &error));
  OK(tq_peek(queue, 1, &result, &error));
  OK(tq_transaction_begin(db, &tx, &error));
  for (int twice = 0; twice < 2; ++twice) {
    tq_transaction_free(tx);
    tq_result_free(result);
    tq_keeper_free(keeper);
    tq_watch_free(watch);
    tq_batch_free(batch);
    tq_stop_free(stop);
    tq_options_free(options);
    tq_queue_close(queue);
    tq_database_close(db);
  }
  tq_result* none = NULL;
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_database_queues(db, &none, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_take(queue, NULL, 1, NULL, &none, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_transaction_commit(tx, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_batch_add(batch, "x", 1, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_int(options, "wait_ms", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_watch_done(watch, 1, 0, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_keeper_lost(keeper, &none, &error));
  tq_stop_request(stop);
  EXPECT(tq_stop_requested(stop) == 0);
  EXPECT(tq_result_count(result) == 0);
  EXPECT(tq_watch_descriptor(watch) == -1);
  EXPECT(tq_watch_next(watch, &number) == 0);
  EXPECT(tq_keeper_count(keeper) == 0);
  EXPECT(tq_transaction_active(tx) == 0);
  EXPECT(strcmp(tq_queue_name(queue), "") == 0);
  // A living call with a freed part.
  tq_queue* other = queue_of(at->db, "c_freed", "claim");
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_take(other, NULL, 1, options, &none, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_take(other, tx, 1, NULL, &none, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_list(other, "dead", 1, result, NULL, &none, &error));
  tq_queue_close(other);
}
#endif

void run_error_tests(const struct place* at) {
  an_error_tells_what_a_program_decides_by();
  a_success_clears_the_error_of_the_caller(at);
  nobody_has_to_take_the_error();
  no_error_is_ok();
  codes_have_names();
  null_and_foreign_handles_are_refused(at);
  the_end_of_nothing_is_nothing();
#if defined(TABLEQ_C_CHECKS)
  freed_handles_are_refused_and_freed_once(at);
#endif
}
