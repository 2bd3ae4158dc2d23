// What programs in C alone can do, by one in C99 that is also compiled as C++. The rest of tableq.h
// runs in conformance_by_c.

#include "check.h"

int main(int argc, char** argv) {
  tq_error* error = NULL;
  struct place at = {argc > 1 ? argv[1] : "sqlite://:memory:", NULL};
  OK(tq_database_open(at.url, TQ_NUL, NULL, &at.db, &error));
  run_error_tests(&at);
  run_option_tests(&at);
  run_database_tests(&at);
  run_message_tests(&at);
  run_claim_tests(&at);
  run_transaction_tests(&at);
  run_waiting_tests(&at);
  tq_database_close(at.db);
  puts("passed");
  return 0;
}
