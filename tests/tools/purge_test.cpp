#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class tool_purge : public tool_test {};
TABLEQ_ON_BACKENDS(tool_purge, distinct_backends);

TEST_P(tool_purge, deletes_every_message_of_the_destructive_kinds) {
  for (const std::string kind : {"heap", "fifo", "lifo", "pending"}) {
    done({"create", kind, kind});
    done({"enqueue", kind, "a", "b"});
    TABLEQ_EXPECT_REFUSAL(2, run({"purge", kind}));
    EXPECT_EQ(done({"purge", kind, "--yes"}), "2\n");
    EXPECT_EQ(run({"peek", kind}).status, 1);
  }
}

TEST_P(tool_purge, of_a_claim_queue_takes_only_what_is_finished) {
  auto jobs = db().claim("jobs", {.max_attempts = 1, .keep_completed = true});
  for (int i = 0; i < 4; ++i) jobs.enqueue("work");
  const auto taken = jobs.take(3, {.lease = 1h});
  ASSERT_EQ(jobs.complete(taken.at(0).receipt), tableq::settle_result::applied);
  ASSERT_EQ(jobs.fail(taken.at(1).receipt, "no"), tableq::settle_result::applied);
  EXPECT_EQ(done({"purge", "jobs", "--older-than", "1h"}), "0\n");
  EXPECT_EQ(done({"purge", "jobs"}), "1\n");
  EXPECT_EQ(jobs.stats().dead, 1U);
  EXPECT_EQ(done({"purge", "jobs", "--done"}), "0\n");
  EXPECT_EQ(done({"purge", "jobs", "--dead"}), "1\n");
  EXPECT_EQ(jobs.stats().ready, 1U);
  EXPECT_EQ(jobs.stats().leased, 1U);
}

TEST_P(tool_purge, drop_deletes_the_queue_when_told_twice) {
  db().fifo("mail").enqueue("a");
  TABLEQ_EXPECT_REFUSAL(2, run({"drop", "mail"}));
  EXPECT_TRUE(db().find("mail"));
  EXPECT_EQ(done({"drop", "mail", "--yes"}), "");
  done({"create", "fifo", "mail"});
  EXPECT_EQ(done({"drop", "mail", "--yes", "--json"}),
            "{\"queue\":\"mail\",\"outcome\":\"dropped\"}\n");
  EXPECT_FALSE(db().find("mail"));
  TABLEQ_EXPECT_REFUSAL(3, run({"drop", "mail", "--yes"}));
  done({"create", "claim", "jobs", "--dead-letters", "letters"});
  const ended end = run({"drop", "letters", "--yes"});
  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(contains(end.err, "the queue jobs moves its dead messages to letters")) << end.err;
  EXPECT_TRUE(contains(done({"stats", "jobs"}), "jobs"));
  EXPECT_TRUE(contains(run({"doctor"}).out, "its dead-letter queue letters is missing"));
}

}  // namespace
