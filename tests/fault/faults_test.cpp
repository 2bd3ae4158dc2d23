#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tableq/testing.hpp>
#include <tableq/unstable/dialect.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::errc;
using tableq::testing::call;
using tableq::testing::fault;
using tableq::testing::moment;
using tableq::testing::trouble;

/// Repeats nothing.
const tableq::open_options impatient{.retry_for = 0s};
constexpr fault lost{trouble::lost_connection, moment::before};
constexpr fault answer_lost{trouble::lost_connection, moment::after};

std::vector<std::string> names_of(const std::vector<call>& history) {
  std::vector<std::string> out;
  for (const call& each : history) out.push_back(each.name);
  return out;
}

class faults : public on_each_backend {
 protected:
  /// A database object that repeats nothing.
  tableq::database open_faulty() { return trouble_.open(here().quick_url(), impatient); }
  /// A queue of one message in it.
  [[nodiscard]] static tableq::fifo_queue mail_of(tableq::database db) {
    auto mail = db.fifo("mail");
    mail.enqueue("a");
    return mail;
  }
  [[nodiscard]] tableq::fifo_queue faulty_mail() { return mail_of(open_faulty()); }
  tableq::testing::faults trouble_;
};
TABLEQ_ON_BACKENDS(faults, all_backends);

/// Only if the place survives its sessions.
class lost_sessions_by_faults : public faults {};
TABLEQ_ON_BACKENDS(lost_sessions_by_faults, shared_backends);

TEST_P(faults, making_a_queue_asks_the_catalogue_no_more_than_twice) {
  auto db = open_faulty();
  static_cast<void>(db.fifo("first"));
  trouble_.start_over();
  static_cast<void>(db.claim("jobs"));
  const auto sent = names_of(trouble_.history());
  EXPECT_EQ(std::count(sent.begin(), sent.end(), "catalog.exists"), 2) << "outside, under the lock";
  EXPECT_EQ(std::count(sent.begin(), sent.end(), "catalog.queue"), 1);
  EXPECT_EQ(std::count(sent.begin(), sent.end(), "catalog.find"), 1);
}

class opening : public faults {};
TABLEQ_ON_BACKENDS(opening, shared_backends);

TEST_P(opening, asks_four_questions_before_the_first_enqueue) {
  static_cast<void>(open_faulty().fifo("mail"));
  trouble_.start_over();
  open_faulty().fifo("mail").enqueue("x");
  std::vector<std::string> sent = names_of(trouble_.history());
  std::erase_if(sent, [](const std::string& each) {
    return each.find('.') == std::string::npos || each.ends_with(".prepare");
  });
  sent.resize(std::min<std::size_t>(sent.size(), 5));
  EXPECT_EQ(sent, (std::vector<std::string>{"catalog.exists", "catalog.find", "catalog.queue",
                                            "limits.read", "fifo.enqueue"}));
}

TEST_P(opening, notices_that_plain_sql_has_dropped_the_catalogue) {
  auto db = open_faulty();
  static_cast<void>(db.fifo("mail"));
  for (const char* table : {"mail", "tableq_queues", "tableq_limits"})
    here().sql("DROP TABLE " + std::string(table));
  EXPECT_FALSE(db.find("mail"));
  db.fifo("mail").enqueue("again");
}

TEST_P(faults, none_told_change_nothing) {
  auto mail = faulty_mail();
  EXPECT_EQ(mail.dequeue().value().payload, "a");
  EXPECT_EQ(trouble_.failures(), 0U);
  EXPECT_EQ(trouble_.history().size(), trouble_.calls());
}

TEST_P(faults, number_and_name_the_calls_and_show_no_value) {
  auto db = open_faulty();
  auto mail = mail_of(db);
  trouble_.start_over();
  mail.enqueue("the payload");
  const auto history = trouble_.history();
  ASSERT_GE(history.size(), 1U);
  EXPECT_EQ(history[0].number, 1U);
  EXPECT_EQ(history[0].name, "fifo.enqueue");
  EXPECT_TRUE(history[0].lasting);
  EXPECT_FALSE(history[0].failed);
  tableq::transaction tx = db.begin();
  mail.in(tx).enqueue("the payload");
  tx.commit();
  const auto names = names_of(trouble_.history());
  EXPECT_EQ(std::count(names.begin(), names.end(), "begin"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "commit"), 1);
  for (const std::string& name : names) EXPECT_EQ(name.find("payload"), std::string::npos);
}

TEST_P(faults, fail_the_call_that_was_told_and_no_other) {
  auto mail = faulty_mail();
  trouble_.start_over();
  trouble_.fail("fifo.peek", {trouble::busy, moment::before}, 2);
  EXPECT_EQ(mail.peek().size(), 1U);
  EXPECT_CODE(busy, static_cast<void>(mail.peek()));
  EXPECT_EQ(mail.peek().size(), 1U);
  EXPECT_EQ(trouble_.failures(), 1U);
  EXPECT_CODE(invalid_argument, trouble_.fail(0, lost));
  EXPECT_CODE(invalid_argument, trouble_.fail_some(1.5, {lost}));
  EXPECT_CODE(invalid_argument, trouble_.fail_some(0.5, {}));
}

