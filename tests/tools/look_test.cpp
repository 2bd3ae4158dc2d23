#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using nlohmann::json;

class tool_look : public tool_test {};
TABLEQ_ON_BACKENDS(tool_look, distinct_backends);

TEST_P(tool_look, peek_takes_nothing) {
  for (const std::string kind : {"fifo", "claim"}) {
    done({"create", kind, kind});
    done({"enqueue", kind, "a", "b", "c"});
    EXPECT_EQ(done({"peek", kind}), "a\n");
    EXPECT_EQ(done({"peek", kind, "--count", "2"}), "a\nb\n");
    EXPECT_EQ(done({"peek", kind, "--count", "10"}), "a\nb\nc\n");
  }
}

TEST_P(tool_look, peek_shows_the_whole_message_as_json) {
  done({"create", "claim", "jobs"});
  done({"enqueue", "jobs", "work", "--key", "k", "--priority", "2", "--header", "a=b"});
  const json shown = json::parse(done({"peek", "jobs", "--json"}));
  EXPECT_EQ(shown.at("payload"), "work");
  EXPECT_EQ(shown.at("state"), "ready");
  EXPECT_EQ(shown.at("key"), "k");
  EXPECT_EQ(shown.at("priority"), 2);
  EXPECT_EQ(shown.at("attempts"), 0);
  EXPECT_TRUE(shown.at("group").is_null());
  EXPECT_TRUE(shown.at("expires_at").is_null());
  EXPECT_EQ(shown.at("headers").at("a"), "b");
  EXPECT_TRUE(shown.at("errors").empty());
}

TEST_P(tool_look, peek_into_an_empty_queue_is_exit_status_1) {
  done({"create", "fifo", "mail"});
  EXPECT_EQ(run({"peek", "mail"}).status, 1);
}

