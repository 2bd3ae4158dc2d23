#include "check.h"

static void queues_are_listed_found_and_dropped(const struct place* at) {
  tq_error* error = NULL;
  tq_result* found = NULL;
  int existed = 0;
  tq_options* options = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_int(options, "lease_ms", 7000, &error));
  OK(tq_options_set_int(options, "max_attempts", 3, &error));
  OK(tq_options_set_bool(options, "keep_completed", 1, &error));
  OK(tq_options_add_int(options, "retry_ms", 100, &error));
  OK(tq_options_add_int(options, "retry_ms", 200, &error));
  OK(tq_options_set_int(options, "group_limit", 4, &error));
  OK(tq_options_set_text(options, "dead_letters", "c_letters", TQ_NUL, &error));
  tq_queue* queue = NULL;
  OK(tq_queue_open(at->db, "c_found", TQ_NUL, "claim", options, &queue, &error));
  tq_queue_close(queue);
  tq_options_free(options);

  OK(tq_database_find(at->db, "c_found", TQ_NUL, &found, &error));
  EXPECT(tq_result_count(found) == 1);
  EXPECT(same(found, 0, "name", "c_found"));
  EXPECT(same(found, 0, "kind", "claim"));
  EXPECT(tq_result_int(found, 0, "layout") > 0);
  EXPECT(tq_result_int(found, 0, "identity") != 0);
  EXPECT(tq_result_int(found, 0, "lease_ms") == 7000);
  EXPECT(tq_result_int(found, 0, "max_attempts") == 3);
  EXPECT(tq_result_type(found, 0, "keep_completed") == TQ_TYPE_BOOL);
  EXPECT(tq_result_int(found, 0, "keep_completed") == 1);
  const tq_result* delays = tq_result_list(found, 0, "retry_ms");
  EXPECT(tq_result_count(delays) == 2);
  EXPECT(tq_result_int(delays, 1, "ms") == 200);
  tq_result_free((tq_result*)(void*)delays);  // Nothing: the outer result owns it.
  EXPECT(tq_result_int(delays, 0, "ms") == 100);
  EXPECT(tq_result_type(found, 0, "time_to_live_ms") == TQ_TYPE_NULL);
  EXPECT(same(found, 0, "keys", "active"));
  EXPECT(tq_result_int(found, 0, "group_limit") == 4);
  EXPECT(same(found, 0, "group_on_failure", "hold"));
  EXPECT(tq_result_int(found, 0, "group_by_turns") == 0);
  EXPECT(same(found, 0, "dead_letters", "c_letters"));
  EXPECT(tq_result_type(found, 0, "definition") == TQ_TYPE_NULL);
  EXPECT(tq_result_type(found, 0, "no_such_field") == TQ_TYPE_NONE);
  EXPECT(tq_result_type(found, 1, "name") == TQ_TYPE_NONE);
  EXPECT(tq_result_type(found, 0, "created_at") == TQ_TYPE_TIME);
  int named = 0;
  for (size_t i = 0; i < tq_result_field_count(found); ++i) {
    named += strcmp(tq_result_field_name(found, i), "max_attempts") == 0;
  }
  EXPECT(named == 1);
  EXPECT(tq_result_field_name(found, tq_result_field_count(found)) == NULL);
  tq_result_free(found);

  OK(tq_database_queues(at->db, &found, &error));
  EXPECT(tq_result_count(found) >= 2);
  tq_result_free(found);
  OK(tq_database_drop(at->db, "c_found", TQ_NUL, &existed, &error));
  EXPECT(existed == 1);
  OK(tq_database_drop(at->db, "c_found", TQ_NUL, &existed, &error));
  EXPECT(existed == 0);
  OK(tq_database_find(at->db, "c_found", TQ_NUL, &found, &error));
  EXPECT(tq_result_count(found) == 0);
  tq_result_free(found);
}

static void a_queue_is_used_after_its_database_is_closed(const struct place* at) {
  tq_error* error = NULL;
  tq_database* db = NULL;
  OK(tq_database_outside(at->db, &db, &error));
  EXPECT(strcmp(tq_database_backend(db), tq_database_backend(at->db)) == 0);
  tq_queue* queue = queue_of(db, "c_kept_open", "heap");
  tq_database_close(db);
  add(queue, "still there");
  tq_queue_close(queue);
}

static void metrics_count_what_is_done(const struct place* at) {
  tq_error* error = NULL;
  tq_result* text = NULL;
  tq_database* db = NULL;
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_database_metrics(at->db, "json", &text, &error));
  tq_options* options = options_for(TQ_FOR_OPEN);
  OK(tq_options_set_bool(options, "metrics", 1, &error));
  OK(tq_database_open("sqlite://:memory:", TQ_NUL, options, &db, &error));
  tq_queue* queue = queue_of(db, "counted", "fifo");
  add(queue, "one");
  OK(tq_database_metrics(db, "prometheus", &text, &error));
  EXPECT(strstr(tq_result_bytes(text, 0, "text", NULL), "fifo.enqueue") != NULL);
  tq_result_free(text);
  OK(tq_database_metrics(db, "json", &text, &error));
  EXPECT(strstr(tq_result_bytes(text, 0, "text", NULL), "fifo.enqueue") != NULL);
  tq_result_free(text);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_database_metrics(db, "xml", &text, &error));
  tq_queue_close(queue);
  tq_database_close(db);
  tq_options_free(options);
}

static void texts_need_no_database(void) {
  tq_error* error = NULL;
  tq_result* result = NULL;
  tq_options* place = options_for(TQ_FOR_OPEN);
  tq_options* options = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_text(place, "table_prefix", "shop_", TQ_NUL, &error));
  OK(tq_options_set_int(options, "max_attempts", 3, &error));
  OK(tq_dialects(&result, &error));
  int sqlite = 0;
  for (size_t i = 0; i < tq_result_count(result); ++i) sqlite += same(result, i, "name", "sqlite");
  EXPECT(sqlite == 1);
  tq_result_free(result);
  OK(tq_ddl("sqlite", "jobs", TQ_NUL, "claim", options, place, &result, &error));
  EXPECT(strstr(tq_result_bytes(result, 0, "text", NULL), "shop_jobs") != NULL);
  tq_result_free(result);
  OK(tq_statements("postgresql", "jobs", TQ_NUL, "claim", NULL, place, &result, &error));
  int takes = 0;
  for (size_t i = 0; i < tq_result_count(result); ++i)
    takes += same(result, i, "name", "claim.take");
  EXPECT(takes == 1);
  tq_result_free(result);
  OK(tq_grants("postgresql", "producer", "alice", TQ_NUL, "jobs", TQ_NUL, "claim", options, place,
               &result, &error));
  EXPECT(strstr(tq_result_bytes(result, 0, "text", NULL), "alice") != NULL);
  tq_result_free(result);
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_ddl("sqlite", "jobs", TQ_NUL, "stack", NULL, NULL, &result, &error));
  tq_options_free(options);
  tq_options_free(place);
}

void run_database_tests(const struct place* at) {
  queues_are_listed_found_and_dropped(at);
  a_queue_is_used_after_its_database_is_closed(at);
  metrics_count_what_is_done(at);
  texts_need_no_database();
}
