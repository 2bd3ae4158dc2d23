// Periodic messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/claim_fixture.hpp"
#include "support/becomes.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::schedule;

/// The clock begins at 2024-01-01T00:00:00Z, a Monday.
class rules : public claim_test {
 protected:
  tableq::schedules all() { return db_with_clock().schedules(); }
  void add(const schedule& rule) {
    jobs();
    all().add(rule);
  }
  static schedule hourly(const std::string& name = "hourly") {
    return {.name = name, .queue = "jobs", .cron = "0 * * * *", .payload = name};
  }
  /// The times for which messages are there now, and completes them.
  std::vector<std::string> times() { return times(jobs()); }
  static std::vector<std::string> times(tableq::claim_queue& from) {
    std::vector<std::string> out;
    for (const tableq::delivery& each : from.take(1000)) {
      out.push_back(each.headers.at("tableq-scheduled-at").substr(5, 11));
      EXPECT_EQ(from.complete(each), tableq::settle_result::applied);
    }
    return out;
  }
  static tableq::timestamp at(std::chrono::milliseconds since_new_year) {
    return tableq::timestamp(1'704'067'200'000ms + since_new_year);
  }
  using texts = std::vector<std::string>;
  /// The schedules of a queue of which doctor complains.
  std::size_t complaints_of(std::string_view queue) {
    std::size_t found = 0;
    for (const tableq::finding& each : db_with_clock().inspect()) {
      if (each.subject == queue && each.what.find("schedule") != std::string::npos) ++found;
    }
    return found;
  }
};
TABLEQ_ON_BACKENDS(rules, all_backends);

class rules_of_shared : public rules {};
TABLEQ_ON_BACKENDS(rules_of_shared, shared_backends);

TEST_P(rules, add_a_message_at_each_time_and_tell_which) {
  add({.name = "nightly",
       .queue = "jobs",
       .cron = "0 2 * * *",
       .zone = "Europe/Berlin",
       .payload = std::string("a\0b", 3),
       .headers = {{"kind", "report"}},
       .priority = 7});
  EXPECT_TRUE(times().empty());
  clock.advance(1h);
  const auto taken = jobs().take(10);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].payload, std::string("a\0b", 3));
  EXPECT_EQ(taken[0].priority, 7);
  EXPECT_EQ(taken[0].headers, (tableq::headers{{"kind", "report"},
                                               {"tableq-schedule", "nightly"},
                                               {"tableq-scheduled-at", "2024-01-01T01:00:00Z"}}));
  EXPECT_EQ(jobs().complete(taken[0]), tableq::settle_result::applied);
  EXPECT_TRUE(times().empty());
  clock.advance(24h);
  EXPECT_EQ(times(), texts{"01-02T01:00"});
}

class rules_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(rules_of_kind, all_backends);

TEST_P(rules_of_kind, serve_a_queue_and_date_messages_without_headers) {
  any_queue mail(db_with_clock(), kind(), "mail");
  db_with_clock().schedules().add({.name = "r", .queue = "mail", .every = 10s, .payload = "x"});
  EXPECT_FALSE(mail.take());
  clock.advance(10'500ms);
  EXPECT_FALSE(mail.in(*std::make_unique<tableq::transaction>(db_with_clock().begin())).take());
  if (kind() == tableq::kind::claim) {
    EXPECT_EQ(mail.take().value().payload, "x");
  } else {
    auto& base = static_cast<tableq::destructive_queue&>(mail.base());
    const auto found = base.dequeue();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->payload, "x");
    EXPECT_EQ(found->created_at, tableq::timestamp(1'704'067'210'000ms));
  }
  EXPECT_FALSE(mail.take());
}

TEST_P(rules_of_shared, add_each_message_once_between_clocks_that_differ) {
  schedule rule{.name = "r", .queue = "jobs", .cron = "* * * * *", .catch_up = 10};
  add(rule);
  manual_clock behind;
  tableq::database other = open({.clock = behind.source()});
  tableq::claim_queue others = other.claim("jobs");
  texts seen;
  for (int i = 0; i < 6; ++i) {
    clock.advance(1min);
    behind.set(clock.now() - 25s);
    for (auto* const from : {&jobs(), &others, &jobs()}) {
      for (std::string& each : times(*from)) seen.push_back(std::move(each));
    }
  }
  EXPECT_EQ(seen, (texts{"01-01T00:01", "01-01T00:02", "01-01T00:03", "01-01T00:04", "01-01T00:05",
                         "01-01T00:06"}));
}

