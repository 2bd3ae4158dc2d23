// `work` with several queues.
#include <algorithm>
#include <csignal>
#include <functional>
#include <map>

#include "support/becomes.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// A second database: another file, or another schema of the server.
class tool_work_queues : public tool_test {
 protected:
  void SetUp() override {
    tool_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    second_ = GetParam()->fresh();
    other_.emplace(tableq::database::open(second_->url()));
    started_.emplace((scratch / "started").string());
    go_.emplace((scratch / "go").string());
  }
  void TearDown() override {
    other_.reset();
    second_.reset();
    tool_test::TearDown();
  }
  [[nodiscard]] std::string other_url() const { return second_->url(); }
  tableq::database& other_db() { return *other_; }
  static void fill(tableq::claim_queue queue, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) queue.enqueue("work");
  }
  /// Each command tells its queue and waits for a line.
  std::string step_by_step() {
    return "echo $TABLEQ_QUEUE > " + started_->path() + "; read x < " + go_->path();
  }
  /// The queues of the commands, one a step, from a worker with one command at a time. `ready` is
  /// awaited before each step, with the queues so far.
  std::string steps(std::size_t of_a, std::size_t of_b, const words& options,
                    const std::function<bool(const std::string&)>& ready) {
    fill(db().claim("a"), 0);
    fill(db().claim("b"), 0);
    fill(db().claim("gate"), 1);
    const auto worker = start(joined({"work", "a", "b", "gate", "--until-empty", "--lease", "3s"},
                                     options, {"--", "sh", "-c", step_by_step()}));
    EXPECT_EQ(started_->read_line(), "gate");
    fill(db().claim("b"), of_b);
    fill(db().claim("a"), of_a);
    std::string seen;
    while (seen.size() < of_a + of_b) {
      EXPECT_TRUE(becomes([&] { return ready(seen); }));
      go_->write_line("x");
      seen += started_->read_line();
    }
    go_->write_line("x");
    EXPECT_EQ(worker->wait().status, 0);
    return seen;
  }
  /// Whether the worker has settled what has run of a queue, and has its next message at hand, if
  /// there is one: it extends the lease of what it has.
  bool at_hand(const std::string& queue, const std::string& seen, std::size_t of) {
    const auto begun =
        static_cast<std::size_t>(std::count(seen.begin(), seen.end(), queue.front()));
    const std::size_t running = !seen.empty() && seen.back() == queue.front() ? 1 : 0;
    const tableq::claim_queue jobs = db().claim(queue);
    const auto held = jobs.list(tableq::message_state::leased);
    return jobs.stats().ready + held.size() == of - begun + running &&
           held.size() == running + (begun < of ? 1 : 0) &&
           std::all_of(held.begin(), held.end(), [&](const tableq::stored_message& one) {
             const auto first =
                 seen_ends_.emplace(std::pair(queue, one.id.value), *one.due_at).first;
             return *one.due_at > first->second;
           });
  }

  std::optional<named_pipe> started_;
  std::optional<named_pipe> go_;

 private:
  std::unique_ptr<place> second_;
  std::optional<tableq::database> other_;
  std::map<std::pair<std::string, std::int64_t>, tableq::timestamp> seen_ends_;  // of leases
};
TABLEQ_ON_BACKENDS(tool_work_queues, distinct_backends);

TEST_P(tool_work_queues, come_in_the_order_of_their_precedence) {
  const auto ready = [&](const std::string& seen) { return at_hand("b", seen, 2); };
  EXPECT_EQ(steps(3, 2, {"--precedence", "b=1", "--precedence", "gate=-1"}, ready), "bbaaa");
}

TEST_P(tool_work_queues, share_the_commands_by_their_weights) {
  const auto ready = [&](const std::string& seen) {
    return at_hand("a", seen, 4) && at_hand("b", seen, 2);
  };
  EXPECT_EQ(steps(4, 2, {"--weight", "a=3"}, ready), "abaaab");
}

