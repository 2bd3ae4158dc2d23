#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class tool_create : public tool_test {};
TABLEQ_ON_BACKENDS(tool_create, distinct_backends);

TEST_P(tool_create, makes_a_queue_of_each_kind) {
  for (const tableq::kind kind : all_kinds()) {
    const std::string name{tableq::to_string(kind)};
    EXPECT_EQ(done({"create", name, "q-" + name}), "");
    ASSERT_TRUE(db().find("q-" + name));
    EXPECT_EQ(db().find("q-" + name)->kind, kind);
  }
}

TEST_P(tool_create, stores_the_options) {
  done({"create", "fifo", "ledger", "--strict"});
  EXPECT_EQ(db().find("ledger")->ordering, tableq::ordering::strict);
  done({"create", "claim", "jobs", "--lease", "2m", "--max-attempts", "3", "--keep-completed"});
  EXPECT_EQ(db().find("jobs")->lease, 2min);
  EXPECT_EQ(db().find("jobs")->max_attempts, 3);
  EXPECT_TRUE(db().find("jobs")->keep_completed);
  done({"create", "claim", "resting", "--retry", "1s,10s,1m"});
  EXPECT_EQ(db().find("resting")->retry,
            (tableq::retry_delays{.after = {1s, 10s, 60s}, .jitter = 0}));
  done({"create", "claim", "usual"});
  EXPECT_EQ(db().find("usual")->retry, tableq::retry_delays::usual());
  EXPECT_TRUE(contains(done({"ddl", "sqlite", "claim", "usual"}),
                       "retry_ms=1000,5000,30000,300000 jitter=20"));
  done({"create", "claim", "hasty", "--retry", "0s"});
  EXPECT_EQ(db().find("hasty")->retry, tableq::retry_delays::fixed(0s));
  done({"create", "claim", "mail", "--ttl", "1d", "--key-window", "5m", "--groups", "2",
        "--groups-pass", "--dead-letters", "morgue"});
  const tableq::queue_info mail = *db().find("mail");
  EXPECT_EQ(mail.time_to_live, 24h);
  EXPECT_EQ(mail.key_window, 5min);
  EXPECT_EQ(mail.groups, (tableq::group_options{2, tableq::group_policy::pass}));
  EXPECT_EQ(mail.dead_letters, "morgue");
  EXPECT_TRUE(db().find("morgue"));
  done({"create", "claim", "turns", "--groups", "1", "--groups-by-turns"});
  EXPECT_TRUE(db().find("turns")->groups->by_turns);
  EXPECT_NE(done({"list"}).find("groups=1 groups_by_turns"), std::string::npos);
  done({"create", "claim", "index", "--free-keys"});
  EXPECT_EQ(db().find("index")->keys, tableq::key_scope::waiting);
}

TEST_P(tool_create, twice_is_harmless_and_keeps_the_messages) {
  done({"create", "claim", "jobs", "--lease", "1m"});
  done({"enqueue", "jobs", "work"});
  done({"create", "claim", "jobs", "--lease", "60s"});
  done({"create", "claim", "jobs"});
  EXPECT_EQ(done({"peek", "jobs"}), "work\n");
}

TEST_P(tool_create, says_in_json_whether_the_queue_was_there) {
  EXPECT_EQ(done({"create", "claim", "jobs", "--json"}),
            "{\"queue\":\"jobs\",\"outcome\":\"created\"}\n");
  EXPECT_EQ(done({"create", "claim", "jobs", "--json"}),
            "{\"queue\":\"jobs\",\"outcome\":\"exists\"}\n");
}

TEST_P(tool_create, refuses_to_look_as_if_it_had_changed_a_queue) {
  done({"create", "claim", "jobs", "--lease", "1m"});
  done({"create", "fifo", "mail"});
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "claim", "jobs", "--lease", "2m"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "claim", "jobs", "--keep"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "claim", "jobs", "--retry", "1s"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "claim", "other", "--retry", "1s,soon"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "claim", "jobs", "--groups", "1"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "claim", "other", "--groups-pass"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "claim", "other", "--groups-by-turns"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "fifo", "other", "--groups-by-turns"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "claim", "other", "--ttl", "0s"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "fifo", "other", "--groups", "1"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "fifo", "other", "--retry", "1s"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "fifo", "mail", "--strict"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"create", "lifo", "mail"}));
  EXPECT_EQ(db().find("jobs")->lease, 1min);
}

