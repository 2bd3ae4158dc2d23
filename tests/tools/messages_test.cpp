#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using nlohmann::json;

class tool_messages : public tool_test {
 protected:
  void SetUp() override {
    tool_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    done({"create", "claim", "jobs"});
  }
};
TABLEQ_ON_BACKENDS(tool_messages, distinct_backends);

TEST_P(tool_messages, are_listed_by_state) {
  EXPECT_TRUE(contains(run({"list", "jobs"}).err, "no message is ready; --state"));
  done({"enqueue", "jobs", "a", "b", "c"});
  done({"enqueue", "jobs", "later", "--delay", "1h"});
  EXPECT_EQ(db().claim("jobs").take(1, {.lease = 1h}).size(), 1U);
  const auto ready = lines_of(done({"list", "jobs", "--json"}));
  ASSERT_EQ(ready.size(), 2U);
  EXPECT_EQ(json::parse(ready[0]).at("payload"), "b");
  EXPECT_EQ(lines_of(done({"list", "jobs", "--count", "1", "--json"})).size(), 1U);
  const json leased = json::parse(done({"list", "jobs", "--state", "leased", "--json"}));
  EXPECT_EQ(leased.at("payload"), "a");
  EXPECT_EQ(leased.at("state"), "leased");
  EXPECT_EQ(json::parse(done({"list", "jobs", "--state", "delayed", "--json"})).at("payload"),
            "later");
  const auto table = lines_of(done({"list", "jobs"}));
  ASSERT_EQ(table.size(), 3U);
  EXPECT_TRUE(table[0].starts_with("ID  STATE  PRIORITY  ATTEMPTS  CREATED"));
  EXPECT_TRUE(contains(table[1], "  ready  ")) << table[1];
  EXPECT_EQ(run({"list", "jobs", "--state", "dead"}).status, 1);
  EXPECT_EQ(run({"list", "jobs", "--state", "held"}).status, 1);
}

TEST_P(tool_messages, are_found_by_id_and_by_key) {
  done({"enqueue", "jobs", "a", "--key", "k"});
  const json found = json::parse(done({"get", "jobs", "--key", "k"}));
  EXPECT_EQ(found.at("payload"), "a");
  const std::string id = found.at("id").dump();
  EXPECT_EQ(json::parse(done({"get", "jobs", id})), found);
  EXPECT_EQ(lines_of(done({"get", "jobs", id, "999"})).size(), 1U);
  EXPECT_EQ(run({"get", "jobs", "999"}).status, 1);
  EXPECT_TRUE(contains(run({"get", "jobs", "999"}).err, "there is no such message"));
  EXPECT_EQ(run({"get", "jobs", "--key", "other"}).status, 1);
}

TEST_P(tool_messages, show_headers_that_cannot_be_read) {
  done({"enqueue", "jobs", "a"});
  here().lift_checks("jobs");
  here().sql("UPDATE jobs SET headers = '[\"a\"]'");
  const json found = json::parse(done({"list", "jobs", "--json"}));
  EXPECT_EQ(found.at("headers"), json::object());
  EXPECT_EQ(found.at("unread_headers"), "[\"a\"]");
}

TEST_P(tool_messages, are_cancelled) {
  done({"enqueue", "jobs", "a", "b"});
  const auto taken = db().claim("jobs").take(1);
  ASSERT_EQ(taken.size(), 1U);
  const std::string leased = std::to_string(taken[0].receipt.id.value);
  const std::string ready = json::parse(done({"list", "jobs", "--json"})).at("id").dump();
  EXPECT_EQ(done({"cancel", "jobs", leased, ready, "999"}),
            leased + " running\n" + ready + " cancelled\n999 not found\n");
  EXPECT_EQ(run({"cancel", "jobs", leased}).status, 1);
}

