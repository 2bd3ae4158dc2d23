#include <tableq/testing.hpp>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::testing::trouble;
using tableq_test::contains;
using tableq_test::names_of;
using tableq_test::tds_answer;
using tableq_test::with_columns;

/// Locks, and what takes their place.
class sqlserver_locks : public tableq_test::on_scripted_sqlserver {};
INSTANTIATE_TEST_SUITE_P(, sqlserver_locks, tableq_test::both_drivers, tableq_test::name_of_way);

TEST_P(sqlserver_locks, of_strict_queues_are_taken_before_the_rows) {
  auto db = open(0ms);
  auto strict = db.fifo("strict_fifo");
  EXPECT_EQ(names_of(sent_by([&] {
              strict.enqueue("p");
              (void)strict.dequeue();
            })),
            "begin queue.lock fifo.enqueue commit begin queue.lock fifo.dequeue_strict commit");
}

TEST_P(sqlserver_locks, of_keys_are_the_index_and_no_other_one) {
  auto db = open(0ms);
  auto claim = db.claim("claim");
  for (const auto& [index, code] : {std::pair{"claim_key", tableq::errc::conflict},
                                    {"only_once", tableq::errc::constraint_violated},
                                    {"_key", tableq::errc::constraint_violated}}) {
    script_.once("claim.enqueue",
                 tds_answer().error(2601, std::string("Cannot insert duplicate key row in object "
                                                      "'dbo.claim' with unique index '") +
                                              index + "'. The duplicate key value is (0x6B00)."));
    EXPECT_EQ(tableq_test::thrown_by([&] { claim.enqueue("p", {.key = "k"}); }).code(), code);
  }
}

TEST_P(sqlserver_locks, of_a_group_are_taken_before_the_row_of_a_postponed_message) {
  auto db = open(0ms);
  auto claim = db.claim("grouped");
  script_.always("claim.find_key", with_columns("item id").row({0, 9}));
  script_.always("claim.group_of", with_columns("item group_key:n").row({0, "g"}));
  script_.always("claim.replace", with_columns("item id").row({0, 9}));
  const auto came = sent_by([&] {
    claim.enqueue("p", {.delay = 1min, .key = "k", .on_duplicate = tableq::on_duplicate::postpone});
  });
  EXPECT_TRUE(contains(names_of(came), "claim.find_key claim.group_of queue.lock claim.replace"))
      << names_of(came);
}

TEST_P(sqlserver_locks, that_a_fault_of_a_test_refuses_have_the_servers_number) {
  tableq::testing::faults faults;
  auto db = faults.open(address(), {.retry_for = 0ms});
  auto fifo = db.fifo("fifo");
  for (const auto& [what, number] : {std::pair{trouble::busy, 1222}, {trouble::deadlock, 1205}}) {
    faults.fail("fifo.enqueue", {what, tableq::testing::moment::before});
    EXPECT_EQ(tableq_test::thrown_by([&] { fifo.enqueue("p"); }).native(), number);
  }
}

}  // namespace
