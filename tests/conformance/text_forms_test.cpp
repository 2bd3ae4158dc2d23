#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own names
using namespace std::chrono_literals;
using tableq::settle_result;

/// Too long for the internal buffer of a string.
std::string long_text(int number) {
  return "a payload that was made for this one message, number " + std::to_string(number);
}

class text_forms : public claim_test {
 protected:
  /// Takes this number of deliveries.
  std::vector<tableq::delivery> taken(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) jobs().enqueue("work");
    return jobs().take(count);
  }
};
TABLEQ_ON_BACKENDS(text_forms, all_backends);

TEST_P(text_forms, of_batches_keeps_what_temporaries_said) {
  auto mail = db_with_clock().fifo("mail");
  auto later = db_with_clock().pending("later");
  std::vector<tableq::new_message> plain;
  std::vector<tableq::new_pending_message> pending;
  std::vector<tableq::new_claim_message> claim;
  for (int i = 0; i < 50; ++i) {
    plain.push_back({long_text(i)});
    pending.push_back({long_text(i)});
    claim.push_back({long_text(i)});
  }
  mail.enqueue_batch(plain);
  later.enqueue_batch(pending);
  jobs().enqueue_batch(claim);
  const auto from_mail = mail.dequeue_batch(50);
  const auto from_later = later.dequeue_batch(50);
  const auto from_jobs = jobs().take(50);
  ASSERT_EQ(from_mail.size() + from_later.size() + from_jobs.size(), 150U);
  for (std::size_t i = 0; i < 50; ++i) {
    const std::string expected = long_text(static_cast<int>(i));
    EXPECT_EQ(from_mail[i].payload, expected);
    EXPECT_EQ(from_later[i].payload, expected);
    EXPECT_EQ(from_jobs[i].payload, expected);
  }
}

TEST_P(text_forms, of_failures_keeps_what_temporaries_said) {
  std::vector<tableq::failure> failures;
  int number = 0;
  for (const auto& each : taken(20)) {
    failures.push_back({each, long_text(number++), {.give_up = true}});
  }
  for (const settle_result each : jobs().fail_batch(failures)) {
    EXPECT_EQ(each, settle_result::applied);
  }
  const auto dead = jobs().list(tableq::message_state::dead);
  ASSERT_EQ(dead.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(dead[i].errors.at(0).error, long_text(static_cast<int>(i)));
  }
}

TEST_P(text_forms, of_payloads_takes_strings_and_bytes) {
  auto mail = db_with_clock().fifo("mail");
  const std::vector<std::byte> bytes = {std::byte{0}, std::byte{255}, std::byte{7}};
  const std::array<std::byte, 2> pair = {std::byte{1}, std::byte{2}};
  mail.enqueue("literal");
  mail.enqueue(std::string("string"));
  mail.enqueue(std::string_view("view"));
  mail.enqueue(bytes);
  mail.enqueue(pair);
  mail.enqueue(std::as_bytes(std::span("abc", 3)));
  mail.enqueue_batch(std::vector<tableq::new_message>{{tableq::payload_view(bytes).str()}});
  EXPECT_EQ(payloads_of(mail.dequeue_batch(10)),
            (std::vector<std::string>{"literal", "string", "view", std::string("\0\xFF\7", 3),
                                      "\1\2", "abc", std::string("\0\xFF\7", 3)}));
}

TEST_P(text_forms, of_settling_takes_deliveries_where_it_takes_receipts) {
  const auto all = taken(6);
  EXPECT_EQ(jobs().extend(all[0], 1h), settle_result::applied);
  EXPECT_EQ(jobs().complete(all[0]), settle_result::applied);
  EXPECT_EQ(jobs().fail(all[1], "no", {.give_up = true}), settle_result::applied);
  EXPECT_EQ(jobs().release(all[2]), settle_result::applied);
  const std::vector<settle_result> applied(3, settle_result::applied);
  const std::span last(all.begin() + 3, 3);
  EXPECT_EQ(jobs().extend_batch(last, 1h), applied);
  EXPECT_EQ(jobs().release_batch(last), applied);
  const std::array again = {jobs().take_one().value(), jobs().take_one().value(),
                            jobs().take_one().value()};
  EXPECT_EQ(jobs().complete_batch(again), applied);
  EXPECT_EQ(jobs().complete_batch({again[0].receipt, again[1].receipt, again[2].receipt}),
            std::vector<settle_result>(3, settle_result::lease_lost));
  EXPECT_TRUE(jobs().complete_batch(std::vector<tableq::delivery>{}).empty());
}