TEST_P(tool_work_queues, of_two_databases_tell_their_commands_where_they_are) {
  db().claim("jobs").enqueue("one");
  db().claim("mails").enqueue("two");
  other_db().claim("jobs").enqueue("three");
  const std::string script =
      "echo \"$TABLEQ_DATABASE/$TABLEQ_QUEUE $(cat) ${TABLEQ_DB-none} ${TABLEQ_DB_OTHER-none}\"";
  words arguments{"work",      "jobs", "mails", "other:jobs", "--also-db", "other",
                  "--verbose", "--",   "sh",    "-c",         script};
  arguments.insert(arguments.begin() + 1, "--until-empty");
  const ended end =
      run(arguments, {.environment = {"TABLEQ_DB_OTHER=" + other_url(), "TABLEQ_DATABASE=outer"}});
  EXPECT_EQ(end.status, 0) << end.err;
  words lines = lines_of(end.out);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines,
            (words{"/jobs one none none", "/mails two none none", "other/jobs three none none"}));
  words told = lines_of(end.err);
  std::sort(told.begin(), told.end());
  ASSERT_EQ(told.size(), 3U) << end.err;
  EXPECT_TRUE(contains(told[0], "tableq: jobs: message ")) << told[0];
  EXPECT_TRUE(contains(told[1], "tableq: mails: message ")) << told[1];
  EXPECT_TRUE(contains(told[2], "tableq: other:jobs: message ")) << told[2];
  EXPECT_EQ(other_db().claim("jobs").stats().ready, 0U);
}

TEST_P(tool_work_queues, pass_the_address_of_their_own_database) {
  db().claim("jobs").enqueue("x");
  other_db().claim("jobs").enqueue("x");
  words lines = lines_of(
      done({"work", "jobs", "other:jobs", "--also-db", "other=" + other_url(), "--until-empty",
            "--pass-db", "--", "sh", "-c", "echo \"$TABLEQ_DATABASE $TABLEQ_DB\""}));
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (words{" " + here().url(), "other " + other_url()}));
}

TEST_P(tool_work_queues, of_another_database_need_no_first_one) {
  other_db().claim("jobs").enqueue("x");
  const words arguments{"work",          "other:jobs", "--also-db", "other=" + other_url(),
                        "--until-empty", "--",         "cat"};
  EXPECT_EQ(run_alone(arguments).out, "x");
}

TEST_P(tool_work_queues, are_summed_up_each_and_together) {
  fill(db().claim("jobs"), 2);
  fill(other_db().claim("jobs"), 1);
  const ended end = run({"work", "jobs", "other:jobs", "--also-db", "other=" + other_url(),
                         "--until-empty", "--summary", "--", "true"});
  const words lines = lines_of(end.err);
  ASSERT_EQ(lines.size(), 3U) << end.err;
  EXPECT_EQ(lines[0], "tableq: jobs: completed 2, failed 0, lease lost 0");
  EXPECT_EQ(lines[1], "tableq: other:jobs: completed 1, failed 0, lease lost 0");
  EXPECT_TRUE(contains(lines[2], "tableq: completed 3, failed 0, lease lost 0, in ")) << lines[2];
}

/// Two queues of two databases, each with a running command and a waiting message.
class tool_work_queues_end : public tool_work_queues {
 protected:
  void SetUp() override {
    tool_work_queues::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    fill(db().claim("jobs"), 1);
    fill(other_db().claim("mails"), 1);
    worker_ = start_told({"work", "jobs", "other:mails", "--also-db", "other=" + other_url(),
                          "--verbose", "--concurrency", "2", "--", "sh", "-c", step_by_step()});
    words both{started_->read_line(), started_->read_line()};
    std::sort(both.begin(), both.end());
    EXPECT_EQ(both, (words{"jobs", "mails"}));
    fill(db().claim("jobs"), 1);
    fill(other_db().claim("mails"), 1);
  }
  /// The worker's end, with this many messages left in each queue, without an attempt.
  void expect_end(std::size_t left) {
    EXPECT_EQ(worker_->wait().status, 0);
    for (const tableq::claim_queue& each : {db().claim("jobs"), other_db().claim("mails")}) {
      EXPECT_EQ(each.stats().ready, left);
      EXPECT_EQ(each.stats().leased, 0U);
      for (const auto& one : each.peek(10)) EXPECT_EQ(one.attempts, 0);
    }
  }

  std::unique_ptr<command> worker_;
};
TABLEQ_ON_BACKENDS(tool_work_queues_end, distinct_backends);

TEST_P(tool_work_queues_end, together_and_in_order_at_the_first_signal) {
  worker_->signal_group(SIGINT);
  heard->next_with("finishing running commands");
  for (int i = 0; i < 2; ++i) {
    go_->write_line("x");
    heard->next_with("attempt 1: completed");
  }
  heard->next_with("completed 2, failed 0, lease lost 0");
  expect_end(1);
}

TEST_P(tool_work_queues_end, together_at_the_second_signal_and_give_their_messages_back) {
  worker_->signal(SIGTERM);
  heard->next_with("finishing running commands");
  worker_->signal(SIGTERM);
  heard->next_with("tableq: completed 0, failed 0, lease lost 0, given back ");
  expect_end(2);
}

