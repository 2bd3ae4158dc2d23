#include "sql.h"

static void calls_of_a_transaction_commit_together(const struct place* at) {
  tq_error* error = NULL;
  tq_transaction* tx = NULL;
  tq_queue* queue = queue_of(at->db, "c_tx", "claim");
  OK(tq_transaction_begin(at->db, &tx, &error));
  EXPECT(tq_transaction_active(tx) == 1);
  OK(tq_enqueue(queue, tx, "order", TQ_NUL, NULL, NULL, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enqueue(queue, NULL, "x", 1, NULL, NULL, NULL, &error));
  OK(tq_transaction_rollback(tx, &error));
  EXPECT(tq_transaction_active(tx) == 0);
  tq_transaction_free(tx);
  tq_result_free(take(queue, 1, 0));

  OK(tq_transaction_begin(at->db, &tx, &error));
  OK(tq_enqueue(queue, tx, "order", TQ_NUL, NULL, NULL, NULL, &error));
  EXPECT((tq_transaction_sqlite(tx) != NULL) == is_sqlite(at));
  EXPECT((tq_transaction_libpq(tx) != NULL) == !is_sqlite(at));
  EXPECT(tq_transaction_odbc(tx) == NULL);
  OK(tq_transaction_commit(tx, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_transaction_commit(tx, &error));
  EXPECT(tq_transaction_sqlite(tx) == NULL);
  tq_transaction_free(tx);
  complete_all(queue, take(queue, 1, 1));

  OK(tq_transaction_begin(at->db, &tx, &error));
  OK(tq_enqueue(queue, tx, "order", TQ_NUL, NULL, NULL, NULL, &error));
  tq_transaction_free(tx);  // Rolls back.
  tq_result_free(take(queue, 1, 0));
  tq_queue_close(queue);
}

/// @param joined the caller's connection, with an open transaction, as a transaction.
static void add_and_take(const struct place* at, tq_transaction* joined) {
  tq_error* error = NULL;
  tq_queue* queue = queue_of(at->db, "c_joined", "fifo");
  OK(tq_enqueue(queue, joined, "outbox", TQ_NUL, NULL, NULL, NULL, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_transaction_commit(joined, &error));
  EXPECT(tq_transaction_active(joined) == 1);
  tq_queue_close(queue);
}

static void expect_one_message(const struct place* at, size_t count) {
  tq_error* error = NULL;
  tq_result* messages = NULL;
  tq_queue* queue = queue_of(at->db, "c_joined", "fifo");
  OK(tq_dequeue(queue, NULL, 10, NULL, &messages, &error));
  EXPECT(tq_result_count(messages) == count);
  tq_result_free(messages);
  tq_queue_close(queue);
}

static void the_callers_own_connection_is_joined(const struct place* at) {
  tq_error* error = NULL;
  tq_transaction* joined = NULL;
  tq_queue_close(queue_of(at->db, "c_joined", "fifo"));
  if (is_sqlite(at)) {
    sqlite3* connection = open_sqlite(at);
    REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enlist_sqlite(at->db, connection, 0, &joined, &error));
    REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enlist_libpq(at->db, NULL, 0, &joined, &error));
    REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enlist_odbc(at->db, NULL, 0, &joined, &error));
    on_sqlite(connection, "BEGIN IMMEDIATE");
    OK(tq_enlist_sqlite(at->db, connection, 0, &joined, &error));
    EXPECT(tq_transaction_sqlite(joined) == connection);
    add_and_take(at, joined);
    tq_transaction_free(joined);
    on_sqlite(connection, "ROLLBACK");
    expect_one_message(at, 0);
    OK(tq_enlist_sqlite(at->db, connection, 1, &joined, &error));
    add_and_take(at, joined);
    tq_transaction_free(joined);
    sqlite3_close(connection);
    expect_one_message(at, 1);
  }
#if defined(TABLEQ_WITH_POSTGRESQL)
  if (!is_sqlite(at)) {
    PGconn* connection = open_postgresql(at);
    REFUSED(TQ_ERROR_INVALID_ARGUMENT, tq_enlist_libpq(at->db, connection, 0, &joined, &error));
    on_postgresql(connection, "BEGIN");
    OK(tq_enlist_libpq(at->db, connection, 0, &joined, &error));
    EXPECT(tq_transaction_libpq(joined) == connection);
    add_and_take(at, joined);
    tq_transaction_free(joined);
    on_postgresql(connection, "COMMIT");
    PQfinish(connection);
    expect_one_message(at, 1);
  }
#endif
}

void run_transaction_tests(const struct place* at) {
  calls_of_a_transaction_commit_together(at);
  the_callers_own_connection_is_joined(at);
}