TEST_P(tool_messages, get_another_priority) {
  done({"enqueue", "jobs", "a", "b"});
  const auto lines = lines_of(done({"list", "jobs", "--json"}));
  const std::string second = json::parse(lines.at(1)).at("id").dump();
  EXPECT_EQ(done({"priority", "jobs", second, "--to", "3"}), second + " changed\n");
  EXPECT_EQ(done({"peek", "jobs"}), "b\n");
  EXPECT_EQ(done({"priority", "jobs", second, "--to=-3"}), second + " changed\n");
  EXPECT_EQ(done({"peek", "jobs"}), "a\n");
}

TEST_P(tool_messages, are_listed_and_changed_by_conditions) {
  auto jobs = db().claim("jobs");
  for (int i = 0; i < 6; ++i) {
    jobs.enqueue("p" + std::to_string(i), {.delay = std::chrono::hours(i % 2),
                                           .headers = {{"tenant", i < 4 ? "a" : "b"}},
                                           .key = "k" + std::to_string(i)});
  }
  EXPECT_EQ(lines_of(done({"list", "jobs", "--header", "tenant=b", "--json"})).size(), 2U);
  EXPECT_EQ(lines_of(done({"list", "jobs", "--key-prefix", "k", "--count", "5", "--json"})).size(),
            5U);
  EXPECT_EQ(done({"ready", "jobs", "--header", "tenant=a", "--dry-run"}), "2\n");
  EXPECT_EQ(done({"ready", "jobs", "--header", "tenant=a"}), "2\n");
  EXPECT_EQ(run({"ready", "jobs", "--header", "tenant=a"}).status, 1);
  EXPECT_EQ(done({"ready", "jobs", std::to_string(jobs.find("k5")->id.value)}),
            std::to_string(jobs.find("k5")->id.value) + " ready\n");
  EXPECT_EQ(done({"priority", "jobs", "--key-prefix", "k3", "--to", "9"}), "1\n");
  const auto taken = jobs.take(1);
  EXPECT_EQ(taken.at(0).payload, "p3");
  const ended skipped = run({"cancel", "jobs", "--all"});
  EXPECT_EQ(skipped.out, "5\n");
  EXPECT_TRUE(contains(skipped.err, "skipped: 1, which are leased"));
  ASSERT_EQ(jobs.fail(taken.at(0).receipt, "no way", {.give_up = true}),
            tableq::settle_result::applied);
  EXPECT_EQ(run({"redrive", "jobs", "--error", "other"}).status, 1);
  EXPECT_EQ(done({"redrive", "jobs", "--error", "no way", "--dry-run"}), "1\n");
  EXPECT_EQ(done({"redrive", "jobs", "--error", "no way"}), "1\n");
  ASSERT_EQ(jobs.fail(jobs.take(1).at(0).receipt, "no way", {.give_up = true}),
            tableq::settle_result::applied);
  EXPECT_EQ(done({"purge", "jobs", "--dead", "--key-prefix", "x"}), "0\n");
  EXPECT_EQ(done({"purge", "jobs", "--all"}), "1\n");
  for (const words& arguments :
       {words{"cancel", "jobs", "1", "--all"}, words{"cancel", "jobs"},
        words{"cancel", "jobs", "--dry-run"}, words{"cancel", "jobs", "--state", "leased"},
        words{"ready", "jobs", "--state", "dead"}, words{"redrive", "jobs"},
        words{"list", "--header", "a=b"}, words{"list", "jobs", "--header", "a"},
        words{"purge", "jobs", "--done", "--state", "dead"}, words{"priority", "jobs", "--all"}}) {
    TABLEQ_EXPECT_REFUSAL(2, run(arguments));
  }
}

