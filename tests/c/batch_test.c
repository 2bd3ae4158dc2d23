#include "check.h"

static void a_batch_ends_with_one_message_that_has_the_counts(const struct place* at) {
  tq_error* error = NULL;
  tq_options* with = options_for(TQ_FOR_QUEUE);
  OK(tq_options_set_bool(with, "batches", 1, &error));
  tq_queue* parts = NULL;
  OK(tq_queue_open(at->db, "c_parts", TQ_NUL, "claim", with, &parts, &error));
  tq_queue* reports = queue_of(at->db, "c_reports", "claim");

  tq_options* options = options_for(TQ_FOR_BATCH);
  OK(tq_options_set_text(options, "then", "c_reports", TQ_NUL, &error));
  OK(tq_options_set_header(options, "of", TQ_NUL, "import", TQ_NUL, &error));
  OK(tq_options_set_int(options, "priority", 3, &error));
  OK(tq_options_set_text(options, "name", "import 7", TQ_NUL, &error));
  int64_t batch = 0;
  OK(tq_queue_begin_batch(parts, NULL, "all done", TQ_NUL, options, &batch, &error));
  EXPECT(batch > 0);

  tq_options* member = options_for(TQ_FOR_MESSAGE);
  OK(tq_options_set_int(member, "batch", batch, &error));
  OK(tq_enqueue(parts, NULL, "part", TQ_NUL, member, NULL, NULL, &error));
  OK(tq_database_seal_batch(at->db, NULL, batch, &error));
  REFUSED(TQ_ERROR_INVALID_ARGUMENT,
          tq_enqueue(parts, NULL, "late", TQ_NUL, member, NULL, NULL, &error));

  tq_result* taken = take(parts, 1, 1);
  size_t size = 0;
  const char* receipt = tq_result_bytes(taken, 0, "receipt", &size);
  int64_t mine = 0;
  OK(tq_queue_batch_of(parts, NULL, receipt, size, &mine, &error));
  EXPECT(mine == batch);
  OK(tq_options_set_text(member, "batch_member", receipt, size, &error));
  OK(tq_enqueue(parts, NULL, "sibling", TQ_NUL, member, NULL, NULL, &error));
  int outcome = 0;
  OK(tq_complete(parts, NULL, receipt, size, &outcome, &error));
  tq_result_free(taken);

  tq_result* found = NULL;
  OK(tq_database_find_batch(at->db, NULL, batch, &found, &error));
  EXPECT(tq_result_count(found) == 1);
  EXPECT(strcmp(tq_result_bytes(found, 0, "name", &size), "import 7") == 0);
  EXPECT(tq_result_int(found, 0, "total") == 2);
  EXPECT(tq_result_int(found, 0, "outstanding") == 1);
  EXPECT(tq_result_int(found, 0, "sealed") == 1);
  EXPECT(same(found, 0, "then", "c_reports"));
  EXPECT(tq_result_type(found, 0, "finished_at") == TQ_TYPE_NULL);
  tq_result_free(found);

  int open = 0;
  OK(tq_database_cancel_batch(at->db, batch, &open, &error));
  EXPECT(open == 1);
  OK(tq_database_cancel_batch(at->db, batch, &open, &error));
  EXPECT(open == 0);
  OK(tq_database_batches(at->db, 1, 0, 0, &found, &error));
  EXPECT(tq_result_int(found, 0, "batch") == batch);
  EXPECT(tq_result_int(found, 0, "removed") == 1 && tq_result_int(found, 0, "completed") == 1);
  tq_result_free(found);

  taken = take(reports, 1, 1);
  EXPECT(same(taken, 0, "payload", "all done"));
  EXPECT(tq_result_int(taken, 0, "priority") == 3);
  EXPECT(tq_result_count(tq_result_list(taken, 0, "headers")) == 8);
  complete_all(reports, taken);

  tq_options_free(with);
  tq_options_free(options);
  tq_options_free(member);
  tq_queue_close(parts);
  tq_queue_close(reports);
}

void run_batch_tests(const struct place* at) {
  a_batch_ends_with_one_message_that_has_the_counts(at);
}