class commit_times final : public tableq::observer {
 public:
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& /*result*/) override {
    if (operation.name == "commit") all.push_back(std::chrono::steady_clock::now());
  }
  std::vector<std::chrono::steady_clock::time_point> all;
};

TEST_P(rules_of_shared, that_are_more_than_a_look_finds_wait_no_second_for_the_next_look) {
  constexpr std::size_t a_look = 50;
  constexpr std::size_t many = 3 * a_look;
  const auto commits = std::make_shared<commit_times>();
  tableq::database real = open({.observer = commits});
  static_cast<void>(real.fifo("mail"));
  std::vector<schedule> yearly;
  yearly.reserve(many);
  for (std::size_t i = 0; i < many; ++i)
    yearly.push_back({.name = std::to_string(i), .queue = "mail", .cron = "@yearly"});
  real.schedules().declare("app", yearly);
  here().sql("UPDATE tableq_schedules SET due_at = 1");
  auto idle = real.claim("idle");
  real.schedules().add({.name = "idle", .queue = "idle", .cron = "@yearly"});
  commits->all.clear();
  ASSERT_TRUE(becomes([&] {
    static_cast<void>(idle.take(1));
    return commits->all.size() >= many;
  }));
  // The reads have as long as the look before took, which a slow machine makes longer.
  std::chrono::nanoseconds least = for_ever;
  for (std::size_t i = a_look; i < many; i += a_look) {
    const auto last = commits->all[i - 1];
    least = std::min<std::chrono::nanoseconds>(
        least, commits->all[i] - last - 2 * (last - commits->all[i - a_look]));
  }
  EXPECT_LT(least, 500ms);
  EXPECT_EQ(real.fifo("mail").dequeue_batch(1000).size(), many);
}

/// Works once, after the next commit of a database object.
class after_a_commit final : public tableq::observer {
 public:
  void after(const tableq::observed_operation& operation,
             const tableq::operation_result& /*result*/) override {
    if (operation.name == "commit" && work) std::exchange(work, {})();
  }
  std::function<void()> work;
};

TEST_P(rules_of_shared, that_another_process_has_paused_or_followed_since_a_look_add_nothing) {
  for (const char* name : {"a", "b", "c"}) add(hourly(name));
  const auto told = std::make_shared<after_a_commit>();
  tableq::database late = open({.clock = clock.source(), .observer = told});
  tableq::claim_queue others = late.claim("jobs");
  clock.advance(1h);
  std::vector<std::string> seen;
  const auto read = [&](tableq::claim_queue& from) {
    for (tableq::delivery& each : from.take(10)) seen.push_back(std::move(each.payload));
  };
  told->work = [&] {  // It has followed `a`, and has looked for the others before.
    std::async(std::launch::async, [&] {
      EXPECT_TRUE(all().pause("b"));
      read(jobs());
    }).get();
  };
  read(others);
  read(others);
  EXPECT_FALSE(told->work);
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (texts{"a", "c"}));
  EXPECT_FALSE(all().find("b")->enabled);
}

TEST_P(rules, stop_while_paused_and_resume_with_the_next_time) {
  add(hourly());
  EXPECT_TRUE(all().pause("hourly"));
  EXPECT_FALSE(all().find("hourly")->enabled);
  EXPECT_TRUE(all().find("hourly")->next.empty());
  clock.advance(3h + 1min);
  EXPECT_TRUE(times().empty());
  EXPECT_TRUE(all().resume("hourly"));
  EXPECT_TRUE(times().empty());
  clock.advance(1h);
  EXPECT_EQ(times(), texts{"01-01T04:00"});
  EXPECT_FALSE(all().pause("other"));
  EXPECT_FALSE(all().resume("other"));
  EXPECT_FALSE(all().remove("other"));
  EXPECT_CODE(not_found, all().change(hourly("other")));
  EXPECT_FALSE(all().run_now("other"));
  EXPECT_FALSE(all().run_now(""));
}

