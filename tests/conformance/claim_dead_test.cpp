#include <gtest/gtest.h>

#include <algorithm>
#include "conformance/claim_fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::message_state;
using tableq::settle_result;

class claim_dead : public claim_test {
 protected:
  /// A queue whose messages are dead after one failure.
  tableq::claim_queue brittle() { return db_with_clock().claim("brittle", {.max_attempts = 1}); }
  void kill(tableq::claim_queue& in, const std::string& payload) {
    in.enqueue(payload);
    EXPECT_EQ(in.fail(take_one(in).receipt, "error of " + payload), settle_result::applied);
  }
};
TABLEQ_ON_BACKENDS(claim_dead, all_backends);

TEST_P(claim_dead, a_dead_message_keeps_payload_and_errors) {
  EXPECT_TRUE(jobs().enqueue("work", {.priority = 3, .headers = {{"a", "b"}}}).created());
  std::vector<tableq::timestamp> times;
  for (int attempt = 1; attempt <= jobs().max_attempts(); ++attempt) {
    const auto taken = take_one();
    EXPECT_EQ(taken.attempt, attempt);
    clock.advance(1s);
    times.push_back(clock.now());
    EXPECT_EQ(jobs().fail(taken.receipt, "error " + std::to_string(attempt)),
              settle_result::applied);
  }
  EXPECT_TRUE(jobs().take(1).empty());
  EXPECT_EQ(jobs().stats().dead, 1U);
  const auto dead = jobs().list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].state, tableq::message_state::dead);
  EXPECT_EQ(dead[0].payload, "work");
  EXPECT_EQ(dead[0].priority, 3);
  EXPECT_EQ(dead[0].headers, (tableq::headers{{"a", "b"}}));
  EXPECT_EQ(dead[0].attempts, jobs().max_attempts());
  EXPECT_EQ(dead[0].finished_at, clock.now());
  ASSERT_EQ(dead[0].errors.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(dead[0].errors[i].error, "error " + std::to_string(i + 1));
    EXPECT_EQ(dead[0].errors[i].at, times[i]);
  }
}

TEST_P(claim_dead, dead_messages_are_found_by_inspect_with_the_way_back) {
  const auto found = [&] {
    std::string out;
    for (const tableq::finding& each : db_with_clock().inspect()) {
      if (each.subject == "brittle" && each.severity != tableq::finding::level::ok) {
        out += each.what + '\n' + each.fix;
      }
    }
    return out;
  };
  auto queue = brittle();
  EXPECT_EQ(found(), "");
  kill(queue, "work");
  EXPECT_TRUE(contains(found(), "1 of its messages are dead\n")) << found();
  EXPECT_TRUE(contains(found(), "tableq dead redrive brittle --all")) << found();
  EXPECT_EQ(queue.redrive_all().count, 1U);
  EXPECT_EQ(found(), "");
}

TEST_P(claim_dead, the_last_ten_errors_are_kept) {
  auto stubborn = db_with_clock().claim("stubborn", at_once({.max_attempts = 25}));
  stubborn.enqueue("work");
  for (int i = 1; i <= 25; ++i) {
    EXPECT_EQ(stubborn.fail(take_one(stubborn).receipt, std::to_string(i)), settle_result::applied);
  }
  const auto dead = stubborn.list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  ASSERT_EQ(dead[0].errors.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(dead[0].errors[i].error, std::to_string(16 + i));
  if (!can().shared) return;  // Plain SQL would not see them.
  const std::string stored = here().sql("SELECT errors FROM stubborn").at(0).at(0).value();
  EXPECT_EQ(std::ranges::count(stored, '{'), 10) << stored;
}

TEST_P(claim_dead, an_error_text_is_cut_and_made_utf8) {
  using namespace std::string_literals;
  auto queue = brittle();
  const std::string accent = "\xC3\xA4";
  std::string accents;
  for (int i = 0; i < 2000; ++i) accents += accent;
  const std::vector<std::string> given = {"",
                                          std::string(1'000'000, 'x'),
                                          accents,
                                          "a\xFF"
                                          "b",
                                          "a\0b"s,
                                          "\"\\\n\t{}[]'$1:name",
                                          "\xED\xA0\x80",
                                          "\xF0\x9F\x98\x80"};
  for (const std::string& each : given) {
    queue.enqueue("x");
    EXPECT_EQ(queue.fail(take_one(queue).receipt, each), settle_result::applied);
    clock.advance(1s);
  }
  const auto dead = queue.list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), given.size());
  for (const auto& each : dead) {
    ASSERT_EQ(each.errors.size(), 1U);
    EXPECT_LE(each.errors[0].error.size(), 2000U);
  }
  EXPECT_EQ(dead[0].errors[0].error, "");
  EXPECT_EQ(dead[1].errors[0].error, std::string(2000, 'x'));
  EXPECT_EQ(dead[2].errors[0].error, accents.substr(0, 2000));
  EXPECT_FALSE(contains(dead[3].errors[0].error, "\xFF"));
  EXPECT_TRUE(contains(dead[3].errors[0].error, "a") && contains(dead[3].errors[0].error, "b"));
  EXPECT_EQ(dead[5].errors[0].error, given[5]);
  EXPECT_EQ(dead[7].errors[0].error, given[7]);
}

