#include <gtest/gtest.h>
#include <soci/soci.h>

#include "plan_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq_test::read;  // not that of POSIX

TABLEQ_ON_BACKENDS(plan, distinct_backends);

TEST_P(plan, of_plain_reads_is_constant_over_many_waiting) {
  const std::vector<std::string> kinds = {"heap", "fifo", "lifo"};
  for (const std::string& name : kinds) {
    any_queue(db(), tableq::parse_kind(name), name).put_all(numbered(50));
    const std::vector<read> reads = {
        {.name = name + ".dequeue", .with = from({{"max", "10"}}), .in_key_order = true},
        {.name = single(name + ".dequeue"), .with = from({{"max", "1"}}), .in_key_order = true},
        {.name = name + ".peek", .with = from({{"max", "10"}}), .in_key_order = true},
        {.name = name + ".purge", .with = {{"max", "10"}}, .in_key_order = true}};
    expect_constant(reads, name,
                    {.columns = "payload", .values = here().bytes_literal("x"), .count = many});
  }
}

TEST_P(plan, of_pending_reads_is_constant_over_a_million_delayed) {
  any_queue(db(), tableq::kind::pending, "later").put_all(numbered(50));
  std::vector<read> reads;
  for (const std::string& set : {std::string("NULL"), now()}) {
    reads.push_back({.name = "pending.dequeue", .with = {{"max", "10"}, {"now", set}}});
    reads.push_back({.name = single("pending.dequeue"), .with = {{"max", "1"}, {"now", set}}});
    reads.push_back({.name = "pending.peek", .with = {{"max", "10"}, {"now", set}}});
    reads.push_back({.name = "pending.next_due", .with = {{"now", set}}});
  }
  expect_constant(reads, "later",
                  {.columns = "payload, due_at",
                   .values = here().bytes_literal("x") + ", " + now() + " + 3600000 + n",
                   .count = million});
}

TEST_P(plan, of_claim_reads_is_constant_over_a_million_delayed_and_leased) {
  auto jobs = db().claim("jobs", {.max_attempts = 1});
  any_queue(db(), tableq::kind::claim, "jobs").put_all(numbered(50));
  for (int i = 0; i < 5; ++i) {
    for (const auto& each : jobs.take(1))
      EXPECT_EQ(jobs.fail(each.receipt, "dead"), tableq::settle_result::applied);
  }
  const auto held = jobs.take(1);
  ASSERT_EQ(held.size(), 1U);
  const parameters settle = {{"id", here().one_item(held[0].receipt.id.value)},
                             {"fence", here().one_item(held[0].receipt.fence)},
                             {"now", "NULL"},
                             {"window", "0"},
                             {"strip", "0"},
                             {"lease", "1000"},
                             {"done", here().one_item(1)},
                             {"note", here().one_text_item("half")},
                             {"result", "NULL"}};
  std::vector<read> reads = {
      {.name = "claim.take", .with = take("10", "1")},
      {.name = single("claim.take"), .with = take("1", "1")},
      {.name = "claim.take", .with = take("10", "0")},
      promote(),
      {.name = "claim.next_due", .with = from({{"now", "NULL"}})},
      {.name = "claim.peek", .with = from({{"max", "10"}, {"now", "NULL"}}), .bounded_sort = true},
      {.name = "claim.list", .with = from(page_of("4"))},
      {.name = "claim.filter", .with = filter("4"), .bounded_sort = true},
      {.name = "claim.purge",
       .with = {{"state", "4"}, {"older_than", "0"}, {"max", "10"}, {"now", "NULL"}}},
      {.name = "claim.complete", .with = settle, .bounded_sort = true},
      {.name = "claim.keep", .with = settle, .bounded_sort = true},
      {.name = "claim.keep_result", .with = settle, .bounded_sort = true},
      {.name = "claim.progress", .with = settle, .bounded_sort = true},
      {.name = "claim.notes", .with = settle},
      {.name = "claim.outcome", .with = settle},
      {.name = "claim.release", .with = settle, .bounded_sort = true},
      {.name = "claim.extend", .with = settle, .bounded_sort = true},
      {.name = "claim.heartbeat", .with = settle, .bounded_sort = true},
      {.name = "claim.lost", .with = settle},
      {.name = "claim.unseen", .with = settle}};
  add_look(reads, "jobs");
  add_first(reads);
  parameters settle_one = settle;
  settle_one["id"] = std::to_string(held[0].receipt.id.value);
  settle_one["fence"] = std::to_string(held[0].receipt.fence);
  if (const std::string own = single("claim.complete"); own != "claim.complete") {
    reads.push_back({.name = own, .with = settle_one});
  }
  expect_constant(reads, "jobs",
                  {.columns = "payload, state, fence, attempts, due_at",
                   .values = here().bytes_literal("x") + ", 1 + n % 2, n % 2, n % 2, " + now() +
                             " + 3600000 + n",
                   .count = million});
}

