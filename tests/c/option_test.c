#include "check.h"

static void an_unknown_key_is_refused_with_the_known_ones(void) {
  tq_error* error = NULL;
  tq_options* options = options_for(TQ_FOR_READ);
  EXPECT(tq_options_set_int(options, "wait", 5, &error) == TQ_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(tq_error_message(error), "wait_ms") != NULL);
  tq_error_free(error);
  tq_options_free(options);
}

static void a_value_of_another_type_is_refused(void) {
  tq_error* error = NULL;
  tq_options* options = options_for(TQ_FOR_QUEUE);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_text(options, "lease_ms", "5", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_int(options, "keep_completed", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_int(options, "retry_ms", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_add_int(options, "lease_ms", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_null(options, "lease_ms", 0, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_options_set_int(options, "max_attempts", INT64_MAX, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_options_set_text(options, "keys", "sometimes", TQ_NUL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_header(options, "a", 1, "b", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_stop(options, NULL, &error));
  OK(tq_options_set_null(options, "time_to_live_ms", 0, &error));
  tq_options_free(options);
}

static void a_refused_value_leaves_the_options_as_they_are(const struct place* at) {
  tq_error* error = NULL;
  tq_queue* queue = NULL;
  tq_options* options = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_int(options, "max_attempts", 7, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_options_set_int(options, "max_attempts", INT64_MAX, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_options_set_text(options, "keys", "sometimes", TQ_NUL, &error));
  OK(tq_queue_open(at->db, "c_refused", TQ_NUL, "claim", options, &queue, &error));
  tq_options_free(options);
  tq_queue_close(queue);
  EXPECT(tq_database_drop(at->db, "c_refused", TQ_NUL, NULL, &error) == TQ_OK);
}

static void options_of_groups_contradict_none(const struct place* at) {
  tq_error* error = NULL;
  tq_queue* queue = NULL;
  tq_options* options = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_int(options, "group_limit", 2, &error));
  OK(tq_options_set_bool(options, "groups", 0, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_queue_open(at->db, "c_groups", TQ_NUL, "claim", options, &queue, &error));
  OK(tq_options_set_bool(options, "groups", 1, &error));
  OK(tq_queue_open(at->db, "c_groups", TQ_NUL, "claim", options, &queue, &error));
  tq_options_free(options);
  tq_queue_close(queue);
  OK(tq_database_drop(at->db, "c_groups", TQ_NUL, NULL, &error));
}

static void options_of_another_purpose_are_refused(const struct place* at) {
  tq_error* error = NULL;
  tq_queue* queue = NULL;
  tq_options* options = options_for(TQ_FOR_READ);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_queue_open(at->db, "c_other", TQ_NUL, "claim", options, &queue, &error));
  tq_options_free(options);
  options = (tq_options*)(void*)&error;
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_new(9999, &options, &error));
  EXPECT(options == NULL);
}

static void each_purpose_takes_each_of_its_keys(void) {
  tq_error* error = NULL;
  tq_options* open = options_for(TQ_FOR_OPEN);
  OK(tq_options_set_text(open, "schema", "verify_only", TQ_NUL, &error));
  OK(tq_options_set_text(open, "table_prefix", "p_", TQ_NUL, &error));
  OK(tq_options_set_text(open, "schema_name", "s", TQ_NUL, &error));
  OK(tq_options_set_text(open, "notifications", "send_only", TQ_NUL, &error));
  OK(tq_options_set_int(open, "max_sessions", 4, &error));
  OK(tq_options_set_int(open, "session_timeout_ms", 1000, &error));
  OK(tq_options_set_int(open, "retry_for_ms", 1000, &error));
  OK(tq_options_set_int(open, "max_payload", 1000, &error));
  OK(tq_options_set_int(open, "poll_interval_ms", 1000, &error));
  OK(tq_options_set_bool(open, "refuses_beside_begin", 0, &error));
  OK(tq_options_set_bool(open, "combining", 1, &error));
  OK(tq_options_set_bool(open, "spinning", 1, &error));
  OK(tq_options_set_bool(open, "floors", 1, &error));
  OK(tq_options_set_bool(open, "writers_line", 1, &error));
  OK(tq_options_set_bool(open, "metrics", 1, &error));
  tq_options_free(open);

  tq_options* queue = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_text(queue, "ordering", "strict", TQ_NUL, &error));
  OK(tq_options_set_text(queue, "retry", "usual", TQ_NUL, &error));
  OK(tq_options_set_text(queue, "retry", "none", TQ_NUL, &error));
  OK(tq_options_add_int(queue, "retry_ms", 1000, &error));
  OK(tq_options_add_int(queue, "retry_ms", 2000, &error));
  OK(tq_options_set_int(queue, "retry_jitter", 10, &error));
  OK(tq_options_set_text(queue, "keys", "waiting", TQ_NUL, &error));
  OK(tq_options_set_int(queue, "key_window_ms", 0, &error));
  OK(tq_options_set_bool(queue, "groups", 1, &error));
  OK(tq_options_set_int(queue, "group_limit", 2, &error));
  OK(tq_options_set_text(queue, "group_on_failure", "pass", TQ_NUL, &error));
  OK(tq_options_set_bool(queue, "group_by_turns", 1, &error));
  tq_options_free(queue);

  tq_options* migrate = options_for(TQ_FOR_MIGRATE);
  OK(tq_options_add_text(migrate, "queues", "a", TQ_NUL, &error));
  OK(tq_options_add_text(migrate, "queues", "b", TQ_NUL, &error));
  OK(tq_options_set_int(migrate, "to", 1, &error));
  OK(tq_options_set_int(migrate, "wait_ms", 1, &error));
  OK(tq_options_set_bool(migrate, "dry_run", 1, &error));
  tq_options_free(migrate);
}

static void a_null_replaces_an_earlier_value(const struct place* at) {
  tq_error* error = NULL;
  tq_queue* queue = NULL;
  tq_result* found = NULL;
  tq_options* options = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_int(options, "retain_done_ms", 5000, &error));
  OK(tq_options_set_null(options, "retain_done_ms", 0, &error));
  OK(tq_options_set_int(options, "retain_dead_ms", 6000, &error));
  OK(tq_queue_open(at->db, "c_retains", TQ_NUL, "claim", options, &queue, &error));
  tq_options_free(options);
  OK(tq_database_find(at->db, "c_retains", TQ_NUL, &found, &error));
  EXPECT(tq_result_type(found, 0, "retain_done_ms") == TQ_TYPE_NULL);
  EXPECT(tq_result_int(found, 0, "retain_dead_ms") == 6000);
  tq_result_free(found);
  tq_queue_close(queue);
  OK(tq_database_drop(at->db, "c_retains", TQ_NUL, NULL, &error));
}

static void a_set_clock_decides_what_is_due(const struct place* at) {
  tq_error* error = NULL;
  tq_clock* clock = NULL;
  tq_database* db = NULL;
  tq_queue* queue = NULL;
  tq_result* taken = NULL;
  const int64_t start = INT64_C(1767225600000);
  OK(tq_clock_new(start, &clock, &error));
  tq_options* open = options_for(TQ_FOR_OPEN);
  OK(tq_options_set_clock(open, clock, &error));
  OK(tq_database_open(at->url, TQ_NUL, open, &db, &error));
  tq_options_free(open);
  OK(tq_queue_open(db, "c_clock", TQ_NUL, "claim", NULL, &queue, &error));
  tq_options* later = options_for(TQ_FOR_MESSAGE);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_options_set_clock(later, clock, &error));
  OK(tq_options_set_int(later, "delay_ms", 3600000, &error));
  OK(tq_enqueue(queue, NULL, "x", 1, later, NULL, NULL, &error));
  tq_options_free(later);
  OK(tq_take(queue, NULL, 1, NULL, &taken, &error));
  EXPECT(tq_result_count(taken) == 0);
  tq_result_free(taken);
  tq_clock_set(clock, start + 3600000);
  tq_clock_free(clock);
  OK(tq_take(queue, NULL, 1, NULL, &taken, &error));
  EXPECT(tq_result_count(taken) == 1);
  EXPECT(tq_result_int(taken, 0, "created_at") == start);
  tq_result_free(taken);
  tq_queue_close(queue);
  EXPECT(tq_database_drop(db, "c_clock", TQ_NUL, NULL, &error) == TQ_OK);
  tq_database_close(db);
}

void run_option_tests(const struct place* at) {
  an_unknown_key_is_refused_with_the_known_ones();
  a_value_of_another_type_is_refused();
  a_refused_value_leaves_the_options_as_they_are(at);
  options_of_groups_contradict_none(at);
  options_of_another_purpose_are_refused(at);
  each_purpose_takes_each_of_its_keys();
  a_null_replaces_an_earlier_value(at);
  a_set_clock_decides_what_is_due(at);
}
