#include <tableq/testing.hpp>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::errc;
using tableq::testing::moment;
using tableq::testing::trouble;
using tableq_test::names_of;
using tableq_test::thrown_by;

/// The faults of tableq/testing.hpp, with the error numbers of this database.
class sqlserver_faults : public tableq_test::on_each_address {
 protected:
  tableq::error failed(trouble what, moment when = moment::before) {
    faults_.fail("fifo.enqueue", {what, when});
    return thrown_by([this] { fifo_.enqueue("p"); });
  }

  tableq::testing::faults faults_;
  tableq::database db_ = faults_.open(address(), {.retry_for = 0ms});
  tableq::fifo_queue fifo_ = db_.fifo("fifo");
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_faults, testing::Bool(), tableq_test::address_name);

TEST_P(sqlserver_faults, have_its_numbers_and_its_advice) {
  const tableq::error busy = failed(trouble::busy);
  EXPECT_EQ(busy.code(), errc::busy);
  EXPECT_EQ(busy.native(), 1222);
  const tableq::error deadlock = failed(trouble::deadlock);
  EXPECT_EQ(deadlock.code(), errc::conflict);
  EXPECT_EQ(deadlock.native(), 1205);
  EXPECT_EQ(deadlock.advice(), tableq::advice::transaction);
}

TEST_P(sqlserver_faults, of_time_end_the_session_and_leave_the_outcome_unknown) {
  fifo_.enqueue("p");
  EXPECT_EQ(failed(trouble::time_out).code(), errc::outcome_unknown);
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "login setup fifo.enqueue");
}

TEST_P(sqlserver_faults, that_are_taken_back_are_done_and_undone) {
  fifo_.enqueue("p");
  EXPECT_EQ(names_of(sent_by(
                [&] { EXPECT_EQ(failed(trouble::busy, moment::after).code(), errc::busy); })),
            "begin fifo.enqueue rollback");
}

}  // namespace
