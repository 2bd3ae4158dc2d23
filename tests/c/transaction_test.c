// Plain SQL on the database of the tests, by the client library of its own.

#if defined(TABLEQ_WITH_POSTGRESQL)
#include <libpq-fe.h>
#endif
#include <sqlite3.h>

#include "check.h"

static int is_sqlite(const struct place* at) {
  return strcmp(tq_database_backend(at->db), "sqlite") == 0;
}

static sqlite3* open_sqlite(const struct place* at) {
  sqlite3* connection = NULL;
  EXPECT(sqlite3_open(at->url + strlen("sqlite://"), &connection) == SQLITE_OK);
  sqlite3_busy_timeout(connection, 5000);
  return connection;
}

static void on_sqlite(sqlite3* connection, const char* sql) {
  char* why = NULL;
  if (sqlite3_exec(connection, sql, NULL, NULL, &why) != SQLITE_OK) {
    failed(__FILE__, __LINE__, why, NULL);
  }
}

#if defined(TABLEQ_WITH_POSTGRESQL)
static PGconn* open_postgresql(const struct place* at) {
  PGconn* connection = PQconnectdb(at->url);
  EXPECT(PQstatus(connection) == CONNECTION_OK);
  return connection;
}

static void on_postgresql(PGconn* connection, const char* sql) {
  PGresult* result = PQexec(connection, sql);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    failed(__FILE__, __LINE__, PQerrorMessage(connection), NULL);
  }
  PQclear(result);
}
#endif

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
  the_callers_own_connection_is_joined(at);
}