TEST_P(plan, of_claim_reads_is_constant_over_many_held_behind_their_group) {
  any_queue(db(), tableq::kind::claim, "jobs").put_all(numbered(50));
  here().insert_many("jobs", "payload, state, group_key",
                     here().bytes_literal("x") + ", 5, " + here().key_literal("g"), 20);
  std::vector<read> reads = {
      {.name = "claim.take", .with = take("10", "1")},
      {.name = "claim.next_due", .with = from({{"now", "NULL"}})},
      {.name = "claim.advance",
       .with = from({{"limit", "1"}, {"hold", "1"}, {"group", here().one_text_item("g")}}),
       .bounded_sort = true},
      {.name = "claim.replace",
       .with = {{"key", here().one_text_item("k")},
                {"payload", "NULL"},
                {"priority", "NULL"},
                {"delay", "NULL"},
                {"due_at", "NULL"},
                {"headers", "NULL"},
                {"ttl", "NULL"},
                {"max_attempts", "NULL"},
                {"retry", "NULL"},
                {"postpone", "0"},
                {"now", "NULL"}},
       .bounded_sort = true},
      {.name = "claim.forget",
       .with = {{"key", here().one_text_item("k")}, {"now", "NULL"}},
       .bounded_sort = true},
      {.name = "claim.free",
       .with = {{"key", here().one_text_item("k")}, {"now", "NULL"}},
       .bounded_sort = true}};
  add_look(reads, "jobs");
  expect_constant(reads, "jobs",
                  {.columns = "payload, state, group_key",
                   .values = here().bytes_literal("x") + ", 5, " + here().key_literal("g"),
                   .count = many});
}

TEST_P(plan, of_claim_reads_is_constant_though_the_queue_was_empty_when_it_was_analyzed) {
  auto jobs = db().claim("jobs");
  here().analyze();
  any_queue(db(), tableq::kind::claim, "jobs").put_all(numbered(50));
  std::vector<read> reads = {
      {.name = "claim.take", .with = take("10", "1")},
      {.name = single("claim.take"), .with = take("1", "1")},
      promote(),
      {.name = "claim.next_due", .with = from({{"now", "NULL"}})},
      {.name = "claim.peek", .with = from({{"max", "10"}, {"now", "NULL"}})}};
  add_look(reads, "jobs");
  add_first(reads);
  const auto before = work(reads, "jobs");
  const std::string bytes = here().bytes_literal("x");
  here().insert_many("jobs", "payload", bytes, many);
  here().insert_many("jobs", "payload, state, due_at",
                     bytes + ", 1 + n % 2, " + now() + " + 3600000 + n", many);
  expect_no_more(reads, "jobs", before, "whose statistics are those of none");
}

