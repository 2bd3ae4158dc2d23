#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using nlohmann::json;

class tool_dead : public tool_test {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs", {.max_attempts = 1}); }
  /// Makes dead messages, and returns their ids.
  words kill(int count, const std::string& error = "no luck") {
    words ids;
    for (int i = 0; i < count; ++i) {
      jobs().enqueue("d" + std::to_string(i));
      const auto taken = jobs().take(1).at(0);
      EXPECT_EQ(jobs().fail(taken.receipt, error), tableq::settle_result::applied);
      ids.push_back(std::to_string(taken.receipt.id.value));
    }
    return ids;
  }
};
TABLEQ_ON_BACKENDS(tool_dead, distinct_backends);

TEST_P(tool_dead, list_shows_id_attempts_time_and_the_last_error) {
  const words ids = kill(2, "exit status 3");
  const auto lines = lines_of(done({"dead", "list", "jobs"}));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].rfind(ids[0] + " ", 0), 0U) << lines[1];
  EXPECT_TRUE(contains(lines[1], " 1 "));
  EXPECT_TRUE(contains(lines[1], "exit status 3"));
  const auto objects = lines_of(done({"dead", "list", "jobs", "--json"}));
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(json::parse(objects[0]).at("payload"), "d0");
  EXPECT_EQ(json::parse(objects[0]).at("errors").at(0).at("error"), "exit status 3");
}

TEST_P(tool_dead, list_shows_as_many_as_it_was_told_also_over_several_pages) {
  kill(230);
  EXPECT_EQ(lines_of(done({"dead", "list", "jobs", "--json", "--count", "3"})).size(), 3U);
  EXPECT_EQ(lines_of(done({"dead", "list", "jobs", "--json"})).size(), 100U);
  EXPECT_EQ(lines_of(done({"dead", "list", "jobs", "--count", "1000"})).size(), 231U);
}

TEST_P(tool_dead, an_error_text_cannot_write_over_the_terminal) {
  kill(1, "bad\nline\x1b[2Jmore\xC2\x9bX");
  const std::string table = done({"dead", "list", "jobs"});
  EXPECT_EQ(lines_of(table).size(), 2U);
  EXPECT_FALSE(contains(table, "\x1b"));
  EXPECT_FALSE(contains(table, "\xC2\x9b"));
}

TEST_P(tool_dead, nothing_dead_is_exit_status_1) {
  jobs();
  EXPECT_EQ(run({"dead", "list", "jobs"}).status, 1);
  const ended end = run({"dead", "redrive", "jobs", "--all"});
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.out, "0\n");
}

TEST_P(tool_dead, says_where_dead_messages_moved) {
  static_cast<void>(db().claim("mail", {.max_attempts = 1, .dead_letters = "letters"}));
  for (const words& call : {words{"dead", "list", "mail"}, words{"dead", "redrive", "mail", "1"}}) {
    const ended refused = run(call);
    EXPECT_EQ(refused.status, 1);
    EXPECT_TRUE(contains(refused.err, "tableq list letters")) << refused.err;
    EXPECT_TRUE(contains(refused.err, "tableq dead redrive mail --all")) << refused.err;
  }
  EXPECT_EQ(run({"dead", "list", "letters"}).err, "");
  for (const words& way :
       {words{"redrive", "letters", "--all"}, words{"redrive", "letters", "1"}}) {
    const ended nothing = run(way);
    EXPECT_EQ(nothing.status, 1);
    EXPECT_TRUE(contains(nothing.err, "`tableq redrive mail`")) << nothing.err;
  }
  const ended purge = run({"dead", "purge", "mail"});
  EXPECT_EQ(purge.status, 0);
  EXPECT_EQ(purge.out, "0\n");
  EXPECT_TRUE(contains(purge.err, "move to letters, where 0 wait")) << purge.err;
  EXPECT_TRUE(contains(purge.err, "`tableq cancel letters --state ready` deletes them"))
      << purge.err;
}

TEST_P(tool_dead, list_that_fails_prints_nothing) {
  kill(1);
  EXPECT_EQ(lines_of(done({"dead", "list", "jobs"})).size(), 2U);
  db().claim("letters").enqueue("there");
  here().sql(
      "UPDATE tableq_queues SET options = REPLACE(options, 'keep=0', "
      "'keep=0 dead_letters=letters') WHERE name = 'jobs'");
  clear_database();
  // The look at the dead-letter queue fails, and nothing before it.
  here().sql("DROP TABLE letters");
  here().sql("CREATE TABLE letters (id integer)");
  const ended failed = run({"dead", "list", "jobs"});
  EXPECT_GT(failed.status, 1) << failed.err;
  EXPECT_EQ(failed.out, "");
}

TEST_P(tool_dead, redrive_makes_the_named_ones_ready) {
  const words ids = kill(3);
  EXPECT_EQ(done({"dead", "redrive", "jobs", ids[0], ids[2], "999999"}), "2\n");
  EXPECT_EQ(jobs().stats().ready, 2U);
  EXPECT_EQ(jobs().stats().dead, 1U);
  EXPECT_EQ(done({"dead", "redrive", "jobs", "--all"}), "1\n");
  EXPECT_EQ(jobs().stats().dead, 0U);
  EXPECT_EQ(jobs().take(1).at(0).attempt, 1);
}

TEST_P(tool_dead, purge_deletes_by_age) {
  kill(2);
  EXPECT_EQ(done({"dead", "purge", "jobs", "--older-than", "7d"}), "0\n");
  EXPECT_EQ(jobs().stats().dead, 2U);
  EXPECT_EQ(done({"dead", "purge", "jobs"}), "2\n");
  EXPECT_EQ(jobs().stats().dead, 0U);
}

TEST_P(tool_dead, redrive_chooses_by_the_last_error_and_no_more_than_it_was_told) {
  auto jobs = db().claim("mail", {.max_attempts = 1});
  for (const char* why : {"time-out", "no such address", "time-out", "time-out"}) {
    jobs.enqueue("letter");
    EXPECT_EQ(jobs.fail(jobs.take(1).at(0).receipt, why), tableq::settle_result::applied);
  }
  EXPECT_EQ(done({"dead", "redrive", "mail", "--all", "--error", "time", "--count", "2"}), "2\n");
  EXPECT_EQ(done({"dead", "redrive", "mail", "--all", "--error", "address", "--rate", "100"}),
            "1\n");
  EXPECT_EQ(jobs.stats().dead, 1U);
  TABLEQ_EXPECT_REFUSAL(2, run({"dead", "redrive", "mail", "1", "--error", "x"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"dead", "redrive", "mail", "--all", "--rate", "0"}));
}

}  // namespace
