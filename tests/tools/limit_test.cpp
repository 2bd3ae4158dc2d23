#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using json = nlohmann::json;

class tool_limit : public tool_test {};
TABLEQ_ON_BACKENDS(tool_limit, distinct_backends);

TEST_P(tool_limit, pause_stops_reads_until_resume) {
  done({"create", "fifo", "mail"});
  done({"enqueue", "mail", "a"});
  EXPECT_EQ(done({"pause", "mail"}), "");
  EXPECT_EQ(run({"dequeue", "mail"}).status, 1);
  EXPECT_EQ(done({"peek", "mail"}), "a\n");
  EXPECT_TRUE(contains(done({"doctor"}), "the queue is paused"));
  EXPECT_EQ(done({"resume", "mail"}), "");
  EXPECT_EQ(done({"dequeue", "mail"}), "a\n");
  EXPECT_FALSE(contains(done({"doctor"}), "paused"));
  const std::string paused = done({"pause", "mail", "--json"});
  EXPECT_EQ(json::parse(paused).at("paused"), true);
  EXPECT_EQ(paused, done({"limit", "mail", "--json"}));
  EXPECT_EQ(json::parse(done({"resume", "mail", "--json"})).at("paused"), false);
}

TEST_P(tool_limit, changes_what_is_named_and_leaves_the_rest) {
  done({"create", "claim", "jobs"});
  EXPECT_EQ(json::parse(done({"limit", "jobs", "--json"})),
            json::parse(R"({"queue": "jobs", "paused": false, "capacity": null, "rate": null,
                            "burst": null, "concurrency": null})"));
  EXPECT_EQ(done({"limit", "jobs", "--capacity", "2", "--rate", "0.5", "--burst", "3"}), "");
  done({"pause", "jobs"});
  EXPECT_EQ(json::parse(done({"limit", "jobs", "--concurrency", "4", "--json"})),
            json::parse(R"({"queue": "jobs", "paused": true, "capacity": 2, "rate": 0.5,
                            "burst": 3, "concurrency": 4})"));
  done({"limit", "jobs", "--rate", "none"});
  EXPECT_EQ(db().claim("jobs").limits(), (tableq::queue_limits{.capacity = 2, .concurrency = 4}));
  EXPECT_EQ(done({"limit", "jobs"}),
            "QUEUE  PAUSED  CAPACITY  RATE  BURST  CONCURRENCY\n"
            "jobs   yes     2         none  none   4\n");
}

TEST_P(tool_limit, of_groups_changes_what_is_named_and_leaves_the_rest) {
  done({"create", "claim", "jobs", "--groups", "1"});
  EXPECT_EQ(done({"limit", "jobs", "--group", "", "--running", "3"}), "");
  EXPECT_EQ(done({"limit", "jobs", "--group", "vip", "--running", "20", "--rate", "0.5"}), "");
  EXPECT_EQ(done({"limit", "jobs", "--groups"}),
            "GROUP     RUNNING  RATE  BURST  WEIGHT\n"
            "(others)  3        none  none   none\n"
            "vip       20       0.5   none   none\n");
  EXPECT_EQ(done({"limit", "jobs", "--group", "vip"}),
            "GROUP  RUNNING  RATE  BURST  WEIGHT\n"
            "vip    20       0.5   none   none\n");
  const auto without = run({"limit", "jobs", "--group", "a"});
  EXPECT_EQ(without.out,
            "GROUP  RUNNING  RATE  BURST  WEIGHT\n"
            "a      none     none  none   none\n");
  EXPECT_NE(without.err.find("no limits of its own"), std::string::npos) << without.err;
  const auto page = run({"limit", "jobs", "--groups", "--count", "1"});
  EXPECT_EQ(page.out,
            "GROUP     RUNNING  RATE  BURST  WEIGHT\n"
            "(others)  3        none  none   none\n");
  EXPECT_NE(page.err.find("--groups --group \"vip\""), std::string::npos) << page.err;
  EXPECT_EQ(done({"limit", "jobs", "--groups", "--group", "vip"}),
            "GROUP  RUNNING  RATE  BURST  WEIGHT\n"
            "vip    20       0.5   none   none\n");
  done({"limit", "jobs", "--group", "vip", "--rate", "none"});
  EXPECT_EQ(db().claim("jobs").group_limits().groups,
            (std::vector<tableq::limited_group>{{"", {.running = 3}}, {"vip", {.running = 20}}}));
  EXPECT_EQ(json::parse(done({"limit", "jobs", "--group", "", "--running", "none", "--json"})),
            json::parse(R"({"queue": "jobs", "group": "", "running": null, "rate": null,
                            "burst": null, "weight": null})"))
      << "the limits that were changed";
  EXPECT_EQ(run({"limit", "jobs", "--running", "3"}).status, 2);
  EXPECT_EQ(run({"limit", "jobs", "--group", "a", "--capacity", "3"}).status, 2);
  EXPECT_EQ(run({"limit", "jobs", "--group", "a", "--running", "x"}).status, 2);
  EXPECT_EQ(run({"limit", "jobs", "--groups", "--running", "3"}).status, 2);
  EXPECT_EQ(run({"limit", "jobs", "--groups", "--group", "a", "--running", "3"}).status, 2);
  EXPECT_EQ(run({"limit", "jobs", "--weight", "3"}).status, 2);
  EXPECT_EQ(run({"limit", "jobs", "--count", "3"}).status, 2);
  EXPECT_EQ(run({"limit", "jobs", "--group", "a", "--count", "3"}).status, 2);
  const auto unweighted = run({"limit", "jobs", "--group", "vip", "--weight", "3"});
  EXPECT_NE(unweighted.err.find("--groups-by-turns"), std::string::npos) << unweighted.err;
  done({"create", "claim", "plain"});
  for (const words& rest : {words{"--groups"}, words{"--group", "a"}}) {
    const ended none = run(joined({"limit", "plain"}, rest));
    TABLEQ_EXPECT_REFUSAL(2, none);
    EXPECT_TRUE(contains(none.err, "has no groups")) << none.err;
  }
  done({"create", "claim", "turns", "--groups", "1", "--groups-by-turns"});
  EXPECT_EQ(run({"limit", "turns", "--groups"}).status, 1) << "no group has limits";
  done({"limit", "turns", "--group", "vip", "--weight", "3"});
  EXPECT_EQ(db().claim("turns").group_limits().groups,
            (std::vector<tableq::limited_group>{{"vip", {.weight = 3}}}));
}

