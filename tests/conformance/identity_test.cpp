// A handle belongs to the queue that it was opened for, and not to a later one of the same name.
#include <gtest/gtest.h>
#include <soci/soci.h>

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::errc;

/// The error of a handle whose queue was dropped and created again.
errc answer_to(tableq::kind old, tableq::kind now) {
  return old == now ? errc::not_found : errc::kind_mismatch;
}

class later_queue_of_kind : public on_each_kind {
 protected:
  /// A used handle of another database object: it has cached everything that it caches.
  any_queue old_handle(tableq::database& from) {
    any_queue out(from, kind(), "mail");
    out.put("before");
    EXPECT_EQ(out.take()->payload, "before");
    return out;
  }
  /// Drops the queue and makes one of another kind with one message.
  any_queue made_anew(tableq::kind as) {
    EXPECT_TRUE(db().drop("mail"));
    any_queue out(db(), as, "mail");
    out.put("theirs");
    return out;
  }
  /// The first test has all kinds.
  [[nodiscard]] std::vector<tableq::kind> two_kinds() const {
    using enum tableq::kind;
    return {kind(), kind() == claim ? fifo : claim};
  }
  static void expect_untouched(any_queue& queue) {
    EXPECT_EQ(queue.waiting(), 1U);
    const auto left = queue.take();
    ASSERT_TRUE(left);
    EXPECT_EQ(left->payload, "theirs");
    EXPECT_FALSE(queue.take());
  }
  /// A read may return nothing until the handle has noticed the drop.
  template <class Read>
  static void expect_nothing_from(Read read, errc code) {
    try {
      EXPECT_FALSE(read()) << "a message of another queue";
    } catch (const tableq::error& refused) {
      EXPECT_EQ(to_string(refused.code()), to_string(code)) << refused.what();
    }
  }
};
TABLEQ_ON_KINDS(later_queue_of_kind, shared_backends);

TEST_P(later_queue_of_kind, is_neither_read_nor_written_by_an_old_handle) {
  for (const tableq::kind next : all_kinds()) {
    SCOPED_TRACE(to_string(next));
    auto other = open();
    any_queue old = old_handle(other);
    any_queue fresh = made_anew(next);
    const errc code = answer_to(kind(), next);
    expect_nothing_from([&] { return old.take(); }, code);
    const tableq::error refused = thrown_by([&] { old.put("lost"); });
    EXPECT_EQ(to_string(refused.code()), to_string(code)) << refused.what();
    EXPECT_EQ(refused.advice(), tableq::advice::never);
    // From then on it has noticed it.
    const tableq::error again = thrown_by([&] { static_cast<void>(old.take()); });
    EXPECT_EQ(to_string(again.code()), to_string(code)) << again.what();
    expect_untouched(fresh);
    ASSERT_TRUE(db().drop("mail"));
  }
}

TEST_P(later_queue_of_kind, is_not_touched_in_a_transaction_of_an_old_handle) {
  for (const tableq::kind next : two_kinds()) {
    SCOPED_TRACE(to_string(next));
    auto other = open();
    any_queue old = old_handle(other);
    any_queue fresh = made_anew(next);
    {
      auto tx = other.begin();
      EXPECT_THROW(old.in(tx).put("lost"), tableq::error);
    }
    {
      auto tx = other.begin();
      try {
        EXPECT_FALSE(old.in(tx).take());
        tx.commit();
      } catch (const tableq::error&) {  // It has noticed it already, or the table has other
                                        // columns.
      }
    }
    const tableq::error known = thrown_by([&] { old.put("lost"); });
    EXPECT_EQ(to_string(known.code()), to_string(answer_to(kind(), next))) << known.what();
    expect_untouched(fresh);
    ASSERT_TRUE(db().drop("mail"));
  }
}

TEST_P(later_queue_of_kind, is_not_touched_in_an_enlisted_session) {
  for (const tableq::kind next : two_kinds()) {
    SCOPED_TRACE(to_string(next));
    auto other = open();
    any_queue old = old_handle(other);
    any_queue fresh = made_anew(next);
    const auto session = here().session();
    {
      soci::transaction mine(*session);
      tableq::enlistment joined = tableq::enlist(other, *session);
      EXPECT_THROW(old.in(joined).put("lost"), tableq::error);
      mine.rollback();
    }
    {
      soci::transaction mine(*session);
      tableq::enlistment joined = tableq::enlist(other, *session);
      try {
        EXPECT_FALSE(old.in(joined).take());
        mine.commit();
      } catch (const tableq::error&) {
        mine.rollback();
      }
    }
    expect_untouched(fresh);
    ASSERT_TRUE(db().drop("mail"));
  }
}

