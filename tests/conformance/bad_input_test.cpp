#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using namespace std::string_literals;
using std::chrono::hours;
using std::chrono::milliseconds;

constexpr milliseconds longest = milliseconds::max();
constexpr milliseconds over_a_year = hours{24} * 365 + 1ms;
constexpr milliseconds over_ten_years = hours{24} * 3650 + 1ms;

/// Each call is refused before anything is sent, and nothing is changed.
class bad_input : public claim_test {
 protected:
  void SetUp() override {
    claim_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    jobs().enqueue("ready");
    jobs().enqueue("leased");
  }
  void expect_unchanged() {
    const auto stats = jobs().stats();
    EXPECT_EQ(stats.ready, 1U);
    EXPECT_EQ(stats.leased, 1U);
    EXPECT_EQ(stats.delayed + stats.done + stats.dead, 0U);
  }
};
TABLEQ_ON_BACKENDS(bad_input, all_backends);

TEST_P(bad_input, batch_sizes_out_of_range_are_refused) {
  auto mail = db_with_clock().fifo("mail");
  mail.enqueue("stays");
  for (const std::size_t max : {std::size_t{0}, std::size_t{10'001}, ~std::size_t{0}}) {
    SCOPED_TRACE(max);
    EXPECT_CODE(invalid_argument, static_cast<void>(mail.dequeue_batch(max)));
    EXPECT_CODE(invalid_argument, static_cast<void>(mail.peek(max)));
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().take(max)));
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().peek(max)));
    EXPECT_CODE(invalid_argument,
                static_cast<void>(jobs().list(tableq::message_state::dead, {.max = max})));
  }
  EXPECT_EQ(mail.dequeue_batch(10'000).size(), 1U);
  EXPECT_EQ(jobs().stats().ready, 2U);
}

TEST_P(bad_input, negative_and_huge_leases_are_refused) {
  const auto held = take_one();
  for (const milliseconds lease : {0ms, -1ms, milliseconds::min(), over_a_year, longest}) {
    SCOPED_TRACE(lease.count());
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().take(1, {.lease = lease})));
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().extend(held.receipt, lease)));
    EXPECT_CODE(invalid_argument,
                static_cast<void>(db_with_clock().claim("unmade", {.lease = lease})));
  }
  EXPECT_FALSE(db_with_clock().find("unmade"));
  expect_unchanged();
}

TEST_P(bad_input, attempts_out_of_range_are_refused) {
  static_cast<void>(take_one());
  for (const int attempts : {0, -1, 1'000'001, 2'147'483'647}) {
    SCOPED_TRACE(attempts);
    EXPECT_CODE(invalid_argument,
                static_cast<void>(db_with_clock().claim("unmade", {.max_attempts = attempts})));
    EXPECT_CODE(invalid_argument,
                static_cast<void>(db_with_clock().claim("jobs", {.max_attempts = attempts})));
  }
  EXPECT_FALSE(db_with_clock().find("unmade"));
  expect_unchanged();
}

TEST_P(bad_input, negative_and_huge_delays_are_refused) {
  const auto held = take_one();
  auto later = db_with_clock().pending("later");
  for (const milliseconds delay : {-1ms, milliseconds::min(), over_ten_years, longest}) {
    SCOPED_TRACE(delay.count());
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().enqueue("x", {.delay = delay})));
    EXPECT_CODE(invalid_argument, later.enqueue("x", {.delay = delay}));
    EXPECT_CODE(invalid_argument,
                static_cast<void>(jobs().fail(held.receipt, "x", {.delay = delay})));
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().purge(tableq::message_state::dead,
                                                                 {.older_than = delay})));
  }
  EXPECT_EQ(later.stats().delayed + later.stats().waiting, 0U);
  expect_unchanged();
}

TEST_P(bad_input, negative_waits_are_refused) {
  auto mail = db_with_clock().fifo("mail");
  mail.enqueue("stays");
  for (const milliseconds wait : {-1ms, milliseconds::min()}) {
    EXPECT_CODE(invalid_argument, static_cast<void>(mail.dequeue({.wait = wait})));
    EXPECT_CODE(invalid_argument, static_cast<void>(mail.dequeue_batch(1, {.wait = wait})));
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().take(1, {.wait = wait})));
  }
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(bad_input, due_times_out_of_range_are_refused) {
  auto later = db_with_clock().pending("later");
  const tableq::timestamp year_10000{253'402'300'800s};
  for (const tableq::timestamp due :
       {tableq::timestamp{-1ms}, year_10000, tableq::timestamp::max(), tableq::timestamp::min()}) {
    SCOPED_TRACE(due.time_since_epoch().count());
    EXPECT_CODE(invalid_argument, later.enqueue("x", {.due_at = due}));
  }
  EXPECT_CODE(invalid_argument, later.enqueue("x", {.delay = 1s, .due_at = clock.now()}));
  EXPECT_EQ(later.stats().delayed + later.stats().waiting, 0U);
}

TEST_P(bad_input, keys_out_of_range_are_refused) {
  for (const std::string& key : {""s, std::string(201, 'k'), "a\0b"s, "\xFF"s, "\xC3"s}) {
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().enqueue("x", {.key = key})));
    const std::vector<tableq::new_claim_message> batch = {
        {.payload = "good"}, {.payload = "bad", .options = {.key = key}}};
    EXPECT_CODE(invalid_argument, jobs().enqueue_batch(batch));
  }
  EXPECT_EQ(jobs().stats().ready, 2U);
}