TEST_P(tool_messages, that_an_action_changes_are_told_as_objects) {
  auto jobs = db().claim("jobs");
  for (const char* each : {"a", "b", "c"}) jobs.enqueue(each, {.delay = 1h});
  const auto told = [&](words arguments) {
    arguments.insert(arguments.begin() + 1, {"jobs", "--json"});
    return json::parse(run(arguments).out);
  };
  const auto counted = [](int count, int running = 0) {
    return json{{"count", count},
                {"at_least", json::array()},
                {"running", running},
                {"changed", 0},
                {"key_held", 0}};
  };
  EXPECT_EQ(told({"ready", "1"}), (json{{"id", 1}, {"outcome", "ready"}}));
  EXPECT_EQ(told({"priority", "1", "--to", "5"}), (json{{"id", 1}, {"outcome", "changed"}}));
  EXPECT_EQ(told({"priority", "--all", "--to", "9"}), counted(3));
  EXPECT_EQ(told({"ready", "--all", "--dry-run"}), counted(2));
  const auto taken = jobs.take(1);
  EXPECT_EQ(told({"cancel", "1"}), (json{{"id", 1}, {"outcome", "running"}}));
  EXPECT_EQ(told({"cancel", "9"}), (json{{"id", 9}, {"outcome", "not_found"}}));
  const ended skipped = run({"cancel", "jobs", "--all", "--json"});
  EXPECT_EQ(json::parse(skipped.out), counted(2, 1));
  EXPECT_EQ(skipped.err, "");
  ASSERT_EQ(jobs.fail(taken.at(0).receipt, "no way", {.give_up = true}),
            tableq::settle_result::applied);
  EXPECT_EQ(told({"redrive", "7"}), counted(0));
  EXPECT_EQ(told({"redrive", "--all", "--count", "1"}), counted(1));
  EXPECT_EQ(told({"purge"}), counted(0));
}

TEST_P(tool_messages, of_a_queue_follow_options_that_change) {
  auto jobs = db().claim("jobs");
  EXPECT_EQ(done({"alter", "jobs", "--lease", "1m", "--dry-run"}),
            "lease_ms  30000  ->  60000  a program that gives its own keeps it\n");
  EXPECT_EQ(json::parse(run({"alter", "jobs", "--key-window", "1h", "--dry-run", "--json"}).out),
            (json{{"option", "key_window_ms"},
                  {"before", nullptr},
                  {"after", "3600000"},
                  {"refused_at_open", true}}));
  EXPECT_EQ(jobs.lease(), std::chrono::seconds(30));
  const ended altered = run({"alter", "jobs", "--max-attempts", "1", "--retry", "0s", "--ttl", "1h",
                             "--keep-completed", "yes", "--key-window", "1h", "--dead-letters",
                             "letters", "--retain-done", "7d"});
  EXPECT_EQ(altered.status, 0);
  EXPECT_TRUE(contains(altered.err, "refused at its next start"));
  EXPECT_TRUE(contains(altered.err, "if users have roles, grant them again"));
  EXPECT_TRUE(contains(done({"list"}), "retain_done=7d"));
  jobs = db().claim("jobs");
  jobs.enqueue("x");
  EXPECT_EQ(jobs.fail(jobs.take(1).at(0).receipt, "no"), tableq::settle_result::applied);
  EXPECT_EQ(db().claim("letters").stats().ready, 1U);
  EXPECT_EQ(run({"alter", "jobs", "--max-attempts", "1"}).status, 1);
  const ended back =
      run({"alter", "jobs", "--dead-letters", "none", "--ttl", "none", "--retain-done", "none"});
  EXPECT_EQ(back.status, 0);
  EXPECT_TRUE(contains(back.err, "dead messages of the queue wait in letters"));
  EXPECT_EQ(db().find("jobs")->dead_letters, "");
  for (const words& arguments :
       {words{"alter", "jobs", "--strict", "maybe"}, words{"alter", "jobs", "--groups", "2"},
        words{"alter", "jobs", "--lease", "0s"}, words{"alter", "nowhere", "--lease", "1s"},
        words{"alter", "jobs"}, words{"alter", "jobs", "--dry-run", "--json"},
        words{"alter", "jobs", "--dead-letters", ""}, words{"doctor", "--mapping", "/dev/zero"}}) {
    EXPECT_NE(run(arguments).status, 0);
  }
}

