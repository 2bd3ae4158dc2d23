#include "sql.h"

static const char* const mapping =
    "{\"table\": \"emails\", \"key\": [\"id\"], \"waiting\": {\"flag\": \"sent\"},"
    " \"lease_until\": \"locked_until\", \"fence\": \"fence\", \"attempts\": \"tries\","
    " \"taken_at\": \"taken_at\", \"max_attempts\": 5}";

static void add_row(tq_batch* batch, const char* address) {
  tq_error* error = NULL;
  tq_options* row = options_for(TQ_FOR_ROW);
  OK(tq_options_set_text(row, "address", address, TQ_NUL, &error));
  OK(tq_options_set_bytes(row, "photo", "\0\1", 2, &error));
  OK(tq_options_set_null(row, "locked_until", TQ_TYPE_TIME, &error));
  OK(tq_options_set_int(row, "tries", 0, &error));
  OK(tq_batch_add(batch, NULL, 0, row, &error));
  tq_options_free(row);
}

static void rows_are_added_taken_and_settled(const struct place* at) {
  tq_error* error = NULL;
  tq_result* result = NULL;
  tq_batch* batch = NULL;
  tq_queue* table = NULL;
  int outcome = 7;
  size_t size = 0;
  OK(tq_queue_open_table(at->db, mapping, TQ_NUL, &table, &error));
  EXPECT(strcmp(tq_queue_kind(table), "table") == 0);
  OK(tq_queue_settings(table, &result, &error));
  EXPECT(tq_result_int(result, 0, "at_least_once") == 1);
  EXPECT(tq_result_int(result, 0, "fenced") == 1);
  EXPECT(tq_result_int(result, 0, "settles") == 1);
  EXPECT(tq_result_type(result, 0, "ends") == TQ_TYPE_BOOL);
  EXPECT(strstr(tq_result_bytes(result, 0, "definition", NULL), "emails") != NULL);
  EXPECT(tq_result_type(result, 0, "words") == TQ_TYPE_TEXT);
  tq_result_free(result);

  OK(tq_batch_new(&batch, &error));
  add_row(batch, "a@b.example");
  add_row(batch, "c@d.example");
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_complete_batch(table, NULL, batch, &result, &error));
  OK(tq_enqueue_batch(table, NULL, batch, NULL, &result, &error));
  EXPECT(tq_result_count(result) == 2);
  const tq_result* stored = tq_result_list(result, 1, "row");
  EXPECT(same(stored, 0, "address", "c@d.example"));
  EXPECT(same(stored, 0, "ADDRESS", "c@d.example"));
  EXPECT(tq_result_type(stored, 0, "photo") == TQ_TYPE_BYTES);
  EXPECT(tq_result_type(stored, 0, "locked_until") == TQ_TYPE_NULL);
  EXPECT(tq_result_int(stored, 0, "id") > 0);
  EXPECT(tq_result_field_count(stored) >= 5);
  tq_result_free(result);
  OK(tq_peek(table, 10, &result, &error));
  EXPECT(tq_result_count(result) == 2);
  EXPECT(tq_result_type(result, 0, "row") == TQ_TYPE_LIST);
  tq_result_free(result);

  tq_result* taken = take(table, 10, 2);
  EXPECT(same(tq_result_list(taken, 0, "row"), 0, "address", "a@b.example"));
  const char* receipt = tq_result_bytes(taken, 0, "receipt", &size);
  OK(tq_complete(table, NULL, receipt, size, &outcome, &error));
  EXPECT(outcome == TQ_OUTCOME_APPLIED);
  tq_result_free(taken);
  int64_t count = 0;
  OK(tq_requeue_older_than(table, 0, &count, &error));
  EXPECT(count == 1);
  complete_all(table, take(table, 10, 1));

  tq_options* row = options_for(TQ_FOR_ROW);
  OK(tq_options_set_text(row, "address", "e@f.example", TQ_NUL, &error));
  OK(tq_options_set_decimal(row, "price", "12.50", TQ_NUL, &error));
  OK(tq_options_set_time(row, "taken_at", 86400000, &error));
  OK(tq_enqueue(table, NULL, NULL, 0, row, NULL, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enqueue(table, NULL, "x", 1, row, NULL, NULL, &error));
  OK(tq_options_set_int(row, "nowhere", 1, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enqueue(table, NULL, NULL, 0, row, NULL, NULL, &error));
  tq_options_free(row);
  taken = take(table, 1, 1);
  const tq_result* columns = tq_result_list(taken, 0, "row");
  EXPECT(tq_result_type(columns, 0, "price") == TQ_TYPE_DECIMAL);
  EXPECT(tq_result_double(columns, 0, "price") == 12.5);
  complete_all(table, taken);

  OK(tq_queue_inspect(table, &result, &error));
  EXPECT(tq_result_count(result) > 0);
  tq_result_free(result);
  OK(tq_queue_ddl(table, &result, &error));
  EXPECT(tq_result_type(result, 0, "text") == TQ_TYPE_TEXT);
  tq_result_free(result);
  OK(tq_queue_stats(table, NULL, &result, &error));
  EXPECT(tq_result_int(result, 0, "ready") == 0);
  tq_result_free(result);
  tq_batch_free(batch);
  tq_queue_close(table);
}

static void a_stored_definition_is_found_by_name(const struct place* at) {
  tq_error* error = NULL;
  tq_queue* table = NULL;
  tq_result* found = NULL;
  OK(tq_database_store_table(at->db, "c_emails", TQ_NUL, mapping, TQ_NUL, &error));
  OK(tq_queue_open_stored_table(at->db, "c_emails", TQ_NUL, &table, &error));
  EXPECT(strcmp(tq_queue_name(table), "c_emails") == 0);
  OK(tq_database_find(at->db, "c_emails", TQ_NUL, &found, &error));
  EXPECT(same(found, 0, "kind", "table"));
  EXPECT(strstr(tq_result_bytes(found, 0, "definition", NULL), "locked_until") != NULL);
  EXPECT(tq_result_type(found, 0, "lease_ms") == TQ_TYPE_NULL);
  tq_result_free(found);
  tq_queue_close(table);
  OK(tq_database_drop(at->db, "c_emails", TQ_NUL, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_queue_open_table(at->db, "[]", TQ_NUL, &table, &error));
}

void run_table_tests(const struct place* at) {
  run_sql(at, is_sqlite(at)
                  ? "CREATE TABLE emails (id INTEGER PRIMARY KEY, address TEXT, photo BLOB,"
                    " sent INTEGER NOT NULL DEFAULT 0, locked_until INTEGER, fence INTEGER NOT NULL"
                    " DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0, taken_at INTEGER, price"
                    " NUMERIC(9,2))"
                  : "CREATE TABLE emails (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,"
                    " address text, photo bytea, sent integer NOT NULL DEFAULT 0, locked_until"
                    " timestamptz, fence bigint NOT NULL DEFAULT 0, tries integer NOT NULL DEFAULT"
                    " 0, taken_at timestamptz, price numeric(9,2))");
  rows_are_added_taken_and_settled(at);
  a_stored_definition_is_found_by_name(at);
}