TEST_P(text_forms, of_takes_has_one_for_one) {
  EXPECT_FALSE(jobs().take_one());
  jobs().enqueue("work");
  const auto taken = jobs().take_one({.lease = 1h});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->payload, "work");
  EXPECT_EQ(taken->lease_until, clock.now() + 1h);
  EXPECT_FALSE(jobs().take_one());
}

TEST_P(text_forms, of_groups_in_empty_braces_means_groups) {
  auto grouped = db_with_clock().claim("grouped", {.groups = {}});
  grouped.enqueue("a", {.group = "g"});
  grouped.enqueue("b", {.group = "g"});
  EXPECT_EQ(grouped.take(10).size(), 1U);
  EXPECT_EQ(db_with_clock().find("grouped")->groups, tableq::group_options{});
  auto wide = db_with_clock().claim("wide", {.groups = {.limit = 4}});
  EXPECT_EQ(db_with_clock().find("wide")->groups->limit, 4);
  EXPECT_FALSE(db_with_clock().claim("plain").name().empty());
  EXPECT_FALSE(db_with_clock().find("plain")->groups);
}

TEST_P(text_forms, of_retries_takes_a_list_of_times) {
  auto patient = db_with_clock().claim("patient", {.retry = {1s, 10s, 1min}});
  EXPECT_EQ(db_with_clock().find("patient")->retry.after,
            (std::vector<std::chrono::milliseconds>{1s, 10s, 1min}));
  static_cast<void>(db_with_clock().claim("jittery", {.retry = {{1s, 10s}, 20}}));
  EXPECT_EQ(db_with_clock().find("jittery")->retry, (tableq::retry_delays{{1s, 10s}, 20}));
  patient.enqueue("at once", {.retry = {}});
  EXPECT_EQ(patient.fail(patient.take_one().value(), "no"), settle_result::applied);
  EXPECT_TRUE(patient.take_one()) << "without delays it is ready again at once";
}

TEST_P(text_forms, of_lifetimes_has_a_word_for_no_end_and_none_is_zero) {
  auto brief = db_with_clock().claim("brief", {.time_to_live = 1s});
  brief.enqueue("brief");
  brief.enqueue("for ever", {.time_to_live = tableq::lifetime::forever()});
  EXPECT_CODE(invalid_argument, brief.enqueue("x", {.time_to_live = 0ms}));
  EXPECT_CODE(invalid_argument,
              static_cast<void>(db_with_clock().claim("none", {.time_to_live = 0s})));
  clock.advance(2s);
  EXPECT_EQ(payloads_of(brief.take(10)), (std::vector<std::string>{"for ever"}));
  EXPECT_EQ(db_with_clock().find("brief")->time_to_live, 1s);
  auto endless = db_with_clock().claim("brief", {.time_to_live = tableq::lifetime::forever()});
  endless.enqueue("for ever too");
  clock.advance(24h);
  EXPECT_EQ(payloads_of(endless.take(10)).back(), "for ever too");
}

TEST_P(text_forms, of_purges_names_the_states_that_can_be_purged) {
  using tableq::message_state;
  jobs().enqueue("waits");
  for (const auto state : {message_state::ready, message_state::leased, message_state::delayed,
                           message_state::held, message_state{9}}) {
    EXPECT_CODE(invalid_argument, jobs().purge(state));
  }
  EXPECT_EQ(jobs().purge(message_state::done), 0U);
  EXPECT_EQ(jobs().purge(message_state::dead), 0U);
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(text_forms, of_limits_leaves_out_what_does_not_limit) {
  for (const auto& each : taken(3)) {
    EXPECT_EQ(jobs().fail(each, "no", {.give_up = true}), settle_result::applied);
  }
  EXPECT_CODE(invalid_argument, jobs().redrive_all({.per_second = 0}));
  EXPECT_EQ(jobs().redrive_all({.max = 0}).count, 0U);
  EXPECT_EQ(jobs().redrive_all({.max = 1}).count, 1U);
  EXPECT_EQ(jobs().redrive_all().count, 2U);
}

}  // namespace