TEST_P(tool_messages, that_are_dead_may_be_hidden_from_who_changes_options) {
  const auto schema = here().other_schema();
  const auto user = schema ? here().new_user() : std::nullopt;
  if (!user) GTEST_SKIP() << "this database, or this user, knows no rights";
  const tableq::claim_options options{.dead_letters = "letters"};
  static_cast<void>(open({.schema_name = *schema}).claim("jobs", options));
  here().sql(tableq::grants(db().backend(), tableq::role::owner, user->name, "jobs",
                            {.kind = tableq::kind::claim, .claim = options},
                            {.schema_name = *schema}));
  const ended altered =
      run({"alter", "jobs", "--dead-letters", "none", "--schema", *schema, "--db", user->url});
  EXPECT_EQ(altered.status, 0) << altered.err;
  EXPECT_TRUE(contains(altered.out, "letters  ->  none")) << altered.out;
}

TEST_P(tool_messages, that_are_dead_or_in_groups_follow_options_that_change) {
  auto jobs = db().claim("grouped", {.max_attempts = 1, .groups = {.enabled = true}});
  const ended altered = run({"alter", "grouped", "--retain-dead", "7d", "--groups", "2"});
  EXPECT_EQ(altered.status, 0) << altered.err;
  EXPECT_TRUE(contains(altered.out, "group_limit     1     ->  2")) << altered.out;
  EXPECT_TRUE(contains(altered.out, "retain_dead_ms  none  ->  604800000")) << altered.out;
  EXPECT_FALSE(contains(altered.err, "if users have roles, grant them again")) << altered.err;
  EXPECT_TRUE(contains(run({"alter", "grouped", "--keep-completed", "yes", "--dry-run"}).err,
                       "if users have roles, grant them again"));
  jobs = db().claim("grouped");
  for (const char* each : {"a", "b", "c"}) jobs.enqueue(each, {.group = "one"});
  EXPECT_EQ(jobs.take(3).size(), 2U);
  EXPECT_EQ(db().find("grouped")->retention.dead, std::chrono::days(7));
  EXPECT_NE(run({"alter", "grouped", "--groups", "0"}).status, 0);
}

TEST_P(tool_messages, are_of_claim_queues_only_and_named_well) {
  done({"create", "fifo", "mail"});
  for (const words& arguments :
       {words{"list", "mail"}, words{"get", "mail", "1"}, words{"cancel", "mail", "1"},
        words{"priority", "mail", "1", "--to", "1"}, words{"list", "jobs", "--state", "lost"},
        words{"list", "--state", "ready"}, words{"get", "jobs"}, words{"get", "jobs", "x"},
        words{"get", "jobs", "1", "--key", "k"}, words{"cancel", "jobs"},
        words{"cancel", "jobs", "0"}, words{"priority", "jobs", "1"},
        words{"priority", "jobs", "1", "--to", "high"}}) {
    TABLEQ_EXPECT_REFUSAL(2, run(arguments));
  }
}

TEST_P(tool_messages, are_counted_up_to_a_limit_or_exactly) {
  auto mail = db().fifo("mail");
  mail.enqueue_batch(std::vector<tableq::new_message>(10'001, {.payload = "x"}));
  const json shown = json::parse(done({"stats", "mail", "--json"}));
  EXPECT_EQ(shown.at("ready"), 10'000);
  EXPECT_EQ(shown.at("at_least"), json({"ready"}));
  EXPECT_TRUE(contains(done({"stats", "mail"}), "10000+"));
  const json exact = json::parse(done({"stats", "mail", "--json", "--exact"}));
  EXPECT_EQ(exact.at("ready"), 10'001);
  EXPECT_TRUE(exact.at("at_least").empty());
}

}  // namespace