TEST_P(claim_dead, a_limit_of_the_handle_decides_when) {
  jobs().enqueue("work");
  auto strict = db_with_clock().claim("jobs", {.max_attempts = 1});
  EXPECT_EQ(strict.fail(take_one(strict).receipt, "no"), settle_result::applied);
  EXPECT_EQ(jobs().stats().dead, 1U);
}

TEST_P(claim_dead, a_receipt_from_before_death_does_not_settle_after_redrive) {
  auto queue = brittle();
  queue.enqueue("work");
  const auto old = take_one(queue);
  EXPECT_EQ(queue.fail(old.receipt, "no"), settle_result::applied);
  EXPECT_EQ(queue.redrive_all().count, 1U);
  EXPECT_EQ(queue.complete(old.receipt), settle_result::lease_lost);
  const auto fresh = take_one(queue);
  EXPECT_EQ(queue.complete(old.receipt), settle_result::lease_lost);
  EXPECT_EQ(queue.complete(fresh.receipt), settle_result::applied);
}

TEST_P(claim_dead, redrive_all_takes_every_one) {
  auto queue = brittle();
  const std::vector<tableq::new_claim_message> many(2500, {.payload = "x"});
  EXPECT_EQ(queue.enqueue_batch(many).size(), 2500U);
  std::vector<tableq::failure> failures;
  for (const auto& each : queue.take(2500))
    failures.push_back({.receipt = each.receipt, .error = "e"});
  EXPECT_EQ(queue.fail_batch(failures).size(), 2500U);
  EXPECT_EQ(queue.stats().dead, 2500U);
  EXPECT_EQ(queue.redrive_all().count, 2500U);
  EXPECT_EQ(queue.stats().ready, 2500U);
  EXPECT_EQ(queue.stats().dead, 0U);
}

TEST_P(claim_dead, list_pages_through_all_in_the_order_they_finished) {
  auto queue = brittle();
  for (const std::string& each : numbered(25)) {
    kill(queue, each);
    if (each.back() == '4') clock.advance(1s);  // Most share their time with others.
  }
  std::vector<std::string> got;
  tableq::page page{.max = 7};
  for (int pages = 0; pages < 10; ++pages) {
    auto part = queue.list(tableq::message_state::dead, page);
    EXPECT_LE(part.size(), 7U);
    for (const auto& each : part) got.push_back(each.payload);
    if (part.empty()) break;
    page.after = std::move(part.back());
    page.after->payload.clear();
  }
  EXPECT_EQ(got, numbered(25));
}

TEST_P(claim_dead, purge_deletes_by_age_in_small_batches) {
  auto queue = brittle();
  for (const std::string& each : numbered(10)) {
    kill(queue, each);
    clock.advance(1s);
  }
  // The last died one second ago, the first ten.
  EXPECT_EQ(queue.purge(message_state::dead, {.older_than = 11s}), 0U);
  EXPECT_EQ(queue.purge(message_state::done), 0U);
  EXPECT_EQ(queue.purge(message_state::dead, {.older_than = 6s, .batch = 2}), 5U);
  EXPECT_EQ(payloads_of(queue.list(tableq::message_state::dead)),
            (std::vector<std::string>{"p5", "p6", "p7", "p8", "p9"}));
  EXPECT_EQ(queue.purge(message_state::dead, {.batch = 1}), 5U);
  EXPECT_EQ(queue.stats().dead, 0U);
}

}  // namespace
