// Messages of over 1,000,000 bytes, which some databases take in steps.
#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class claim_lengthy : public claim_test {
 protected:
  static std::string lengthy(char of) { return std::string(1'500'000, of); }
  /// The first letter of each payload. Expects whole payloads.
  static std::string letters(const std::vector<tableq::delivery>& taken) {
    std::string out;
    for (const tableq::delivery& each : taken) {
      out += each.payload.front();
      EXPECT_TRUE(each.payload == lengthy(each.payload.front()) || each.payload.size() == 1);
    }
    return out;
  }
};
TABLEQ_ON_BACKENDS(claim_lengthy, all_backends);

TEST_P(claim_lengthy, comes_in_its_place_among_short_ones) {
  for (const std::string& each : {std::string("a"), lengthy('b'), std::string("c"), lengthy('d')})
    jobs().enqueue(each);
  jobs().enqueue(lengthy('e'), {.priority = 1});
  jobs().enqueue("f", {.priority = 1});
  EXPECT_EQ(letters(jobs().take(1)), "e");
  EXPECT_EQ(letters(jobs().take(3)), "fab");
  EXPECT_EQ(letters(jobs().take(5)), "cd");
  EXPECT_TRUE(jobs().take(5).empty());
  EXPECT_EQ(jobs().stats().leased, 6U);
}

TEST_P(claim_lengthy, is_handed_out_with_all_that_a_short_one_has) {
  const tableq::timestamp run{987'654'321ms};
  jobs().enqueue(lengthy('a'), {.priority = -7, .headers = {{"type", "film"}}, .key = "a key"});
  const auto taken = jobs().take(5, {.lease = 90s, .claimed_at = run});
  ASSERT_EQ(letters(taken), "a");
  EXPECT_EQ(taken[0].headers, (tableq::headers{{"type", "film"}}));
  EXPECT_EQ(taken[0].key, "a key");
  EXPECT_EQ(taken[0].priority, -7);
  EXPECT_EQ(taken[0].attempt, 1);
  EXPECT_EQ(taken[0].claimed_at, run);
  EXPECT_EQ(taken[0].lease_until, clock.now() + 90s);
  EXPECT_EQ(jobs().complete(taken[0]), tableq::settle_result::applied);
}

TEST_P(claim_lengthy, waits_again_after_a_rollback_and_after_its_lease) {
  jobs().enqueue(lengthy('a'));
  {
    auto tx = db_with_clock().begin();
    EXPECT_EQ(letters(jobs().in(tx).take(1)), "a");
  }
  const auto lost = take_one();
  EXPECT_EQ(lost.attempt, 1);
  EXPECT_TRUE(jobs().take(1).empty());
  clock.advance(jobs().lease());
  EXPECT_EQ(take_one().attempt, 2);
  EXPECT_EQ(jobs().complete(lost), tableq::settle_result::lease_lost);
}

TEST_P(claim_lengthy, waits_until_messages_that_are_due_before_it_are_found) {
  jobs().enqueue("a", {.priority = 1, .delay = 10s});
  jobs().enqueue(lengthy('b'));
  clock.advance(10s);
  EXPECT_EQ(letters(jobs().take(1)), "a");
  EXPECT_EQ(letters(jobs().take(1)), "b");
}

TEST_P(claim_lengthy, is_taken_in_turn) {
  auto queue = db_with_clock().claim("turns", {.groups = {.by_turns = true}});
  for (const char each : {'a', 'b', 'c'}) {
    queue.enqueue(lengthy(each), {.group = std::string(1, each == 'b' ? 'a' : each)});
    clock.advance(1ms);
  }
  EXPECT_EQ(letters(queue.take(5)), "ac");
}

TEST_P(claim_lengthy, stays_where_a_trigger_keeps_it) {
  jobs().enqueue(lengthy('a'));
  if (!can().shared ||
      !here().add_trigger(
          {.table = "jobs", .event = "UPDATE", .condition = "TRUE", .silent = true}))
    GTEST_SKIP() << "no such triggers here";
  EXPECT_TRUE(jobs().take(1).empty());
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(claim_lengthy, is_taken_beside_one_that_a_trigger_keeps) {
  jobs().enqueue("a");
  jobs().enqueue("b", {.priority = -1});
  jobs().enqueue(lengthy('c'), {.priority = -2});
  if (!can().shared ||
      !here().add_trigger(
          {.table = "jobs", .event = "UPDATE", .condition = "NEW.priority = -1", .silent = true}))
    GTEST_SKIP() << "no such triggers here";
  EXPECT_EQ(letters(jobs().take(5)), "ac");
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(claim_lengthy, is_handed_out_whole_though_a_trigger_deletes_it_then) {
  jobs().enqueue("a");
  jobs().enqueue(lengthy('b'));
  jobs().enqueue("c");
  const bool made = can().shared &&
                    (here().takes("CREATE TRIGGER gone AFTER UPDATE ON jobs BEGIN "
                                  "DELETE FROM jobs WHERE id = NEW.id; END") ||
                     (here().takes("CREATE FUNCTION delete_job() RETURNS trigger LANGUAGE plpgsql "
                                   "AS $$ BEGIN DELETE FROM jobs WHERE id = NEW.id; "
                                   "RETURN NULL; END $$") &&
                      here().takes("CREATE TRIGGER gone AFTER UPDATE ON jobs FOR EACH ROW "
                                   "EXECUTE FUNCTION delete_job()")));
  if (!made) GTEST_SKIP() << "no such triggers here";
  EXPECT_EQ(letters(jobs().take(5)), "abc");
}

}  // namespace
