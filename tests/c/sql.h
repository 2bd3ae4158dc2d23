#ifndef TABLEQ_TESTS_C_SQL_H
#define TABLEQ_TESTS_C_SQL_H

// Plain SQL on the database of the tests, by the client library of its own.

#if defined(TABLEQ_WITH_POSTGRESQL)
#include <libpq-fe.h>
#endif
#include <sqlite3.h>

#include "check.h"

static inline int is_sqlite(const struct place* at) {
  return strcmp(tq_database_backend(at->db), "sqlite") == 0;
}

static inline sqlite3* open_sqlite(const struct place* at) {
  sqlite3* connection = NULL;
  EXPECT(sqlite3_open(at->url + strlen("sqlite://"), &connection) == SQLITE_OK);
  sqlite3_busy_timeout(connection, 5000);
  return connection;
}

static inline void on_sqlite(sqlite3* connection, const char* sql) {
  char* why = NULL;
  if (sqlite3_exec(connection, sql, NULL, NULL, &why) != SQLITE_OK) {
    failed(__FILE__, __LINE__, why, NULL);
  }
}

#if defined(TABLEQ_WITH_POSTGRESQL)
static inline PGconn* open_postgresql(const struct place* at) {
  PGconn* connection = PQconnectdb(at->url);
  EXPECT(PQstatus(connection) == CONNECTION_OK);
  return connection;
}

static inline void on_postgresql(PGconn* connection, const char* sql) {
  PGresult* result = PQexec(connection, sql);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    failed(__FILE__, __LINE__, PQerrorMessage(connection), NULL);
  }
  PQclear(result);
}
#endif

static inline void run_sql(const struct place* at, const char* sql) {
  if (is_sqlite(at)) {
    sqlite3* connection = open_sqlite(at);
    on_sqlite(connection, sql);
    sqlite3_close(connection);
    return;
  }
#if defined(TABLEQ_WITH_POSTGRESQL)
  PGconn* connection = open_postgresql(at);
  on_postgresql(connection, sql);
  PQfinish(connection);
#endif
}

#endif