TEST_P(later_queue_of_kind, is_told_by_every_call_within_a_second) {
  auto other = open();
  const any_queue old = old_handle(other);
  any_queue fresh = made_anew(kind());
  const auto begin = std::chrono::steady_clock::now();
  std::optional<errc> said;
  while (!said && std::chrono::steady_clock::now() < begin + for_ever) {
    try {
      static_cast<void>(old.waiting());
    } catch (const tableq::error& refused) {
      said = refused.code();
    }
  }
  // A second, and the time of one call on a slow machine.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(said, errc::not_found);
  EXPECT_CODE(not_found, static_cast<void>(old.peek(1)));
  expect_untouched(fresh);
}

TEST_P(later_queue_of_kind, keeps_its_limits_from_an_old_handle) {
  auto other = open();
  any_queue old = old_handle(other);
  any_queue fresh = made_anew(kind());
  EXPECT_CODE(not_found, old.base().set_limits({.capacity = 1}));
  EXPECT_CODE(not_found, old.base().pause());
  EXPECT_FALSE(fresh.base().limits().capacity);
  EXPECT_FALSE(fresh.base().paused());
  expect_untouched(fresh);
}

class dropped_queue_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(dropped_queue_of_kind, all_backends);

TEST_P(dropped_queue_of_kind, ends_its_handles_in_the_same_database_at_once_and_for_ever) {
  any_queue old = make("mail");
  old.put("gone");
  ASSERT_TRUE(db().drop("mail"));
  any_queue fresh = make("mail");
  EXPECT_CODE(not_found, static_cast<void>(old.waiting()));
  EXPECT_CODE(not_found, static_cast<void>(old.peek(1)));
  EXPECT_CODE(not_found, old.put("lost"));
  EXPECT_CODE(not_found, static_cast<void>(old.take()));
  EXPECT_CODE(not_found, static_cast<void>(old.base().limits()));
  EXPECT_CODE(not_found, old.base().pause());
  auto tx = db().begin();
  EXPECT_CODE(not_found, old.in(tx).put("lost"));
  tx.rollback();
  EXPECT_EQ(fresh.waiting(), 0U);
}

TEST_P(dropped_queue_of_kind, wakes_whoever_waits_for_a_message_of_it) {
  any_queue old = make("mail");
  std::optional<errc> said;
  std::thread waits([&] {
    try {
      static_cast<void>(old.take_up_to(1, for_ever));
    } catch (const tableq::error& refused) {
      said = refused.code();
    }
  });
  ASSERT_TRUE(db().drop("mail"));
  waits.join();
  EXPECT_EQ(said, errc::not_found);
}

class later_claim_queue : public on_each_backend {
 protected:
  /// Drops `jobs` by another database object; this one does not notice.
  void drop() { EXPECT_TRUE(open().drop("jobs")); }
  static std::size_t ready(const tableq::claim_queue& of) { return of.stats().ready; }
};
TABLEQ_ON_BACKENDS(later_claim_queue, shared_backends);

TEST_P(later_claim_queue, with_groups_holds_none_for_a_handle_without) {
  auto old = db().claim("jobs");
  old.enqueue("before");
  ASSERT_EQ(old.complete(old.take(1).at(0).receipt), tableq::settle_result::applied);
  drop();
  auto other = open();
  auto fresh = other.claim("jobs", {.groups = tableq::group_options{}});
  for (const char* one : {"first", "second"}) fresh.enqueue(one, {.group = "g"});
  try {
    EXPECT_TRUE(old.take(1).empty());
  } catch (const tableq::error& refused) {
    EXPECT_EQ(refused.code(), errc::not_found) << refused.what();
  }
  for (const char* one : {"first", "second"}) {
    const auto taken = fresh.take(1);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].payload, one);
    EXPECT_EQ(fresh.complete(taken[0].receipt), tableq::settle_result::applied);
  }
}