TEST_P(rules, keep_what_a_change_of_some_fields_leaves_alone) {
  const tableq::schedule nightly = {.name = "nightly",
                                    .queue = "jobs",
                                    .cron = "0 2 * * *",
                                    .zone = "Europe/Berlin",
                                    .payload = "report",
                                    .priority = 4};
  jobs();
  auto stored = db_with_clock().schedules();
  stored.add(nightly);
  int calls = 0;
  EXPECT_TRUE(stored.change("nightly", [&](tableq::schedule& rule) {
    // Somebody else changes it meanwhile.
    if (++calls == 1) {
      tableq::schedule other = rule;
      other.payload = "long report";
      stored.change(other);
    }
    rule.cron = "30 3 * * *";
  }));
  EXPECT_EQ(calls, 2);
  tableq::schedule changed = nightly;
  changed.cron = "30 3 * * *";
  changed.payload = "long report";
  EXPECT_EQ(stored.find("nightly")->rule, changed);
  EXPECT_FALSE(stored.change("daily", [](tableq::schedule&) {}));
  EXPECT_CODE(invalid_argument,
              stored.change("nightly", [](tableq::schedule& rule) { rule.name = "other"; }));
  EXPECT_CODE(invalid_argument,
              stored.change("nightly", [](tableq::schedule& rule) { rule.cron = "wrong"; }));
  EXPECT_EQ(stored.find("nightly")->rule, changed);
}

TEST_P(rules, are_told_by_an_option_of_their_queue_while_there_are_some) {
  jobs();
  EXPECT_FALSE(db_with_clock().find("jobs")->schedules);
  all().add(hourly());
  all().add(hourly("second"));
  EXPECT_TRUE(db_with_clock().find("jobs")->schedules);
  EXPECT_TRUE(all().remove("hourly"));
  EXPECT_TRUE(db_with_clock().find("jobs")->schedules);
  EXPECT_TRUE(all().remove("second"));
  EXPECT_FALSE(db_with_clock().find("jobs")->schedules);
  clock.advance(1h);
  EXPECT_TRUE(times().empty());
}

TEST_P(rules, move_to_another_queue_with_their_option) {
  add(hourly());
  auto letters = db_with_clock().fifo("letters");
  schedule other = hourly();
  other.queue = "letters";
  all().change(other);
  EXPECT_FALSE(db_with_clock().find("jobs")->schedules);
  EXPECT_TRUE(db_with_clock().find("letters")->schedules);
  clock.advance(1h);
  EXPECT_EQ(letters.dequeue()->payload, "hourly");
}

TEST_P(rules, of_all_queues_are_followed_by_a_reader_of_one) {
  add(hourly());
  auto letters = db_with_clock().fifo("letters");
  schedule other = hourly("other");
  other.queue = "letters";
  all().add(other);
  clock.advance(1h);
  EXPECT_EQ(times(), texts{"01-01T01:00"});
  EXPECT_EQ(letters.peek(10).size(), 1U);
}

TEST_P(rules, run_at_once_beside_their_times) {
  add(hourly());
  clock.advance(10min);
  const auto added = all().run_now("hourly");
  ASSERT_TRUE(added);
  EXPECT_TRUE(added->created());
  EXPECT_TRUE(db_with_clock().claim("jobs").get(added->id));
  EXPECT_EQ(times(), texts{"01-01T00:10"});
  clock.advance(50min);
  EXPECT_EQ(times(), texts{"01-01T01:00"});
}

TEST_P(rules, are_listed_with_their_next_times) {
  add(hourly());
  schedule nightly{
      .name = "nightly", .queue = "jobs", .cron = "30 2 * * *", .zone = "America/New_York"};
  clock.set(tableq::timestamp(1'710'000'000'000ms));  // 2024-03-09T16:00:00Z, before a gap at 02:00
  all().add(nightly);
  const auto found = all().list();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, hourly());
  EXPECT_EQ(found[0].overdue, at(1h));
  EXPECT_EQ(found[1].rule, nightly);
  EXPECT_EQ(found[1].owner, "");
  EXPECT_EQ(found[1].problem, "");
  EXPECT_FALSE(found[1].overdue);
  EXPECT_FALSE(found[1].last);
  const std::chrono::sys_days day = std::chrono::year{2024} / 3 / 10;
  EXPECT_EQ(found[1].next,
            (std::vector<tableq::timestamp>{day + 7h, day + 30h + 30min, day + 54h + 30min,
                                            day + 78h + 30min, day + 102h + 30min}));
}

