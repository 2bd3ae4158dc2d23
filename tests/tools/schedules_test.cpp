#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using json = nlohmann::json;

class tool_schedules : public tool_test {};
TABLEQ_ON_BACKENDS(tool_schedules, distinct_backends);

TEST_P(tool_schedules, are_added_changed_listed_and_removed) {
  done({"create", "claim", "jobs"});
  EXPECT_EQ(run({"schedules", "list"}).status, 1);
  EXPECT_TRUE(
      contains(done({"every", "jobs", "nightly", "0 2 * * *", "--zone", "Europe/Berlin", "--header",
                     "a=b", "--priority", "-3", "--missed", "skip", "--not-later-than", "2h",
                     "--key", "k", "--skip-if-running", "--", "report"}),
               "next: 20"));
  const tableq::schedule rule = db().schedules().find("nightly")->rule;
  EXPECT_EQ(rule, (tableq::schedule{.name = "nightly",
                                    .queue = "jobs",
                                    .cron = "0 2 * * *",
                                    .zone = "Europe/Berlin",
                                    .payload = "report",
                                    .headers = {{"a", "b"}},
                                    .key = "k",
                                    .priority = -3,
                                    .catch_up = 0,
                                    .not_later_than = std::chrono::hours{2},
                                    .skip_if_running = true}));
  done({"schedules", "change", "nightly", "--when", "30 3 * * *", "--key", "", "--missed", "2"});
  tableq::schedule changed = rule;
  changed.cron = "30 3 * * *";
  changed.key.reset();
  changed.catch_up = 2;
  EXPECT_EQ(db().schedules().find("nightly")->rule, changed) << "the rest stays";
  done({"schedules", "change", "nightly", "--no-skip-if-running", "--", "short"});
  changed.skip_if_running = false;
  changed.payload = "short";
  EXPECT_EQ(db().schedules().find("nightly")->rule, changed);
  EXPECT_EQ(run({"schedules", "change", "nightly"}).status, 2);
  for (const char* wrong : {"99x", "soon", "daily", ""}) {
    const ended end = run({"schedules", "change", "nightly", "--when", wrong});
    EXPECT_EQ(end.status, 2) << wrong;
    EXPECT_TRUE(contains(end.err, "five fields in quotes")) << end.err;
  }
  EXPECT_EQ(run({"schedules", "change", "daily", "--priority", "0"}).status, 1);
  EXPECT_EQ(run({"schedules", "change", "nightly", "--json"}).status, 2);
  EXPECT_EQ(json::parse(done({"schedules", "change", "nightly", "--priority", "4", "--json"}))
                .at("priority"),
            4);
  EXPECT_TRUE(contains(done({"every", "jobs", "nightly", "90s"}), "next: 20"));
  EXPECT_EQ(db().schedules().find("nightly")->rule.every, std::chrono::seconds{90});
  const json listed = json::parse(done({"schedules", "list", "--json"}));
  EXPECT_EQ(listed.at("name"), "nightly");
  EXPECT_EQ(listed.at("every_ms"), 90'000);
  EXPECT_EQ(listed.at("next").size(), 5U);
  const json again = json::parse(done({"every", "jobs", "nightly", "90s", "--json"}));
  EXPECT_EQ(again.at("payload"), "");
  EXPECT_EQ(again.at("every_ms"), 90'000);
  EXPECT_TRUE(contains(done({"schedules", "list"}), "ok"));
  done({"schedules", "pause", "nightly"});
  EXPECT_TRUE(contains(done({"schedules", "list"}), "paused"));
  done({"schedules", "resume", "nightly"});
  for (const char* const each : {"pause", "resume"}) {
    const std::string told = done({"schedules", each, "nightly", "--json"});
    EXPECT_EQ(told, done({"schedules", "list", "--json"})) << each;
  }
  EXPECT_EQ(run({"schedules", "run", ""}).status, 1);
  const std::string id = done({"schedules", "run", "nightly"});
  const auto taken = db().claim("jobs").take(10);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(id, std::to_string(taken[0].receipt.id.value) + "\n");
  done({"schedules", "change", "nightly", "--skip-if-running"});
  const json added = json::parse(done({"schedules", "run", "nightly", "--json"}));
  EXPECT_EQ(added, (json{{"name", "nightly"}, {"id", added.at("id")}, {"outcome", "added"}}));
  EXPECT_TRUE(db().claim("jobs").get({added.at("id").get<std::int64_t>()}));
  const ended kept = run({"schedules", "run", "nightly"});
  EXPECT_EQ(kept.status, 0);
  EXPECT_EQ(kept.out, added.at("id").dump() + "\n") << "the id of the one that keeps it out";
  EXPECT_TRUE(contains(kept.err, "none was added")) << kept.err;
  EXPECT_EQ(json::parse(done({"schedules", "run", "nightly", "--json"})).at("outcome"),
            "kept_first");
  EXPECT_EQ(run({"drop", "jobs", "--yes"}).status, 2);
  const std::string last = done({"schedules", "list", "--json"});
  EXPECT_EQ(done({"schedules", "remove", "nightly", "--json"}), last);
  for (const char* const each : {"pause", "resume", "remove", "run"}) {
    EXPECT_EQ(run({"schedules", each, "nightly"}).status, 1);
  }
  done({"drop", "jobs", "--yes"});
}

TEST_P(tool_schedules, that_are_wrong_say_where) {
  done({"create", "fifo", "mail"});
  const auto wrong = run({"every", "mail", "r", "0 24 * * *"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(contains(wrong.err, "character 3: the hour is 0 to 23")) << wrong.err;
  EXPECT_EQ(run({"every", "mail", "r", "@daily", "--zone", "Mars/Base"}).status, 2);
  EXPECT_EQ(run({"every", "mail", "r", "@daily", "--missed", "some"}).status, 2);
  EXPECT_EQ(run({"every", "mail", "r", "@daily", "--", "a", "b"}).status, 2);
  EXPECT_EQ(run({"every", "mail", "r", "0s"}).status, 2);
  EXPECT_EQ(run({"every", "mail", "r", "1h", "--zone", "Europe/Berlin"}).status, 2);
  EXPECT_EQ(run({"every", "mail", "r", "@daily", "--header", "a=1", "--header", "a=2"}).status, 2);
  EXPECT_EQ(run({"every", "absent", "r", "@daily"}).status, 3);
  done({"every", "mail", "plain", "1h", "--", "x"});
  EXPECT_EQ(done({"schedules", "run", "plain"}), "1\n") << "also of kinds without keys";
}

}  // namespace