/// Each complaint is one line, and nothing has begun.
class tool_work_queues_refused : public tool_work_queues {
 protected:
  void SetUp() override {
    tool_work_queues::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    fill(db().claim("a"), 1);
    fill(db().claim("b"), 1);
    fill(other_db().claim("c"), 1);
  }
  void expect_refused(const std::string& part, const words& queues, int status = 2) {
    SCOPED_TRACE(part);
    const ended end = run(joined({"work", "--until-empty"}, queues, {"--", "echo"}));
    TABLEQ_EXPECT_REFUSAL(status, end);
    EXPECT_TRUE(contains(end.err, part)) << end.err;
    EXPECT_FALSE(contains(end.err, "canary")) << end.err;
    EXPECT_EQ(db().claim("a").stats().ready, 1U);
    EXPECT_EQ(other_db().claim("c").stats().ready, 1U);
  }
};
TABLEQ_ON_BACKENDS(tool_work_queues_refused, distinct_backends);

TEST_P(tool_work_queues_refused, when_they_are_too_many_or_named_twice) {
  expect_refused("\"a\" is given twice", {"a", "b", "a"});
  words many(101, "a");
  for (std::size_t i = 0; i < many.size(); ++i) many[i] += std::to_string(i);
  expect_refused("up to 100 queues", many);
  expect_refused("--mapping is for one table", {"a", "b", "--mapping", "file.json"});
  expect_refused("tableq create", {"a", "nope"}, 3);
  EXPECT_EQ(db().fifo("mail").name(), "mail");
  expect_refused("is of kind fifo", {"a", "mail"});
}

TEST_P(tool_work_queues_refused, with_shares_that_make_no_sense) {
  expect_refused("--weight takes QUEUE=N", {"a", "b", "--weight", "3"});
  expect_refused("from 1 to 1000", {"a", "b", "--weight", "a=0"});
  expect_refused("from 1 to 1000", {"a", "b", "--weight", "a=1001"});
  expect_refused("from 1 to 1000", {"a", "b", "--weight", "a="});
  expect_refused("from 1 to 1000", {"a", "b", "--weight", "a=2.5"});
  expect_refused("not served: \"c\"", {"a", "b", "--weight", "c=3"});
  expect_refused("given twice for queue \"a\"", {"a", "b", "--weight", "a=3", "--weight", "a=3"});
  expect_refused("give the option again", {"a", "b", "--weight", "a=3", "b=3"});
  expect_refused("--precedence takes QUEUE=N", {"a", "b", "--precedence", "a"});
  expect_refused("a whole number", {"a", "b", "--precedence", "a=high"});
  expect_refused("a whole number", {"a", "b", "--precedence", "a=2147483648"});
  expect_refused("not served", {"a", "b", "--precedence", "x://user:canary@host=1"});
  expect_refused("not served", {"--mapping", "file.json", "--weight", "=3"});
}

TEST_P(tool_work_queues_refused, with_databases_that_make_no_sense) {
  const std::string given = "other=" + other_url();
  expect_refused("--also-db other is not used", {"a", "--also-db", given});
  expect_refused("no database \"third\"", {"a", "third:c"});
  expect_refused("no database \"third\"", {"other:c", "third:c", "--also-db", given});
  expect_refused("NAME:QUEUE", {"a", ":c"});
  expect_refused("NAME:QUEUE", {"a", "Other:c", "--also-db", given});
  expect_refused("names database \"other\" twice",
                 {"other:c", "--also-db", given, "--also-db", given});
  expect_refused("set TABLEQ_DB_OTHER", {"a", "other:c", "--also-db", "other"});
  expect_refused("set TABLEQ_DB_OTHER", {"a", "other:c", "--also-db", "other="});
  expect_refused("--also-db takes NAME", {"a", "--also-db", "x://user:canary@host/db?key=value"});
  expect_refused("--also-db takes NAME", {"a", "Other:c", "--also-db", "Other=canary"});
  expect_refused("database \"other\": ", {"a", "other:c", "--also-db", "other=canary"});
  expect_refused("database \"other\": there is no queue \"nope\"",
                 {"a", "other:nope", "--also-db", given}, 3);
}

TEST_P(tool_work_queues_refused, when_one_database_does_not_answer) {
  for (const bad_address which : {bad_address::unreachable_host, bad_address::wrong_password,
                                  bad_address::missing_database, bad_address::missing_directory}) {
    const auto url = here().bad_url(which);
    if (!url) continue;
    expect_refused("database \"other\": ", {"a", "other:c", "--also-db", "other=" + *url}, 3);
  }
}

}  // namespace
