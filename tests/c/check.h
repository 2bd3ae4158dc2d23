#ifndef TABLEQ_TESTS_C_CHECK_H
#define TABLEQ_TESTS_C_CHECK_H

// A test is a function; EXPECT and OK end the program at the first failure.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tableq.h>

static inline void failed(const char* file, int line, const char* what, const tq_error* error) {
  fprintf(stderr, "%s:%d: %s%s%s\n", file, line, what, error != NULL ? ": " : "",
          tq_error_message(error));
  exit(1);
}

#define EXPECT(condition)                                           \
  do {                                                              \
    if (!(condition)) failed(__FILE__, __LINE__, #condition, NULL); \
  } while (0)

/// A call that succeeds; its last parameter is `&error`, which the file has.
#define OK(call)                                                                    \
  do {                                                                              \
    if ((call) != TQ_OK || error != NULL) failed(__FILE__, __LINE__, #call, error); \
  } while (0)

/// A call that is refused with this code. Frees the error.
#define REFUSED(code, call)                                                   \
  do {                                                                        \
    const int told = (call);                                                  \
    if (told != (code) || tq_error_code(error) != (code))                     \
      failed(__FILE__, __LINE__, #call " is not refused with " #code, error); \
    tq_error_free(error);                                                     \
    error = NULL;                                                             \
  } while (0)

/// Whether a text or bytes of a result are these.
static inline int same(const tq_result* result, size_t row, const char* field, const char* text) {
  size_t size = 0;
  const char* found = tq_result_bytes(result, row, field, &size);
  return found != NULL && size == strlen(text) && memcmp(found, text, size) == 0;
}

static inline tq_options* options_for(int purpose) {
  tq_error* error = NULL;
  tq_options* options = NULL;
  OK(tq_options_new(purpose, &options, &error));
  return options;
}

static inline tq_queue* queue_of(tq_database* db, const char* name, const char* kind) {
  tq_error* error = NULL;
  tq_queue* queue = NULL;
  OK(tq_queue_open(db, name, TQ_NUL, kind, NULL, &queue, &error));
  return queue;
}

static inline void add(tq_queue* queue, const char* payload) {
  tq_error* error = NULL;
  OK(tq_enqueue(queue, NULL, payload, TQ_NUL, NULL, NULL, NULL, &error));
}

/// Takes up to `max`, and expects `count`.
static inline tq_result* take(tq_queue* queue, size_t max, size_t count) {
  tq_error* error = NULL;
  tq_result* taken = NULL;
  OK(tq_take(queue, NULL, max, NULL, &taken, &error));
  EXPECT(tq_result_count(taken) == count);
  return taken;
}

/// The address that the tests run on, and whether it is PostgreSQL.
struct place {
  const char* url;
  tq_database* db;
};

void run_error_tests(const struct place* at);
void run_option_tests(const struct place* at);
void run_database_tests(const struct place* at);
void run_message_tests(const struct place* at);
void run_claim_tests(const struct place* at);
void run_transaction_tests(const struct place* at);
void run_waiting_tests(const struct place* at);

#endif
