// An application of the C interface. Run with a connection string.
#include <stdio.h>
#include <string.h>
#include <tableq.h>

int main(int argc, char** argv) {
  tq_error* error = NULL;
  tq_database* db = NULL;
  tq_queue* mail = NULL;
  tq_result* got = NULL;
  if (tq_database_open(argc > 1 ? argv[1] : "sqlite://:memory:", TQ_NUL, NULL, &db, &error) ||
      tq_queue_open(db, "mail", TQ_NUL, "fifo", NULL, &mail, &error) ||
      tq_enqueue(mail, NULL, "hello", TQ_NUL, NULL, NULL, NULL, &error) ||
      tq_dequeue(mail, NULL, 1, NULL, &got, &error)) {
    fprintf(stderr, "%s\n", tq_error_message(error));
    tq_error_free(error);
    return 1;
  }
  size_t size = 0;
  const char* payload = tq_result_bytes(got, 0, "payload", &size);
  const int same = payload != NULL && size == 5 && memcmp(payload, "hello", size) == 0;
  tq_result_free(got);
  tq_queue_close(mail);
  tq_database_close(db);
  return same ? 0 : 1;
}