TEST_P(tool_limit, the_first_concurrency_makes_the_index_that_counts_leases) {
  done({"create", "claim", "jobs"});
  const auto has_index = [&] {
    const auto all = here().sql(here().index_names("jobs"));
    return std::any_of(all.begin(), all.end(),
                       [](const auto& each) { return each.at(0) == "jobs_lease"; });
  };
  done({"limit", "jobs", "--capacity", "5"});
  EXPECT_FALSE(has_index());
  done({"limit", "jobs", "--concurrency", "4"});
  EXPECT_TRUE(has_index());
}

TEST_P(tool_limit, a_full_queue_is_a_refusal) {
  done({"create", "fifo", "mail"});
  done({"limit", "mail", "--capacity", "1"});
  done({"enqueue", "mail", "a"});
  TABLEQ_EXPECT_REFUSAL(3, run({"enqueue", "mail", "b"}));
}

TEST_P(tool_limit, lines_wait_for_room_in_a_full_queue) {
  constexpr std::size_t capacity = 8;
  constexpr int all = 40;
  auto mail = db().fifo("mail");
  mail.set_limits({.capacity = capacity});
  std::string input;
  for (int i = 0; i < all; ++i) input += std::to_string(i) + "\n";
  const auto filling = start({"enqueue", "mail", "--lines", "--wait", "1h"}, {.input = input});
  for (int i = 0; i < all; ++i) {
    const auto got = mail.dequeue({.wait = std::chrono::minutes{1}});
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->payload, std::to_string(i));
    EXPECT_LE(mail.peek(all).size(), capacity);
  }
  const ended end = filling->wait();
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_FALSE(mail.dequeue().has_value());
}

TEST_P(tool_limit, who_has_waited_for_room_in_vain_is_refused) {
  done({"create", "fifo", "mail"});
  done({"limit", "mail", "--capacity", "2"});
  done({"enqueue", "mail", "a", "b", "--wait", "1h"});
  TABLEQ_EXPECT_REFUSAL(3, run({"enqueue", "mail", "c", "--wait", "1ms"}));
  TABLEQ_EXPECT_REFUSAL(3, run({"enqueue", "mail", "--lines", "--wait", "1ms"}, {.input = "c\n"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"enqueue", "mail", "c", "--wait", "soon"}));
  EXPECT_EQ(done({"dequeue", "mail", "--all"}), "a\nb\n");
}

TEST_P(tool_limit, refuses_what_makes_no_sense_and_changes_nothing) {
  done({"create", "fifo", "mail"});
  for (const words& wrong :
       {words{"--capacity", "0"}, words{"--capacity", "many"}, words{"--rate", "0"},
        words{"--rate", "nan"}, words{"--rate", "-1"}, words{"--rate", "5x"}, words{"--burst", "3"},
        words{"--burst", "0"}, words{"--concurrency", "0"}, words{"--concurrency", "2"}}) {
    TABLEQ_EXPECT_REFUSAL(2, run(joined({"limit", "mail"}, wrong)));
  }
  for (const char* each : {"--capacity", "--rate", "--concurrency"}) {
    EXPECT_TRUE(contains(run({"limit", "mail", each, "x"}).err, "or none")) << each;
  }
  EXPECT_EQ(db().fifo("mail").limits(), tableq::queue_limits());
  for (const char* each : {"pause", "resume", "limit"}) {
    TABLEQ_EXPECT_REFUSAL(3, run({each, "nowhere"}));
    TABLEQ_EXPECT_REFUSAL(2, run({each}));
  }
}

}  // namespace