TEST_P(rules, are_refused_if_they_cannot_be_followed) {
  add(hourly());
  const auto refused = [&](auto change) {
    schedule rule = hourly("new");
    change(rule);
    return code_of([&] { all().add(rule); });
  };
  EXPECT_EQ(refused([](schedule& r) { r.cron = "0 24 * * *"; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.cron.clear(); }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.every = 1min; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.cron.clear(), r.every = 1500ms; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.zone = "Europe/Nowhere"; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.name = "hourly"; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.name = ""; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.name = std::string(101, 'x'); }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.catch_up = -1; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.catch_up = 1001; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.not_later_than = -1ms; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.key = ""; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.group = "a"; }), "invalid_argument");
  // A message without the headers of a schedule could have it.
  EXPECT_EQ(refused([](schedule& r) { r.headers["a"] = std::string(65'527, 'x'); }),
            "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.queue = "Jobs"; }), "invalid_argument");
  EXPECT_EQ(refused([](schedule& r) { r.queue = "absent"; }), "not_found");
  static_cast<void>(db_with_clock().heap("heap"));
  for (const auto& change : std::vector<void (*)(schedule&)>{
           [](schedule& r) {
             r.headers = {{"a", "b"}};
           },
           [](schedule& r) { r.key = "k"; }, [](schedule& r) { r.priority = 1; },
           [](schedule& r) { r.skip_if_running = true; }}) {
    EXPECT_EQ(refused([&](schedule& r) { r.queue = "heap", change(r); }), "invalid_argument");
  }
  static_cast<void>(db_with_clock().claim("window", {.key_window = 1h}));
  EXPECT_EQ(refused([](schedule& r) { r.queue = "window", r.skip_if_running = true; }),
            "invalid_argument");
  EXPECT_EQ(all().list().size(), 1U);
  const tableq::error position = thrown_by([&] {
    schedule rule = hourly("new");
    rule.cron = "0 2 * * moon";
    all().add(rule);
  });
  EXPECT_NE(std::string(position.what()).find("character 9"), std::string::npos) << position.what();
}

TEST_P(rules, of_an_owner_become_those_that_it_declares) {
  add(hourly("alone"));
  const auto named = [](const char* name) { return hourly(name); };
  EXPECT_EQ(all().declare("app", {named("a"), named("b"), named("c")}),
            (tableq::declared{.added = 3}));
  EXPECT_EQ(all().declare("other", {named("d")}), (tableq::declared{.added = 1}));
  all().pause("a");
  schedule changed = named("b");
  changed.priority = 4;
  EXPECT_EQ(all().declare("app", {named("a"), changed}),
            (tableq::declared{.changed = 1, .removed = 1}));
  EXPECT_EQ(all().declare("app", {named("a"), changed}), tableq::declared{});
  texts left;
  for (const auto& each : all().list()) left.push_back(each.owner + "/" + each.rule.name);
  EXPECT_EQ(left, (texts{"app/a", "/alone", "app/b", "other/d"}));
  EXPECT_FALSE(all().find("a")->enabled);
  EXPECT_EQ(all().find("b")->rule.priority, 4);
  EXPECT_CODE(invalid_argument, all().declare("app", {named("d")}));
  EXPECT_CODE(invalid_argument, all().declare("app", {named("alone")}));
  EXPECT_CODE(invalid_argument, all().declare("app", {named("e"), named("e")}));
  EXPECT_CODE(invalid_argument, all().declare("", {}));
  EXPECT_EQ(all().declare("app", std::vector<schedule>{}), (tableq::declared{.removed = 2}));
  EXPECT_EQ(all().list().size(), 2U);
}

TEST_P(rules, skip_a_message_while_an_earlier_one_is_in_the_queue) {
  schedule rule = hourly();
  rule.skip_if_running = true;
  add(rule);
  clock.advance(1h);
  const auto first = jobs().take(10, {.lease = 24h});
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].key, "schedule hourly");
  clock.advance(2h);
  EXPECT_TRUE(jobs().take(10).empty());
  EXPECT_EQ(all().find("hourly")->last, at(3h));
  EXPECT_EQ(jobs().complete(first[0]), tableq::settle_result::applied);
  EXPECT_TRUE(jobs().take(10).empty());
  clock.advance(1h);
  EXPECT_EQ(times(), texts{"01-01T04:00"});
}

TEST_P(rules, that_skip_keep_their_queue_from_other_rules_for_keys) {
  schedule rule = hourly();
  rule.skip_if_running = true;
  add(rule);
  EXPECT_CODE(invalid_argument, db_with_clock().alter("jobs", {.keys = tableq::key_scope::waiting},
                                                      {.dry_run = true}));
  EXPECT_CODE(invalid_argument, db_with_clock().alter("jobs", {.key_window = 1h}));
  EXPECT_NO_THROW(db_with_clock().alter("jobs", {.lease = 1h, .key_window = 0ms}));
  rule.skip_if_running = false;
  all().change(rule);
  EXPECT_NO_THROW(db_with_clock().alter("jobs", {.key_window = 1h}));
}

TEST_P(rules, say_that_a_dead_message_holds_their_key) {
  schedule rule = hourly();
  rule.skip_if_running = true;
  add(rule);
  clock.advance(1h);
  const auto first = jobs().take(10);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(jobs().fail(first[0], "broken", {.give_up = true}), tableq::settle_result::applied);
  clock.advance(1h);
  EXPECT_TRUE(jobs().take(10).empty());
  EXPECT_NE(all().find("hourly")->problem.find("dead"), std::string::npos);
  jobs().purge(tableq::message_state::dead);
  clock.advance(1h);
  EXPECT_EQ(times(), texts{"01-01T03:00"});
  EXPECT_EQ(all().find("hourly")->problem, "");
}

TEST_P(rules_of_shared, of_plain_sql_are_checked_when_they_are_first_read) {
  schedule rule = hourly("good");
  add(rule);
  const auto write = [&](const std::string& name, const std::string& cron,
                         const std::string& zone) {
    here().sql("INSERT INTO tableq_schedules (name, queue, cron, zone, payload) SELECT '" + name +
               "', queue, '" + cron + "', '" + zone +
               "', payload FROM tableq_schedules WHERE name = 'good'");
  };
  write("a", "0 25 * * *", "UTC");
  write("b", "0 * * * *", "Mars/Base");
  write("c", "0 * * * *", "UTC");
  EXPECT_TRUE(times().empty());
  clock.advance(1h);
  EXPECT_EQ(times(), (texts{"01-01T01:00", "01-01T01:00"}));
  EXPECT_FALSE(all().find("a")->enabled);
  EXPECT_NE(all().find("a")->problem.find("character 3"), std::string::npos);
  EXPECT_FALSE(all().find("b")->enabled);
  EXPECT_NE(all().find("b")->problem.find("zone"), std::string::npos);
  EXPECT_TRUE(all().find("c")->enabled);
  EXPECT_EQ(complaints_of("jobs"), 2U);
  schedule mended = hourly("a");
  all().change(mended);
  clock.advance(1h);
  EXPECT_EQ(times().size(), 3U);
}

TEST_P(rules, wait_for_room_in_a_full_queue_and_hold_up_no_other) {
  add(hourly());
  auto letters = db_with_clock().fifo("letters");
  schedule other = hourly("other");
  other.queue = "letters";
  all().add(other);
  letters.set_limits({.capacity = 1});
  letters.enqueue("there");
  clock.advance(1h);
  EXPECT_EQ(times(), texts{"01-01T01:00"});
  EXPECT_NE(all().find("other")->problem.find("full"), std::string::npos);
  EXPECT_EQ(all().find("other")->overdue, at(1h));
  EXPECT_EQ(letters.dequeue()->payload, "there");
  clock.advance(5min);
  EXPECT_TRUE(times().empty());
  EXPECT_EQ(all().find("other")->problem, "");
  EXPECT_EQ(letters.dequeue()->created_at, at(1h));
}

TEST_P(rules, that_wait_for_room_hold_up_no_other_however_many_they_are) {
  auto letters = db_with_clock().fifo("letters");
  letters.set_limits({.capacity = 1});
  letters.enqueue("there");
  for (int i = 0; i < 120; ++i) {
    schedule waiting = hourly("a" + std::to_string(i));
    waiting.queue = "letters";
    all().add(waiting);
  }
  add(hourly("z"));
  clock.advance(1h);
  texts found;
  for (int look = 0; look < 5 && found.empty(); ++look) found = times();
  EXPECT_EQ(found, texts{"01-01T01:00"});
}

TEST_P(rules, go_on_into_a_paused_queue) {
  add(hourly());
  jobs().pause();
  clock.advance(1h);
  EXPECT_TRUE(jobs().take(10).empty());
  jobs().resume();
  EXPECT_EQ(times(), texts{"01-01T01:00"});
}

TEST_P(rules_of_shared, of_a_queue_that_has_gone_wait_and_are_told) {
  add(hourly());
  auto letters = db_with_clock().fifo("letters");
  schedule other = hourly("other");
  other.queue = "letters";
  all().add(other);
  here().sql("DELETE FROM tableq_queues WHERE name = 'letters'");
  clock.advance(1h);
  EXPECT_EQ(times(), texts{"01-01T01:00"});
  EXPECT_NE(all().find("other")->problem.find("letters does not exist"), std::string::npos);
  EXPECT_EQ(all().find("other")->overdue, at(1h));
  EXPECT_EQ(complaints_of("letters"), 1U);
}

TEST_P(rules, keep_their_queue_from_being_dropped) {
  add(hourly());
  const tableq::error refused = thrown_by([&] { db_with_clock().drop("jobs"); });
  EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
  EXPECT_NE(std::string(refused.what()).find("schedules remove hourly"), std::string::npos);
  all().remove("hourly");
  EXPECT_TRUE(db_with_clock().drop("jobs"));
}

TEST_P(rules_of_shared, are_not_followed_in_or_beside_a_transaction) {
  add(hourly());
  clock.advance(1h);
  db_with_clock().transact([&](tableq::transaction& tx) {
    EXPECT_TRUE(jobs().in(tx).take(10).empty());
    if (can().concurrent_writers) {
      EXPECT_TRUE(jobs().outside().take(10).empty());
    }
    EXPECT_CODE(invalid_argument, static_cast<void>(all().pause("hourly")));
  });
  EXPECT_EQ(times(), texts{"01-01T01:00"});
}

TEST_P(rules_of_shared, need_layout_3_of_the_catalogue) {
  jobs();
  here().sql("UPDATE tableq_queues SET layout = 2 WHERE name = 'tableq'");
  const tableq::error refused = thrown_by([&] { all().add(hourly()); });
  EXPECT_EQ(refused.code(), tableq::errc::unsupported);
  EXPECT_NE(std::string(refused.what()).find("tableq migrate"), std::string::npos);
  EXPECT_TRUE(all().list().empty());
  EXPECT_TRUE(jobs().take(10).empty());
  EXPECT_EQ(complaints_of("jobs"), 0U);
}

TEST_P(rules, are_followed_for_a_read_that_waits) {
  auto mail = db().fifo("mail");
  db().schedules().add({.name = "r", .queue = "mail", .every = 1s, .payload = "x"});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(mail.dequeue({.wait = for_ever})->payload, "x");
}

TEST_P(rules_of_shared, begin_while_another_process_already_waits) {
  auto mail = db().claim("mail");
  tableq::database other = open();
  EXPECT_TRUE(mail.take(1).empty());
  other.schedules().add({.name = "r", .queue = "mail", .every = 1s, .payload = "x"});
  EXPECT_EQ(mail.take(1, {.wait = for_ever}).front().payload, "x");
}

TEST_P(rules, are_followed_by_a_worker) {
  auto mail = db().claim("mail");
  std::promise<std::string> seen;
  std::atomic<bool> told = false;
  tableq::worker busy(mail, [&](const tableq::delivery& each) {
    if (!told.exchange(true)) seen.set_value(each.headers.at("tableq-schedule"));
  });
  db().schedules().add({.name = "r", .queue = "mail", .every = 1s});
  auto name = seen.get_future();
  ASSERT_EQ(name.wait_for(for_ever), std::future_status::ready);
  EXPECT_EQ(name.get(), "r");
}

}  // namespace