TEST_P(bad_input, headers_out_of_range_are_refused) {
  const std::vector<tableq::headers> refused = {{{"", "x"}},
                                                {{std::string(101, 'n'), "x"}},
                                                {{"a\0b"s, "x"}},
                                                {{"a", "x\0y"s}},
                                                {{"\xFF", "x"}},
                                                {{"a", "\xC3\x28"}},
                                                {{"a", std::string(70'000, 'x')}}};
  for (const tableq::headers& each : refused) {
    EXPECT_CODE(invalid_argument, static_cast<void>(jobs().enqueue("x", {.headers = each})));
  }
  EXPECT_EQ(jobs().stats().ready, 2U);
  const tableq::headers widest = {{std::string(100, 'n'), std::string(60'000, 'x')}};
  EXPECT_TRUE(jobs().enqueue("x", {.priority = 1, .headers = widest}).created());
  EXPECT_EQ(take_one().headers, widest);
}

TEST_P(bad_input, purge_batches_out_of_range_are_refused) {
  for (const std::size_t batch : {std::size_t{0}, std::size_t{4001}, ~std::size_t{0}}) {
    EXPECT_CODE(invalid_argument,
                static_cast<void>(jobs().purge(tableq::message_state::dead, {.batch = batch})));
  }
}

TEST_P(bad_input, extreme_times_of_the_caller_are_refused_or_kept) {
  auto mail = db_with_clock().fifo("mail");
  auto work = db().claim("work");
  for (const tableq::timestamp said : {tableq::timestamp::max(), tableq::timestamp::min(),
                                       tableq::timestamp{-1ms}, tableq::timestamp{0ms}}) {
    SCOPED_TRACE(said.time_since_epoch().count());
    try {
      mail.enqueue("x", {.created_at = said});
      EXPECT_EQ(mail.dequeue()->created_at, said);
      work.enqueue("x", {.created_at = said});
      EXPECT_EQ(work.take_one()->created_at, said);
    } catch (const tableq::error& refused) {
      EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
    }
    EXPECT_EQ(mail.stats().waiting, 0U);
  }
}

TEST_P(bad_input, the_longest_wait_is_refused_or_works) {
  auto mail = db_with_clock().fifo("mail");
  mail.enqueue("there");
  try {
    const auto got = mail.dequeue({.wait = longest});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->payload, "there");
  } catch (const tableq::error& refused) {
    EXPECT_EQ(refused.code(), tableq::errc::invalid_argument) << refused.what();
  }
}

TEST(bad_input_without_database, names_of_kinds_and_dialects_are_checked) {
  EXPECT_CODE(invalid_argument, static_cast<void>(tableq::parse_kind("stack")));
  EXPECT_CODE(invalid_argument, static_cast<void>(tableq::parse_kind("")));
  for (const tableq::kind each : all_kinds()) {
    EXPECT_EQ(tableq::parse_kind(tableq::to_string(each)), each);
  }
  EXPECT_CODE(invalid_argument, static_cast<void>(tableq::ddl("no such", "mail", {})));
  for (const std::string& name : tableq::dialects()) {
    EXPECT_CODE(invalid_argument, static_cast<void>(tableq::ddl(name, "bad name", {})));
    EXPECT_CODE(invalid_argument,
                static_cast<void>(tableq::ddl(
                    name, "mail", {.kind = tableq::kind::heap, .claim = {.max_attempts = 3}})));
    EXPECT_CODE(invalid_argument,
                static_cast<void>(tableq::ddl(name, "mail",
                                              {.kind = tableq::kind::claim,
                                               .order = {.ordering = tableq::ordering::strict}})));
    EXPECT_CODE(invalid_argument,
                static_cast<void>(tableq::ddl(name, "mail", {}, {.table_prefix = "bad-prefix"})));
  }
}

}  // namespace