TEST_P(plan, of_groups_that_take_turns_is_the_same_for_10_and_for_10000) {
  by_turns_ = true;
  auto jobs = db().claim("jobs", {.groups = {.by_turns = true}});
  const auto add = [&](int first, int groups) { add_to_groups(jobs, first, groups); };
  add(0, 10);
  jobs.set_group_limits({.weight = 3}, "group 3");
  const std::string then = now();
  while (now() == then) continue;  // The page of the list begins behind these, and is always full.
  add(10, 10);
  const parameters deep =
      from({{"max", "10"}, {"after_priority", "0"}, {"after_at", then}, {"after_id", "1000000"}});
  std::vector<read> reads = {
      {.name = "claim.take", .with = take("10", "1")},
      {.name = single("claim.take"), .with = take("1", "1")},
      promote(),
      {.name = "claim.advance",
       .with = from({{"limit", "1"},
                     {"hold", "1"},
                     {"group", here().one_text_item("group 3")},
                     {"now", "NULL"}}),
       .bounded_sort = true},
      {.name = "claim.advance_limited",
       .with = from({{"queue", "'jobs'"},
                     {"limit", "1"},
                     {"hold", "1"},
                     {"group", here().one_text_item("group 3")},
                     {"starts", here().one_item(1)},
                     {"alarm_at", here().one_item(1)},
                     {"now", "NULL"}}),
       .bounded_sort = true},
      {.name = "claim.peek", .with = from({{"max", "10"}, {"now", "NULL"}}), .bounded_sort = true},
      {.name = "claim.list_ready", .with = deep, .bounded_sort = true},
      {.name = "claim.stats",
       .with = from({{"max", "20"}, {"now", "NULL"}}),
       .bounded_sort = true}};
  add_look(reads, "jobs");
  expect_constant(reads, "jobs", [&] {
    for (int group = 20; group < 10'000; group += 998) add(group, 998);
  });
  EXPECT_EQ(jobs.stats({.exact = true}).ready, 10'000U);
}

TEST_P(plan, of_limits_of_groups_is_the_same_for_10_and_for_10000) {
  auto jobs = db().claim("jobs", {.groups = tableq::group_options()});
  const auto add = [&](int first, int groups) { add_to_groups(jobs, first, groups); };
  add(0, 10);
  jobs.set_group_limits({.running = 2, .rate = 1000, .burst = 1000});
  const parameters group = {
      {"queue", "'jobs'"}, {"group", here().one_text_item("group 3")}, {"now", "NULL"}};
  parameters advance = group;
  advance.insert({{"limit", "1"},
                  {"hold", "1"},
                  {"starts", here().one_item(1)},
                  {"alarm_at", here().one_item(1)}});
  parameters start = group;
  start.insert({{"full_at", here().one_item(1)},
                {"alarm", here().one_item(1)},
                {"alarm_at", here().one_item(1)}});
  const std::vector<read> reads = {
      {.name = "claim.take", .with = take("10", "1")},
      {.name = "claim.advance_limited", .with = from(advance), .bounded_sort = true},
      {.name = "claim.tokens", .with = group, .bounded_sort = true},
      {.name = "claim.next_groups",
       .with = {{"after", "'group 3'"}, {"max", "5"}},
       .bounded_sort = true},
      {.name = "group.list",
       .with = {{"queue", "'jobs'"}, {"first", "'y'"}, {"max", "10"}},
       .bounded_sort = true},
      {.name = "group.start", .with = start, .bounded_sort = true}};
  const auto limit = [&](const std::string& name, int count) {
    here().insert_many("tableq_group_limits", "queue, name, running", "'jobs', " + name + ", 3",
                       count);
  };
  limit("'y' || n", 20);
  expect_constant(reads, "jobs", [&] {
    for (int first = 20; first < 10'000; first += 998) add(first, 998);
    limit("'z' || n", 10'000);
  });
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM tableq_group_starts").at(0).at(0), "9990");
}

TEST_P(plan, of_the_front_of_groups_that_take_turns_is_the_same_for_10_limits_and_for_10000) {
  if (!db_lingers()) GTEST_SKIP() << "no reads begin behind deleted rows";
  by_turns_ = true;
  auto jobs = db().claim("jobs", {.groups = {.by_turns = true}});
  add_to_groups(jobs, 0, 20);
  jobs.set_group_limits({.running = 2});
  const auto limit = [&](const std::string& name, int count) {
    here().insert_many("tableq_group_limits", "queue, name, running", "'jobs', " + name + ", 3",
                       count);
  };
  limit("'y' || n", 20);
  const std::vector<read> reads = {{.name = "claim.floor",
                                    .with = from({{"writers", "''"}, {"now", "NULL"}}),
                                    .bounded_sort = true}};
  expect_constant(reads, "jobs", [&] { limit("'z' || n", 10'000); });
}

TEST_P(plan, of_one_schedule_is_constant_over_many_others) {
  static_cast<void>(db().claim("jobs"));
  const auto add = [&](const std::string& name, std::int64_t count) {
    here().insert_many("tableq_schedules", "name, queue, payload, every_ms, due_at",
                       name + ", 'jobs', " + here().bytes_literal("p") + ", 60000, 9000000000000",
                       count);
  };
  add("'x' || n", 20);
  const std::vector<read> reads = {
      {.name = "schedules.list", .with = {{"name", "'x7'"}}, .bounded_sort = true}};
  expect_constant(reads, "jobs", [&] { add("'y' || n", 10'000); });
}

TEST_P(plan, of_batches_is_constant_over_many_members_and_batches_that_have_ended) {
  auto jobs = db().claim("jobs", {.batches = true});
  auto open = jobs.begin_batch();
  jobs.enqueue("one", {.batch = open});
  open.seal();
  const std::string id = std::to_string(open.id());
  const parameters settle = {{"queue", "1"}, {"id", here().one_item(7)}};
  std::vector<read> reads = {
      {.name = "batch.open",
       .with = {{"first", "0"}, {"last", "9000000000000000000"}, {"max", "100"}},
       .bounded_sort = true},
      {.name = "batch.lock", .with = {{"batch", id}}, .bounded_sort = true},
      {.name = "batch.members",
       .with = {{"batch", id}, {"after_queue", "-1"}, {"after_message", "0"}, {"max", "20"}},
       .bounded_sort = true},
      {.name = "batch.list",
       .with = {{"first", id}, {"last", id}, {"max", "1"}, {"count_to", "20"}},
       .bounded_sort = true},
      {.name = "batch.list",
       .with = {{"first", "1"}, {"last", "9000000000000000000"}, {"max", "10"}, {"count_to", "20"}},
       .bounded_sort = true},
      {.name = "batch.of", .with = settle, .bounded_sort = true},
      {.name =
           texts("batch.leave", "jobs").contains("batch.leave") ? "batch.leave" : "batch.remove",
       .with = settle,
       .bounded_sort = true}};
  expect_constant(reads, "jobs", [&] {
    here().insert_many("tableq_members", "queue, message, batch", "1, n, " + id + " + 100", many);
    here().insert_many("tableq_members", "queue, message, batch", "2, n, " + id, many);
    here().insert_many("tableq_batches",
                       "total, sealed, finished_at, completed, dead, removed, gone",
                       "1, 1, n, 1, 0, 0, 0", many);
  });
}

TEST_P(plan, of_claim_reads_is_constant_over_many_done_and_dead) {
  any_queue(db(), tableq::kind::claim, "jobs").put_all(numbered(50));
  const parameters finished = from(page_of("4"));
  std::vector<read> reads = {
      {.name = "claim.take", .with = take("10", "1")},
      {.name = "claim.list", .with = finished},
      {.name = "claim.list_outline", .with = finished},
      {.name = "claim.list_seen", .with = finished},
      {.name = "claim.peek", .with = from({{"max", "10"}, {"now", "NULL"}}), .bounded_sort = true}};
  add_look(reads, "jobs");
  expect_constant(reads, "jobs",
                  {.columns = "payload, state, finished_at",
                   .values = here().bytes_literal("x") + ", 3 + n % 2, " + now() + " - n",
                   .count = many});
}

TEST_P(plan, of_takes_is_constant_over_many_before_the_floor) {
  any_queue(db(), tableq::kind::claim, "jobs").put_all(numbered(50));
  const std::string one = here().bytes_literal("x") + ", -1, 0";
  here().insert_many("jobs", "payload, priority, fence", one, 300);
  const std::string far = "1000000000";
  std::vector<read> reads = {{.name = "claim.take", .with = take("10", "1", far)},
                             {.name = "claim.take", .with = take("1", "0", far)}};
  add_look(reads, "jobs", far);
  add_first(reads, far);
  if (contains(tableq::find_dialect(db().backend()).statements, " claim.floor\n")) {
    reads.push_back({.name = "claim.floor",
                     .with = {{"highs", "'0'"},
                              {"floors", "'" + far + "'"},
                              {"oldest", far},
                              {"passed", "0"},
                              {"writers", "''"},
                              {"now", "NULL"}}});
  }
  expect_constant(reads, "jobs",
                  {.columns = "payload, priority, fence",
                   .values = here().bytes_literal("x") + ", 0, 0",
                   .count = many});
}

TEST_P(plan, of_pages_is_constant_however_many_came_before) {
  any_queue(db(), tableq::kind::claim, "jobs").put_all(numbered(50));
  const std::string start = now();
  const auto rows = [&](const std::string& priority, const std::string& due, std::int64_t count) {
    return additions{.columns = "payload, priority, state, due_at",
                     .values = here().bytes_literal("x") + ", " + priority +
                               ", CASE n % 3 WHEN 0 THEN 0 WHEN 1 THEN 2 ELSE 5 END"
                               ", CASE WHEN n % 3 = 1 THEN " +
                               start + " + " + due + " + n ELSE 0 END",
                     .count = count};
  };
  // The messages of the later pages, from the beginning; all additions come before them.
  const additions last = rows("-1", "7200000", 300);
  here().insert_many("jobs", last.columns, last.values, last.count);
  const parameters first =
      from({{"max", "10"}, {"after_priority", "2147483648"}, {"after_id", "0"}});
  const parameters deep = from({{"max", "10"}, {"after_priority", "-1"}, {"after_id", "100"}});
  const parameters times = from({{"state", "2"},
                                 {"max", "10"},
                                 {"after_at", std::to_string(std::stoll(start) + 7200000)},
                                 {"after_priority", "0"},
                                 {"after_id", "1"}});
  const parameters one = from({{"id", here().one_item(7)},
                               {"priority", here().one_item(1)},
                               {"states", "53"},
                               {"regroup", "0"},
                               {"now", "NULL"}});
  std::vector<read> reads;
  for (const std::string detail : {"", "_outline", "_seen"}) {
    for (const parameters& page : {first, deep}) {
      reads.push_back({.name = "claim.list_ready" + detail, .with = page, .bounded_sort = true});
      reads.push_back({.name = "claim.list_held" + detail, .with = page, .bounded_sort = true});
    }
    reads.push_back({.name = "claim.list_waiting" + detail, .with = times, .bounded_sort = true});
    reads.push_back({.name = "claim.get" + detail, .with = one});
  }
  reads.push_back({.name = "claim.filter", .with = filter("0"), .bounded_sort = true});
  reads.push_back({.name = "claim.groups",
                   .with = from({{"max", "10"}, {"groups", "10"}}),
                   .bounded_sort = true});
  reads.push_back({.name = "claim.notes", .with = one});
  reads.push_back({.name = "claim.outcome", .with = one});
  reads.push_back({.name = "claim.state_of", .with = one});
  reads.push_back({.name = "claim.find", .with = {{"key", "'k'"}, {"now", "NULL"}}});
  reads.push_back({.name = "claim.cancel", .with = one, .bounded_sort = true});
  reads.push_back({.name = "claim.set_priority", .with = one, .bounded_sort = true});
  reads.push_back({.name = "claim.make_ready", .with = one, .bounded_sort = true});
  expect_constant(reads, "jobs", rows("1", "3600000", many));
}

TEST_P(plan, of_figures_is_bounded_over_any_backlog) {
  const parameters bounded = from({{"max", "20"}, {"now", "NULL"}});
  for (const std::string kind : {"fifo", "lifo"}) {
    any_queue(db(), tableq::parse_kind(kind), kind).put_all(numbered(50));
    expect_constant({{.name = kind + ".stats", .with = bounded, .bounded_sort = true}}, kind,
                    {.columns = "payload", .values = here().bytes_literal("x"), .count = many});
  }
  any_queue(db(), tableq::kind::pending, "pending").put_all(numbered(50));
  expect_constant({{.name = "pending.stats", .with = bounded, .bounded_sort = true}}, "pending",
                  {.columns = "payload, due_at",
                   .values = here().bytes_literal("x") + ", " + now() + " + n % 2 * 3600000",
                   .count = many});
  any_queue(db(), tableq::kind::claim, "claim").put_all(numbered(50));
  expect_constant(
      {{.name = "claim.stats", .with = bounded, .bounded_sort = true}}, "claim",
      {.columns = "payload, state, due_at, finished_at",
       .values = here().bytes_literal("x") + ", n % 6, CASE WHEN n % 6 IN (1, 2) THEN " + now() +
                 " + n % 2 * 3600000 ELSE 0 END"
                 ", CASE WHEN n % 6 IN (3, 4) THEN " +
                 now() + " END",
       .count = many});
}

TEST_P(plan, of_the_count_of_dead_letters_is_bounded_however_many_there_are) {
  any_queue(db(), tableq::kind::claim, "morgue").put_all(numbered(50));
  const parameters bounded = from({{"max", "20"}, {"source", "'mail'"}});
  expect_constant({{.name = "claim.letters", .with = bounded, .bounded_sort = true}}, "morgue",
                  {.columns = "payload, headers",
                   .values = here().bytes_literal("x") + ", '{\"tableq-source\":\"mail\"}'",
                   .count = many});
}

TEST_P(plan, of_what_limits_ask_is_constant_over_many_delayed) {
  auto jobs = db().claim("jobs");
  any_queue(db(), tableq::kind::claim, "jobs").put_all(numbered(50));
  jobs.set_limits({.concurrency = 10});
  ASSERT_EQ(jobs.take(5, {.lease = 1h}).size(), 5U);
  // A bounded count is printed as a scan; only its work is checked.
  const parameters most = from({{"enough", "0"}, {"max", "20"}, {"now", "NULL"}});
  const std::vector<read> reads = {{.name = "claim.leased",
                                    .with = from({{"max", "10"}, {"now", "NULL"}}),
                                    .bounded_sort = true},
                                   {.name = "claim.count", .with = most, .bounded_sort = true},
                                   {.name = "queue.count", .with = most, .bounded_sort = true}};
  expect_constant(reads, "jobs",
                  {.columns = "payload, state, due_at",
                   .values = here().bytes_literal("x") + ", 2, " + now() + " + 7200000 + n",
                   .count = many});
}

TEST_P(plan, of_looks_is_constant_over_many_deleted_under_a_held_snapshot) {
  if (!db_lingers()) GTEST_SKIP() << "deleted rows leave the indexes of this database";
  constexpr std::int64_t some = 15'000;
  const std::string far = "1000000";
  // The order of the ids is not that of the rows: neighbours in an index are on different pages.
  const std::string scattered = "n * 7919 % 15000";
  const auto reader = here().session();
  *reader << "BEGIN ISOLATION LEVEL REPEATABLE READ";
  *reader << "SELECT txid_current_snapshot()";
  const auto add_live = [&](const std::string& table) {
    here().sql("INSERT INTO " + table + " (id, payload) SELECT " + far + " + n, " +
               here().bytes_literal("x") + " FROM generate_series(1, 50) AS numbers (n)");
  };
  auto jobs = db().claim("jobs");
  jobs.set_limits({.concurrency = 10});
  add_live("jobs");
  const std::string passed = now();
  const auto begin = [&](const parameters& with) { return from(with, far, far, passed); };
  const parameters first = begin({{"max", "10"}, {"now", "NULL"}, {"source", "'mail'"}});
  const parameters page =
      begin({{"max", "10"}, {"after_priority", "2147483648"}, {"after_id", "0"}});
  const auto in_state = [&](const char* state) { return begin(page_of(state)); };
  const parameters room = begin({{"enough", "0"}, {"max", "20"}, {"now", "NULL"}});
  const parameters much = begin({{"enough", "100"}, {"max", "20"}, {"now", "NULL"}});
  std::vector<read> looks = {{.name = "claim.peek", .with = first, .bounded_sort = true},
                             {.name = "claim.stats_from", .with = first, .bounded_sort = true},
                             {.name = "claim.letters", .with = first, .bounded_sort = true},
                             {.name = "claim.groups",
                              .with = begin({{"max", "10"}, {"groups", "10"}}),
                              .bounded_sort = true},
                             {.name = "claim.next_due", .with = first, .bounded_sort = true},
                             {.name = "claim.count_from", .with = room, .bounded_sort = true},
                             {.name = "claim.count_from", .with = much, .bounded_sort = true},
                             {.name = "claim.leased", .with = first, .bounded_sort = true}};
  const parameters advance =
      begin({{"limit", "1"}, {"hold", "1"}, {"group", here().one_text_item("g")}});
  parameters limited = advance;
  limited.insert({{"queue", "'jobs'"}, {"starts", "'{1}'"}, {"alarm_at", "'{NULL}'"}});
  looks.push_back({.name = "claim.advance", .with = advance, .bounded_sort = true});
  looks.push_back({.name = "claim.advance_limited", .with = limited, .bounded_sort = true});
  for (const std::string detail : {"", "_outline", "_seen"}) {
    const auto add_list = [&](const std::string& name, const parameters& with) {
      looks.push_back({.name = name + detail, .with = with, .bounded_sort = true});
    };
    add_list("claim.list_ready", page);
    add_list("claim.list_held", page);
    for (const char* const state : {"1", "2"}) add_list("claim.list_waiting", in_state(state));
    for (const char* const state : {"3", "4"}) add_list("claim.list", in_state(state));
  }
  // Each of them leaves an entry in the index of each state.
  expect_constant(looks, "jobs", [&] {
    here().insert_many("jobs", "id, payload, group_key, state, fence",
                       scattered + ", " + here().bytes_literal("x") + ", 'g', 5, n % 2", some);
    const auto update = [&](const std::string& set) {
      here().sql("UPDATE jobs SET " + set + " WHERE id < " + far);
    };
    update("state = 0");
    update("state = 1, due_at = " + now() + " + 3600000 + id * 7919 % 15000");
    update("state = 3, due_at = 0, finished_at = id * 7919 % 15000");
    update("state = 4");
    here().sql("DELETE FROM jobs WHERE id < " + far);
  });
  static_cast<void>(db().fifo("mail"));
  add_live("mail");
  const std::vector<read> plain = {{.name = "fifo.peek", .with = first, .in_key_order = true},
                                   {.name = "fifo.stats", .with = first, .bounded_sort = true},
                                   {.name = "queue.count", .with = room, .bounded_sort = true}};
  expect_constant(plain, "mail", [&] {
    here().insert_many("mail", "id, payload", scattered + ", " + here().bytes_literal("x"), some);
    here().sql("DELETE FROM mail WHERE id < " + far);
  });
}

TEST_P(plan, of_the_figures_of_batches_is_bounded_over_many_settled_members_under_a_held_snapshot) {
  if (!db_lingers()) GTEST_SKIP() << "deleted rows leave the indexes of this database";
  auto jobs = db().claim("jobs", {.batches = true});
  const std::string id = std::to_string(jobs.begin_batch().id());
  const auto reader = here().session();
  *reader << "BEGIN ISOLATION LEVEL REPEATABLE READ";
  *reader << "SELECT txid_current_snapshot()";
  const std::string columns = "queue, message, batch";
  here().insert_many("tableq_members", columns, "1, 1000000 + n, " + id, 50);
  const read list{.name = "batch.list",
                  .with = {{"first", id}, {"last", id}, {"max", "1"}, {"count_to", "20"}},
                  .bounded_sort = true};
  expect_constant({list}, "jobs", [&] {
    here().insert_many("tableq_members", columns, "1, n, " + id, 15'000);
    here().sql("DELETE FROM tableq_members WHERE message < 1000000");
  });
}

}  // namespace
