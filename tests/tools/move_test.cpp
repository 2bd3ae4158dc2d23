#include <signal.h>

#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using nlohmann::json;

/// From the database under test to a file of SQLite.
class tool_move : public tool_test {
 protected:
  [[nodiscard]] std::string there() const {
    return "sqlite://" + (scratch.path() / "there.db").string();
  }
  void create(const words& options = {}) {
    done(joined({"create", "claim", "jobs"}, options));
    done(joined({"create", "claim", "jobs"}, options, {"--db", there()}));
  }
  [[nodiscard]] words move(const words& more = {}) const {
    return joined({"move", "--to", there(), "jobs"}, more);
  }
};
TABLEQ_ON_BACKENDS(tool_move, distinct_backends);

TEST_P(tool_move, moves_all_and_says_how_many) {
  create();
  done({"enqueue", "jobs", "one", "two", "three", "--header", "a=b"});
  EXPECT_EQ(done(move({"--dry-run"})), "3\n");
  EXPECT_EQ(json::parse(done({"stats", "jobs", "--json"})).at("ready"), 3);
  EXPECT_EQ(done(move({"--batch", "2"})), "3\n");
  EXPECT_EQ(json::parse(done({"stats", "jobs", "--json"})).at("ready"), 0);
  EXPECT_EQ(json::parse(done({"stats", "jobs", "--json", "--db", there()})).at("ready"), 3);
  EXPECT_EQ(done(move()), "0\n");
  // And back, with addresses in the environment.
  start_options places;
  places.environment.push_back("TABLEQ_TO=" + here().url());
  EXPECT_EQ(done({"move", "--from", there(), "jobs"}, places), "3\n");
}

TEST_P(tool_move, says_what_is_left) {
  create();
  done({"enqueue", "jobs", "mine", "--key", "k"});
  done({"enqueue", "jobs", "theirs", "--key", "k", "--db", there()});
  const ended left = run(move());
  EXPECT_EQ(left.status, 1);
  EXPECT_EQ(left.out, "0\n");
  EXPECT_TRUE(contains(left.err, "left in the source: 1, whose keys messages of the target hold"));
  const json told = json::parse(run(move({"--json"})).out);
  EXPECT_EQ(told.at("key_held"), 1);
  done({"enqueue", "jobs", "leased"});
  done({"take", "jobs", "--count", "2"});
  EXPECT_TRUE(contains(run(move({"--once"})).err, "left in the source: 2, which are leased"));
  const ended tried = run(move({"--dry-run"}));
  EXPECT_EQ(tried.status, 0) << "the move waits for what is leased";
  EXPECT_TRUE(contains(tried.err, "leased: 2, which follow when")) << tried.err;
  EXPECT_EQ(run(move({"--dry-run", "--once"})).status, 1);
}

TEST_P(tool_move, ends_in_order_when_it_is_asked_to) {
  create();
  done({"enqueue", "jobs", "one"});
  done({"take", "jobs", "--lease", "1h"});
  done({"enqueue", "jobs", "two"});
  const auto running = start(move());
  while (json::parse(done({"stats", "jobs", "--json", "--db", there()})).at("ready") != 1) {
  }
  running->signal(SIGTERM);
  const ended end = running->wait();
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.out, "1\n");
  EXPECT_TRUE(contains(end.err, "run it again"));
}

TEST_P(tool_move, refuses_what_cannot_be) {
  done({"create", "claim", "jobs"});
  TABLEQ_EXPECT_REFUSAL(2, run({"move", "jobs"}));
  TABLEQ_EXPECT_REFUSAL(3, run(move()));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "there.db"));
  done({"create", "fifo", "jobs", "--db", there()});
  TABLEQ_EXPECT_REFUSAL(2, run(move()));
  done({"drop", "jobs", "--yes", "--db", there()});
  TABLEQ_EXPECT_REFUSAL(3, run(move()));
  done({"create", "claim", "jobs", "--max-attempts", "9", "--db", there()});
  TABLEQ_EXPECT_REFUSAL(2, run(move()));
  TABLEQ_EXPECT_REFUSAL(2, run({"move", "--to", here().url(), "jobs"}));
  TABLEQ_EXPECT_REFUSAL(2, run(move({"--batch", "0"})));
  TABLEQ_EXPECT_REFUSAL(2, run(move({"--lease", "soon"})));
}

}  // namespace