TEST_P(later_claim_queue, is_not_settled_changed_or_emptied_by_an_old_handle) {
  auto old = db().claim("jobs");
  const auto id = old.enqueue("before").id;
  const tableq::receipt leased = old.take(1).at(0).receipt;
  drop();
  auto other = open();
  auto fresh = other.claim("jobs");
  ASSERT_EQ(fresh.enqueue("theirs").id, id) << "the ids of both begin alike";
  ASSERT_EQ(fresh.enqueue("dead").id.value, id.value + 1);
  const auto taken = fresh.take(2);
  ASSERT_EQ(taken.size(), 2U);
  ASSERT_EQ(fresh.fail(taken[1].receipt, "no good", {.give_up = true}),
            tableq::settle_result::applied);
  const auto nothing = [](const auto& call) {
    try {
      call();
    } catch (const tableq::error& refused) {
      EXPECT_EQ(refused.code(), errc::not_found) << refused.what();
    }
  };
  nothing([&] { EXPECT_EQ(old.complete(leased), tableq::settle_result::lease_lost); });
  nothing([&] { EXPECT_EQ(old.release(leased), tableq::settle_result::lease_lost); });
  nothing([&] { EXPECT_EQ(old.fail(leased, "old"), tableq::settle_result::lease_lost); });
  nothing([&] { EXPECT_EQ(old.extend(leased, 1h), tableq::settle_result::lease_lost); });
  ASSERT_EQ(fresh.release(taken[0].receipt), tableq::settle_result::applied);
  const tableq::message_id second{id.value + 1};
  nothing([&] { EXPECT_NE(old.cancel(id), tableq::change_result::applied); });
  nothing([&] { EXPECT_NE(old.set_priority(id, 9), tableq::change_result::applied); });
  nothing([&] { EXPECT_EQ(old.redrive(std::span(&second, 1)), 0U); });
  nothing([&] { EXPECT_EQ(old.redrive_all().count, 0U); });
  nothing([&] { EXPECT_EQ(old.purge(tableq::message_state::dead), 0U); });
  const auto stats = fresh.stats();
  EXPECT_EQ(stats.ready, 1U);
  EXPECT_EQ(stats.dead, 1U);
  EXPECT_EQ(fresh.get(id)->priority, 0);
}

TEST_P(later_claim_queue, holds_no_key_of_an_old_handle) {
  using tableq::on_duplicate;
  for (const on_duplicate what : {on_duplicate::keep_first, on_duplicate::reject,
                                  on_duplicate::replace, on_duplicate::postpone}) {
    auto old = db().claim("jobs");
    old.enqueue("before", {.key = "k", .on_duplicate = what});
    drop();
    auto other = open();
    auto fresh = other.claim("jobs");
    const auto id = fresh.enqueue("theirs", tableq::claim_enqueue_options{.key = "k"}).id;
    const tableq::error refused =
        thrown_by([&] { old.enqueue("lost", {.key = "k", .on_duplicate = what}); });
    EXPECT_TRUE(refused.code() == errc::not_found ||
                (what == on_duplicate::reject && refused.code() == errc::duplicate_key))
        << refused.what();
    EXPECT_EQ(fresh.get(id)->payload, "theirs");
    EXPECT_EQ(ready(fresh), 1U);
    EXPECT_TRUE(other.drop("jobs"));
    // The next round begins with a new handle.
    clear_database();
  }
}

TEST_P(later_claim_queue, takes_the_dead_letters_of_a_queue_that_names_it) {
  auto jobs = db().claim("jobs", {.max_attempts = 1, .dead_letters = "letters"});
  jobs.enqueue("work");
  auto other = open();
  ASSERT_TRUE(other.drop("letters"));
  auto letters = other.claim("letters");
  ASSERT_EQ(jobs.fail(jobs.take(1).at(0).receipt, "no good"), tableq::settle_result::applied);
  EXPECT_EQ(letters.take(1).at(0).payload, "work");
}

class later_strict_queue : public on_each_backend {};
TABLEQ_ON_BACKENDS(later_strict_queue, shared_backends);

TEST_P(later_strict_queue, is_left_alone_by_a_handle_of_a_relaxed_one_and_the_other_way_round) {
  using tableq::ordering;
  for (const ordering before : {ordering::relaxed, ordering::strict}) {
    const ordering after = before == ordering::strict ? ordering::relaxed : ordering::strict;
    auto other = open();
    auto old = other.fifo("mail", {.ordering = before});
    old.enqueue("before");
    ASSERT_TRUE(old.dequeue());
    ASSERT_TRUE(db().drop("mail"));
    auto fresh = db().fifo("mail", {.ordering = after});
    fresh.enqueue("theirs");
    EXPECT_CODE(not_found, old.enqueue("lost"));
    EXPECT_CODE(not_found, static_cast<void>(old.dequeue()));
    EXPECT_EQ(fresh.stats().waiting, 1U);
    ASSERT_TRUE(db().drop("mail"));
  }
}

}  // namespace
