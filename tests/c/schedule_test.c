#include "check.h"

static tq_options* rule_for(const char* name) {
  tq_error* error = NULL;
  tq_options* rule = options_for(TQ_FOR_SCHEDULE);
  OK(tq_options_set_text(rule, "name", name, TQ_NUL, &error));
  OK(tq_options_set_text(rule, "queue", "c_periodic", TQ_NUL, &error));
  OK(tq_options_set_text(rule, "cron", "30 2 * * mon", TQ_NUL, &error));
  OK(tq_options_set_text(rule, "zone", "Europe/Berlin", TQ_NUL, &error));
  return rule;
}

static void rules_are_added_listed_changed_and_removed(const struct place* at) {
  tq_error* error = NULL;
  tq_result* found = NULL;
  int existed = 0;
  tq_options* rule = rule_for("c_nightly");
  OK(tq_options_set_text(rule, "key", "k", TQ_NUL, &error));
  OK(tq_options_set_int(rule, "priority", 3, &error));
  OK(tq_options_set_int(rule, "catch_up", 5, &error));
  OK(tq_options_set_int(rule, "not_later_than_ms", 7000, &error));
  OK(tq_options_set_bool(rule, "skip_if_running", 1, &error));
  OK(tq_options_set_header(rule, "a", TQ_NUL, "b", TQ_NUL, &error));
  OK(tq_schedule_add(at->db, "x\0y", 3, rule, &error));
  EXPECT(tq_schedule_add(at->db, "", 0, rule, NULL) == TQ_ERROR_INVALID_ARGUMENT);

  OK(tq_schedule_find(at->db, "c_nightly", TQ_NUL, &found, &error));
  EXPECT(tq_result_count(found) == 1);
  EXPECT(same(found, 0, "name", "c_nightly"));
  EXPECT(same(found, 0, "queue", "c_periodic"));
  EXPECT(same(found, 0, "cron", "30 2 * * mon"));
  EXPECT(tq_result_type(found, 0, "every_ms") == TQ_TYPE_NULL);
  EXPECT(same(found, 0, "zone", "Europe/Berlin"));
  size_t size = 0;
  EXPECT(memcmp(tq_result_bytes(found, 0, "payload", &size), "x\0y", 3) == 0 && size == 3);
  EXPECT(same(tq_result_list(found, 0, "headers"), 0, "value", "b"));
  EXPECT(same(found, 0, "key", "k"));
  EXPECT(tq_result_type(found, 0, "group") == TQ_TYPE_NULL);
  EXPECT(tq_result_int(found, 0, "priority") == 3);
  EXPECT(tq_result_int(found, 0, "catch_up") == 5);
  EXPECT(tq_result_int(found, 0, "not_later_than_ms") == 7000);
  EXPECT(tq_result_int(found, 0, "skip_if_running") == 1);
  EXPECT(same(found, 0, "owner", ""));
  EXPECT(tq_result_int(found, 0, "enabled") == 1);
  EXPECT(same(found, 0, "problem", ""));
  EXPECT(tq_result_type(found, 0, "last") == TQ_TYPE_NULL);
  EXPECT(tq_result_type(found, 0, "overdue") == TQ_TYPE_NULL);
  const tq_result* next = tq_result_list(found, 0, "next");
  EXPECT(tq_result_count(next) == 5);
  EXPECT(tq_result_int(next, 1, "at") > tq_result_int(next, 0, "at"));
  tq_result_free(found);

  OK(tq_options_set_text(rule, "cron", "", TQ_NUL, &error));
  OK(tq_options_set_int(rule, "every_ms", 90000, &error));
  OK(tq_schedule_change(at->db, "", 0, rule, &error));
  OK(tq_schedule_list(at->db, &found, &error));
  EXPECT(tq_result_count(found) == 1);
  EXPECT(tq_result_int(found, 0, "every_ms") == 90000);
  EXPECT(tq_result_type(found, 0, "cron") == TQ_TYPE_NULL);
  tq_result_free(found);
  tq_options_free(rule);

  OK(tq_schedule_pause(at->db, "c_nightly", TQ_NUL, &existed, &error));
  EXPECT(existed == 1);
  OK(tq_schedule_resume(at->db, "c_nightly", TQ_NUL, &existed, &error));
  EXPECT(existed == 1);
  OK(tq_schedule_run_now(at->db, "c_nightly", TQ_NUL, &existed, &error));
  EXPECT(existed == 1);
  OK(tq_schedule_remove(at->db, "c_nightly", TQ_NUL, &existed, &error));
  EXPECT(existed == 1);
  OK(tq_schedule_remove(at->db, "c_nightly", TQ_NUL, &existed, &error));
  EXPECT(existed == 0);
  OK(tq_schedule_find(at->db, "c_nightly", TQ_NUL, &found, &error));
  EXPECT(tq_result_count(found) == 0);
  tq_result_free(found);
}

static void rules_of_an_owner_are_declared(const struct place* at) {
  tq_error* error = NULL;
  tq_result* done = NULL;
  tq_batch* rules = NULL;
  tq_options* rule = rule_for("c_declared");
  OK(tq_batch_new(&rules, &error));
  OK(tq_batch_add(rules, "x", 1, rule, &error));
  EXPECT(tq_batch_count(rules) == 1);
  OK(tq_schedule_declare(at->db, "c_owner", TQ_NUL, rules, &done, &error));
  EXPECT(tq_result_int(done, 0, "added") == 1);
  EXPECT(tq_result_int(done, 0, "changed") == 0);
  tq_result_free(done);
  tq_batch_clear(rules);
  EXPECT(tq_batch_count(rules) == 0);
  OK(tq_schedule_declare(at->db, "c_owner", TQ_NUL, rules, &done, &error));
  EXPECT(tq_result_int(done, 0, "removed") == 1);
  tq_result_free(done);
  OK(tq_batch_add(rules, "x", 1, NULL, &error));
  EXPECT(tq_schedule_declare(at->db, "c_owner", TQ_NUL, rules, &done, NULL) ==
         TQ_ERROR_INVALID_ARGUMENT);
  tq_batch_free(rules);
  tq_options_free(rule);
}

void run_schedule_tests(const struct place* at) {
  tq_queue* queue = queue_of(at->db, "c_periodic", "claim");
  rules_are_added_listed_changed_and_removed(at);
  rules_of_an_owner_are_declared(at);
  tq_queue_close(queue);
}