TEST_P(tool_create, creates_nothing_when_it_may_only_verify) {
  TABLEQ_EXPECT_REFUSAL(3, run({"create", "fifo", "mail", "--verify-only"}));
  EXPECT_TRUE(db().queues().empty());
}

TEST_P(tool_create, takes_the_address_before_and_after_the_command) {
  EXPECT_EQ(run_alone({"--db", here().url(), "create", "fifo", "one"}).status, 0);
  EXPECT_EQ(run_alone({"create", "fifo", "two", "--db", here().url()}).status, 0);
  EXPECT_EQ(run_alone({"create", "fifo", "three", "--db=" + here().url()}).status, 0);
  EXPECT_EQ(db().queues().size(), 3U);
}

TEST_P(tool_create, the_address_given_counts_more_than_the_environment) {
  const start_options other{.environment = {"TABLEQ_DB=nowhere://at-all"}};
  EXPECT_EQ(run_alone({"create", "fifo", "mail", "--db", here().url()}, other).status, 0);
  EXPECT_TRUE(db().find("mail"));
}

TEST_P(tool_create, queues_with_another_prefix_are_other_queues) {
  done({"--prefix", "one_", "create", "fifo", "mail"});
  done({"create", "lifo", "mail", "--prefix", "two_"});
  EXPECT_EQ(run({"list"}).status, 1);
  EXPECT_TRUE(contains(done({"list", "--prefix", "one_"}), "fifo"));
  EXPECT_TRUE(contains(done({"list", "--prefix", "two_"}), "lifo"));
}

TEST_P(tool_create, a_schema_can_be_chosen_where_there_are_any) {
  const auto schema = here().other_schema();
  if (!schema) GTEST_SKIP() << "this database has no schemas";
  done({"create", "fifo", "mail", "--schema", *schema});
  done({"enqueue", "mail", "there", "--schema", *schema});
  EXPECT_EQ(run({"list"}).status, 1);
  EXPECT_EQ(done({"dequeue", "mail", "--schema", *schema}), "there\n");
}

TEST_P(tool_create, ddl_prints_the_statements_of_a_queue) {
  const std::string dialect = db().backend();
  const std::string all = done({"ddl", dialect, "claim", "jobs", "--statements"});
  for (const char* each : {"claim.enqueue", "claim.take", "claim.complete", ":max", "jobs"}) {
    EXPECT_TRUE(contains(all, each)) << each;
  }
  EXPECT_FALSE(contains(all, "{table}"));
  TABLEQ_EXPECT_REFUSAL(2, run({"ddl", dialect, "claim", "jobs", "--statements", "--grant",
                                "viewer", "--user", "someone"}));
}

TEST_P(tool_create, what_ddl_prints_makes_the_queue) {
  const std::string dialect = db().backend();
  for (const tableq::kind kind : all_kinds()) {
    const std::string name{tableq::to_string(kind)};
    const ended printed = run_alone({"ddl", dialect, name, "by-hand-" + name});
    ASSERT_EQ(printed.status, 0) << printed.err;
    here().sql(printed.out);
    done({"enqueue", "by-hand-" + name, "works", "--verify-only"});
    EXPECT_EQ(done({"peek", "by-hand-" + name}), "works\n");
  }
  const ended claim = run_alone({"ddl", dialect, "claim", "jobs", "--lease", "7s", "--keep"});
  here().sql(claim.out);
  EXPECT_EQ(db().find("jobs")->lease, 7s);
  EXPECT_TRUE(db().find("jobs")->keep_completed);
  EXPECT_EQ(run({"doctor"}).status, 0);
}

}  // namespace