TEST_P(lost_sessions_by_faults, before_have_no_effect_and_after_have_it) {
  auto mail = faulty_mail();
  trouble_.fail("fifo.enqueue", lost);
  EXPECT_CODE(outcome_unknown, mail.enqueue("b"));
  EXPECT_EQ(mail.stats().waiting, 1U);
  trouble_.fail("fifo.enqueue", answer_lost);
  EXPECT_CODE(outcome_unknown, mail.enqueue("c"));
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_P(lost_sessions_by_faults, of_a_round_trip_concern_all_its_statements) {
  auto db = open_faulty();
  const bool together = db.backend() == "postgresql" && here().url().starts_with("postgresql");
  if (!together) GTEST_SKIP() << "its statements go one by one";
  auto jobs = db.claim("jobs", {.groups = tableq::group_options{}});
  for (int i = 0; i < 2; ++i) jobs.enqueue("one of two", {.group = "g"});
  const auto held = jobs.take(1);
  for (const fault& each : {lost, {trouble::deadlock, moment::after}}) {
    trouble_.fail("claim.complete", each);
    EXPECT_THROW(static_cast<void>(jobs.complete(held.at(0).receipt)), tableq::error);
    EXPECT_EQ(jobs.stats().leased, 1U);
  }
  trouble_.fail("claim.complete", answer_lost);
  EXPECT_CODE(outcome_unknown, static_cast<void>(jobs.complete(held.at(0).receipt)));
  EXPECT_EQ(jobs.stats().leased, 0U);
  EXPECT_EQ(jobs.stats().ready, 1U) << "the next of the group";
  EXPECT_EQ(trouble_.failures(), 3U);
}

/// Before some takes a database asks where messages begin.
TEST_P(lost_sessions_by_faults, before_a_take_that_was_never_sent_are_no_unknown_outcome) {
  auto jobs = trouble_.open(here().quick_url(), {.max_sessions = 1}).claim("jobs");
  jobs.set_limits({.concurrency = 1000});
  jobs.enqueue_batch(std::vector<tableq::new_claim_message>(300, {"a"}));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(jobs.take_one());  // its statements are prepared
  trouble_.fail("claim.floor", lost);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(jobs.take_one()) << i;
  EXPECT_EQ(jobs.stats().leased, 250U);
}

TEST_P(faults, that_a_database_takes_back_have_no_effect_either_way) {
  auto mail = faulty_mail();
  for (const moment when : {moment::before, moment::after}) {
    trouble_.fail("fifo.enqueue", {trouble::busy, when});
    EXPECT_CODE(busy, mail.enqueue("b"));
    trouble_.fail("fifo.enqueue", {trouble::deadlock, when});
    EXPECT_CODE(conflict, mail.enqueue("b"));
    trouble_.fail("fifo.enqueue", {trouble::time_out, when});
    EXPECT_CODE(cancelled, mail.enqueue("b"));
  }
  EXPECT_EQ(mail.stats().waiting, 1U);
  EXPECT_EQ(trouble_.failures(), 6U);
}

TEST_P(lost_sessions_by_faults, of_a_transaction_undo_all_of_it) {
  auto db = open_faulty();
  auto mail = mail_of(db);
  for (const trouble what : {trouble::lost_connection, trouble::deadlock}) {
    tableq::transaction tx = db.begin();
    mail.in(tx).enqueue("b");
    trouble_.fail("fifo.enqueue", {what, moment::after});
    EXPECT_THROW(mail.in(tx).enqueue("c"), tableq::error);
    EXPECT_CODE(invalid_argument, tx.commit());
  }
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(lost_sessions_by_faults, of_a_commit_leave_it_unknown_whether_or_not_it_happened) {
  auto db = open_faulty();
  auto mail = db.fifo("mail");
  std::size_t stored = 0;
  for (const moment when : {moment::before, moment::after}) {
    trouble_.fail(1, {trouble::unknown_commit, when});  // a begin is no commit
    tableq::transaction tx = db.begin();
    mail.in(tx).enqueue("a");
    trouble_.fail("commit", {trouble::unknown_commit, when});
    EXPECT_CODE(outcome_unknown, tx.commit());
    EXPECT_FALSE(tx.active());
    if (when == moment::after) ++stored;
    EXPECT_EQ(mail.stats().waiting, stored);
  }
}

TEST_P(lost_sessions_by_faults, of_a_pause_leave_it_to_the_next_read_to_ask_whether_it_happened) {
  auto mail = faulty_mail();
  for (const moment when : {moment::before, moment::after}) {
    mail.enqueue("b");
    EXPECT_TRUE(mail.dequeue()) << "from now on the limits are known";
    trouble_.fail("commit", {trouble::unknown_commit, when});
    EXPECT_CODE(outcome_unknown, mail.pause());
    EXPECT_EQ(mail.dequeue().has_value(), when == moment::before);
    mail.enqueue("c");
    mail.resume();
  }
}

TEST_P(faults, that_keep_a_take_from_settling_what_came_too_late_leave_it_what_it_got) {
  auto db = trouble_.open(here().quick_url(), {.retry_for = 0s, .clock = clock.source()});
  auto jobs = db.claim("jobs", {.lease = 1min});
  const fault refused{trouble::busy, moment::before};
  jobs.enqueue("late", {.time_to_live = 1s});
  jobs.enqueue("good");
  clock.advance(1s);
  {
    tableq::transaction tx = db.begin();
    trouble_.fail("claim.fail", refused);
    EXPECT_CODE(busy, static_cast<void>(jobs.in(tx).take(2)));
  }
  trouble_.fail("claim.fail", refused);
  const auto got = jobs.take(2);
  ASSERT_EQ(payloads_of(got), std::vector<std::string>{"good"});
  EXPECT_EQ(jobs.complete(got[0].receipt), tableq::settle_result::applied);
  clock.advance(1min);
  trouble_.fail("claim.fail", refused);
  EXPECT_CODE(busy, static_cast<void>(jobs.take(1))) << "nothing else was there";
  clock.advance(1min);
  EXPECT_TRUE(jobs.take(1).empty());
  const auto dead = jobs.list(tableq::message_state::dead);
  ASSERT_EQ(payloads_of(dead), std::vector<std::string>{"late"});
  EXPECT_EQ(dead[0].errors.back().error, "expired");
}

TEST_P(faults, at_the_first_connection_are_told_by_open) {
  trouble_.fail("connect", lost);
  EXPECT_CODE(connection_failed, open_faulty());
  trouble_.fail("connect", answer_lost);
  EXPECT_CODE(connection_failed, open_faulty());
  EXPECT_NO_THROW(open_faulty());
}

TEST_P(faults, come_by_lot_as_often_as_was_said_and_again_with_the_same_seed) {
  const auto drawn = [&](std::uint64_t seed) {
    const tableq::testing::faults lots(seed);
    // Without a catalogue: one statement each time, independent of the time.
    tableq::open_options apart = impatient;
    apart.table_prefix = "apart_";
    const auto nothing = lots.open(here().quick_url(), apart);
    static_cast<void>(nothing.queues());
    lots.start_over();
    lots.fail_some(0.25, {{trouble::busy, moment::before}, {trouble::deadlock, moment::before}});
    std::string out;
    for (int i = 0; i < 400; ++i) {
      try {
        static_cast<void>(nothing.queues());
        out += '.';
      } catch (const tableq::error& failure) {
        out += failure.code() == errc::busy ? 'b' : 'd';
      }
    }
    EXPECT_EQ(lots.calls(), 400U);
    EXPECT_EQ(400 - std::count(out.begin(), out.end(), '.'),
              static_cast<std::ptrdiff_t>(lots.failures()));
    return out;
  };
  const std::string first = drawn(7);
  EXPECT_GT(std::count(first.begin(), first.end(), '.'), 240);
  EXPECT_LT(std::count(first.begin(), first.end(), '.'), 360);
  EXPECT_NE(first.find('b'), std::string::npos);
  EXPECT_NE(first.find('d'), std::string::npos);
  EXPECT_EQ(first, drawn(7));
  EXPECT_NE(first, drawn(8));
}

class foreign_dialect : public lost_sessions_by_faults {};
TABLEQ_ON_BACKENDS(foreign_dialect, distinct_backends);

/// The dialect on which that of the next test is based.
std::string other;  // NOLINT(cert-err58-cpp): empty

TEST_P(foreign_dialect, that_was_registered_at_run_time_fails_as_well) {
  auto db = open_faulty();
  tableq::dialect mine = tableq::find_dialect(db.backend());
  mine.name = "mine";
  mine.schemes = {"mine"};
  mine.products = {};
  mine.classify = [](const tableq::native_error& failure) {
    if (failure.link_lost) return tableq::verdict{errc::connection_lost, tableq::advice::session};
    return tableq::verdict{};
  };
  other = db.backend();
  mine.resolve = [](const tableq::dialect& /*self*/, const tableq::connection_url& url) {
    tableq::connection_url same = url;
    const tableq::dialect theirs = tableq::find_dialect(other);
    same.scheme = theirs.schemes.at(0);
    same.raw = same.scheme + same.raw.substr(same.raw.find("://"));
    return theirs.resolve(theirs, same);
  };
  tableq::register_dialect(mine);
  const std::string url = here().url();
  auto mail = mail_of(trouble_.open("mine" + url.substr(url.find("://")), impatient));
  trouble_.fail("fifo.peek", {trouble::busy, moment::before});
  EXPECT_CODE(busy, static_cast<void>(mail.peek()));
  trouble_.fail("fifo.peek", {trouble::deadlock, moment::before});
  EXPECT_CODE(conflict, static_cast<void>(mail.peek()));
  trouble_.fail("fifo.enqueue", lost);
  EXPECT_CODE(outcome_unknown, mail.enqueue("b"));
}

}  // namespace
