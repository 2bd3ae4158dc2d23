#include <gtest/gtest.h>

#include <map>
#include <set>

#include "concurrency/actor.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class killed_holder : public on_each_kind {};
TABLEQ_ON_KINDS(killed_holder, distinct_backends);

TEST_P(killed_holder, loses_nothing_that_it_read_in_a_transaction) {
  any_queue mail = make("mail");
  mail.put("survives");
  actor holder({{"do", "hold"},
                {"url", here().url()},
                {"kind", tableq::to_string(kind())},
                {"queue", "mail"}});
  ASSERT_TRUE(holder.has_written(1));
  EXPECT_EQ(holder.lines().at(0), "survives");
  holder.kill();
  EXPECT_EQ(holder.wait(), 128 + 9);
  EXPECT_EQ(payloads_of(mail.take_up_to(10, 60s)), (std::vector<std::string>{"survives"}));
  EXPECT_FALSE(mail.take());
}

class killed_worker : public on_each_backend {};
TABLEQ_ON_BACKENDS(killed_worker, distinct_backends);

TEST_P(killed_worker, messages_are_taken_over_and_completed_once) {
  constexpr std::size_t count = 1000;
  auto jobs = db().claim("jobs");
  std::vector<tableq::new_claim_message> batch;
  const std::vector<std::string> payloads = numbered(count);
  for (const std::string& each : payloads) batch.push_back({.payload = each});
  ASSERT_EQ(jobs.enqueue_batch(batch).size(), count);

  const auto start = [this](bool immortal) {
    return std::make_unique<actor>(nlohmann::json{
        {"do", "work"}, {"url", here().other_url()}, {"queue", "jobs"}, {"immortal", immortal}});
  };
  // First, because the others would leave no message for a victim that starts slowly.
  const auto victim = start(true);
  ASSERT_TRUE(victim->has_written(20));
  std::vector<std::unique_ptr<actor>> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start(false));
  victim->kill();
  EXPECT_EQ(victim->wait(), 128 + 9);
  for (auto& each : workers) each->let_go();
  std::map<std::string, int> completed;
  for (auto& each : workers) {
    EXPECT_EQ(each->wait(), 0);
    for (const auto& line : each->lines()) {
      if (line.contains("completed")) ++completed[line.at("completed")];
    }
  }

  // The victim's message returns when its lease has ended: a clock that is ahead ends it.
  auto later = open({.clock = tableq::testing::clock_of([] {
                       return std::chrono::time_point_cast<std::chrono::milliseconds>(
                                  std::chrono::system_clock::now()) +
                              1h;
                     })});
  auto rest = later.claim("jobs");
  for (const auto& each : rest.take(100)) {
    EXPECT_EQ(each.attempt, 2);
    EXPECT_EQ(rest.complete(each.receipt), tableq::settle_result::applied);
    ++completed[each.payload];
  }
  std::set<std::string> touched;  // By the victim, which may have completed some without a report.
  for (const auto& line : victim->lines()) {
    if (line.contains("taken")) touched.insert(line.at("taken").get<std::string>());
  }
  for (const std::string& each : payloads) {
    EXPECT_LE(completed[each], 1) << each;
    EXPECT_TRUE(completed[each] == 1 || touched.count(each) == 1) << each;
  }
  const auto stats = rest.stats();
  EXPECT_EQ(stats.ready + stats.leased + stats.delayed + stats.dead, 0U);
}

}  // namespace