TEST_P(tool_look, list_shows_kinds_and_options) {
  done({"create", "claim", "jobs", "--lease", "90s"});
  done({"create", "lifo", "stack", "--strict"});
  const std::string table = done({"list"});
  EXPECT_TRUE(contains(table, "jobs   claim  lease=90s max_attempts=5 retry=1s,5s,30s,5m\n"));
  EXPECT_TRUE(contains(table, "stack  lifo   strict\n"));
  const auto lines = lines_of(done({"list", "--json"}));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(json::parse(lines[0]).at("queue"), "jobs");
  EXPECT_EQ(json::parse(lines[0]).at("lease_ms"), 90'000);
  EXPECT_EQ(json::parse(lines[0]).at("keep_completed"), false);
  EXPECT_EQ(json::parse(lines[0]).at("retry_ms"), json({1000, 5000, 30'000, 300'000}));
  EXPECT_TRUE(json::parse(lines[0]).at("group_limit").is_null());
  EXPECT_EQ(json::parse(lines[1]).at("strict"), true);
}

TEST_P(tool_look, nothing_to_list_is_exit_status_1_and_creates_nothing) {
  static_cast<void>(db());  // makes the file of a database that is one
  for (const words& arguments : {words{"list"}, words{"stats"}, words{"list", "--json"}}) {
    const ended end = run(arguments);
    EXPECT_EQ(end.status, 1);
    EXPECT_EQ(end.out + end.err, "");
  }
}

TEST_P(tool_look, stats_count_every_state) {
  auto jobs = db().claim("jobs", {.max_attempts = 1, .keep_completed = true});
  for (int i = 0; i < 10; ++i) jobs.enqueue("work");
  EXPECT_TRUE(jobs.enqueue("later", {.delay = 1h}).created());
  const auto taken = jobs.take(6, {.lease = 1h});
  ASSERT_EQ(jobs.complete(taken.at(0).receipt), tableq::settle_result::applied);
  ASSERT_EQ(jobs.fail(taken.at(1).receipt, "no"), tableq::settle_result::applied);
  ASSERT_EQ(jobs.fail(taken.at(2).receipt, "no"), tableq::settle_result::applied);
  const json shown = json::parse(done({"stats", "jobs", "--json"}));
  EXPECT_EQ(shown.at("ready"), 4);
  EXPECT_EQ(shown.at("delayed"), 1);
  EXPECT_EQ(shown.at("leased"), 3);
  EXPECT_EQ(shown.at("done"), 1);
  EXPECT_EQ(shown.at("dead"), 2);
  EXPECT_TRUE(shown.at("oldest").is_string());
}

TEST_P(tool_look, dead_letters_are_shown_with_the_queue_that_they_left) {
  auto jobs = db().claim("jobs", {.max_attempts = 1, .dead_letters = "morgue"});
  EXPECT_TRUE(contains(done({"list"}), "dead_letters=morgue in_dead_letters=0"));
  jobs.enqueue("letter");
  ASSERT_EQ(jobs.fail(jobs.take(1).at(0).receipt, "no"), tableq::settle_result::applied);
  const json shown = json::parse(done({"stats", "jobs", "--json"}));
  EXPECT_EQ(shown.at("dead"), 0);
  EXPECT_EQ(shown.at("dead_letters"), 1);
  EXPECT_TRUE(json::parse(done({"stats", "morgue", "--json"})).at("dead_letters").is_null());
  EXPECT_TRUE(contains(done({"list"}), "dead_letters=morgue in_dead_letters=1"));
  EXPECT_EQ(json::parse(lines_of(done({"list", "--json"})).at(0)).at("in_dead_letters"), 1);
  const ended doctor = run({"doctor"});
  EXPECT_EQ(doctor.status, 0);
  EXPECT_TRUE(contains(doctor.out, "1 of its messages are dead")) << doctor.out;
  EXPECT_TRUE(contains(run({"dead", "list", "jobs"}).err, "move to morgue, where 1 wait"));
  const ended none = run({"list", "jobs", "--state", "dead"});
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(contains(none.err, "move to morgue, where 1 wait"));
}

TEST_P(tool_look, stats_show_all_queues_when_none_is_named) {
  for (const tableq::kind kind : all_kinds()) {
    done({"create", std::string(tableq::to_string(kind)), std::string(tableq::to_string(kind))});
  }
  done({"enqueue", "fifo", "a", "b"});
  const auto table = lines_of(done({"stats"}));
  EXPECT_EQ(table.size(), 1 + all_kinds().size());
  const auto lines = lines_of(done({"stats", "--json"}));
  ASSERT_EQ(lines.size(), all_kinds().size());
  EXPECT_EQ(json::parse(lines[1]).at("queue"), "fifo");
  EXPECT_EQ(json::parse(lines[1]).at("ready"), 2);
  EXPECT_TRUE(json::parse(lines[1]).at("leased").is_null());
}

TEST_P(tool_look, stats_show_the_other_queues_beside_one_whose_table_is_gone) {
  done({"create", "claim", "lost"});
  done({"create", "fifo", "mail"});
  here().sql("DROP TABLE lost");
  const ended end = run({"stats"});
  EXPECT_EQ(end.status, 3);
  EXPECT_TRUE(contains(end.out, "mail")) << end.out;
  EXPECT_FALSE(contains(end.out, "lost")) << end.out;
  EXPECT_TRUE(contains(end.err, "lost")) << end.err;
}

TEST_P(tool_look, doctor_finds_a_healthy_database_healthy) {
  done({"create", "claim", "jobs"});
  EXPECT_EQ(run({"doctor"}).status, 0);
  for (const std::string& line : lines_of(done({"doctor", "--json"}))) {
    const json found = json::parse(line);
    EXPECT_NE(found.at("severity"), "problem") << line;
    EXPECT_TRUE(found.at("severity") == "ok" || !contains(line, "WAL")) << line;
    EXPECT_EQ(found.at("level"), found.at("severity")) << "programs of 0.2.0 read it";
  }
}

TEST_P(tool_look, doctor_counts_what_is_right_and_shows_it_where_asked) {
  done({"create", "claim", "jobs"});
  std::size_t right = 0;
  for (const std::string& line : lines_of(done({"doctor", "--json"}))) {
    if (json::parse(line).at("severity") == "ok") ++right;
  }
  ASSERT_GT(right, 0U);
  const auto shown = lines_of(done({"doctor"}));
  EXPECT_EQ(shown.back(), "ok: " + std::to_string(right) + " checks; --verbose shows them");
  EXPECT_FALSE(
      std::ranges::any_of(shown, [](const std::string& line) { return line.starts_with("ok "); }));
  const auto all = lines_of(done({"doctor", "--verbose"}));
  EXPECT_EQ(
      std::ranges::count_if(all, [](const std::string& line) { return line.starts_with("ok "); }),
      static_cast<std::ptrdiff_t>(right));
}

TEST_P(tool_look, doctor_reports_a_missing_index_with_the_remedy) {
  done({"create", "claim", "jobs"});
  const auto index = here().sql(here().index_names("jobs")).at(0).at(0);
  here().sql("DROP INDEX " + *index);
  const ended end = run({"doctor"});
  EXPECT_EQ(end.status, 3);
  EXPECT_TRUE(contains(end.out, "problem"));
  EXPECT_TRUE(contains(end.out, "fix: "));
}

}  // namespace
