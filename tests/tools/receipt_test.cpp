#include <fcntl.h>

#include <nlohmann/json.hpp>

#include "support/at_once.hpp"
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using nlohmann::json;

/// Messages that a shell takes and settles.
class tool_receipts : public tool_test {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs", at_once({.max_attempts = 2})); }
  json take() { return json::parse(done({"take", "jobs", "--json"})); }
  std::string receipt() { return take().at("receipt").get<std::string>(); }
};
TABLEQ_ON_BACKENDS(tool_receipts, distinct_backends);

TEST_P(tool_receipts, a_message_is_taken_with_all_that_it_has) {
  jobs().enqueue("a b", {.priority = 3, .headers = {{"type", "pdf"}}, .key = "k"});
  const json taken = take();
  EXPECT_EQ(taken.at("payload"), "a b");
  EXPECT_EQ(taken.at("attempt"), 1);
  EXPECT_EQ(taken.at("priority"), 3);
  EXPECT_EQ(taken.at("key"), "k");
  EXPECT_EQ(taken.at("headers"), json({{"type", "pdf"}}));
  EXPECT_EQ(run({"take", "jobs"}).status, 1);
}

TEST_P(tool_receipts, lines_have_the_receipt_and_the_payload) {
  jobs().enqueue_batch({{.payload = "a b"}, {.payload = "c"}});
  const auto lines = lines_of(done({"take", "jobs", "--count", "5"}));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].ends_with(" a b"));
  const std::string first = lines[0].substr(0, lines[0].find(' '));
  const std::string second = lines[1].substr(0, lines[1].find(' '));
  EXPECT_EQ(done({"complete", "jobs", first, second}),
            first + " completed\n" + second + " completed\n");
  EXPECT_EQ(jobs().stats().leased, 0U);
}

TEST_P(tool_receipts, a_lost_lease_is_told_by_line_and_status) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  const std::string first = receipt();
  const std::string second = receipt();
  done({"release", "jobs", first});
  for (const words& lost :
       {words{"complete", "jobs", second, first}, words{"fail", "jobs", first, "--error", "x"},
        words{"release", "jobs", first}, words{"extend", "jobs", first, "--lease", "1m"}}) {
    const ended end = run(lost);
    EXPECT_EQ(end.status, 1) << lost[0];
    EXPECT_TRUE(contains(end.out, first + " lease lost\n")) << end.out;
  }
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(tool_receipts, a_settlement_is_an_object_where_json_is_asked_for) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  const std::string first = receipt();
  const std::string second = receipt();
  EXPECT_EQ(done({"complete", "jobs", first, "--json"}),
            "{\"receipt\":\"" + first + "\",\"outcome\":\"completed\"}\n");
  const ended end = run({"release", "jobs", "--json", first, second});
  EXPECT_EQ(end.status, 1);
  const auto lines = lines_of(end.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(json::parse(lines[0]), json({{"receipt", first}, {"outcome", "lease_lost"}}));
  EXPECT_EQ(json::parse(lines[1]), json({{"receipt", second}, {"outcome", "released"}}));
}

TEST_P(tool_receipts, a_failure_has_its_reason_delay_and_end) {
  jobs().enqueue("a");
  done({"fail", "jobs", receipt(), "--error", "no such file"});
  EXPECT_EQ(jobs().peek().at(0).errors.at(0).error, "no such file");
  done({"fail", "jobs", receipt(), "--error", "twice"});
  EXPECT_EQ(jobs().stats().dead, 1U);
  jobs().enqueue("b");
  done({"fail", "jobs", receipt(), "--error", "later", "--delay", "1h"});
  EXPECT_EQ(jobs().stats().delayed, 1U);
  jobs().enqueue("c");
  done({"fail", "jobs", receipt(), "--error", "not a picture", "--final"});
  EXPECT_EQ(jobs().stats().dead, 2U);
}

TEST_P(tool_receipts, a_released_attempt_does_not_count) {
  jobs().enqueue("a");
  done({"release", "jobs", receipt()});
  EXPECT_EQ(take().at("attempt"), 1);
}

TEST_P(tool_receipts, leases_are_as_long_as_asked) {
  jobs().enqueue("a");
  const json taken = json::parse(done({"take", "jobs", "--lease", "1h", "--json"}));
  const auto until = [&] { return *jobs().list(tableq::message_state::leased).at(0).due_at; };
  const tableq::timestamp before = until();
  done({"extend", "jobs", taken.at("receipt"), "--lease", "3h"});
  EXPECT_GE(until() - before, 1h);
}

TEST_P(tool_receipts, output_that_cannot_be_written_gives_the_messages_back) {
  jobs().enqueue_batch({{.payload = "a"}, {.payload = "b"}});
  const owned_descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  TABLEQ_EXPECT_REFUSAL(3, run({"take", "jobs", "--count", "2"}, {.out = full.value()}));
  EXPECT_EQ(jobs().stats().ready, 2U);
  EXPECT_EQ(jobs().peek().at(0).attempts, 0);
}

TEST_P(tool_receipts, that_are_wrong_change_nothing) {
  jobs().enqueue("a");
  const std::string good = receipt();
  done({"create", "fifo", "mail"});
  for (const words& wrong :
       {words{"complete", "jobs"}, words{"complete", "jobs", good, "x"},
        words{"complete", "jobs", good + ".0"}, words{"complete", "jobs", "1.2.3"},
        words{"fail", "jobs", good}, words{"extend", "jobs", good}, words{"take", "mail"},
        words{"fail", "jobs", good, "--error", "x", "--delay", "1s", "--final"},
        words{"take", "jobs", "--count", "0"}, words{"take", "jobs", "--lease", "0s"},
        words{"complete", "mail", good}}) {
    TABLEQ_EXPECT_REFUSAL(2, run(wrong));
  }
  EXPECT_EQ(jobs().stats().leased, 1U);
}

}  // namespace
