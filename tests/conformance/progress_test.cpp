// Progress and results of handlers, and waits for the end of a message.

#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "conformance/claim_fixture.hpp"
#include "support/becomes.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::message_state;
using tableq::settle_result;
using ending = tableq::awaited::ending;

class progress : public claim_test {
 protected:
  tableq::claim_queue& filled() {
    id_ = jobs().enqueue("work").id;
    return jobs();
  }
  std::optional<tableq::message_progress> shown() {
    return jobs().get(id_, {.progress = true})->progress;
  }
  tableq::message_id id_;
};
TABLEQ_ON_BACKENDS(progress, all_backends);

TEST_P(progress, is_stored_with_the_extension_of_the_lease) {
  const auto taken = take_one(filled());
  jobs().progress(taken, 0.1, "page 3 of 30");
  jobs().progress(taken, 0.4, "page 12 of 30");
  EXPECT_FALSE(shown());
  clock.advance(5s);
  EXPECT_EQ(jobs().extend(taken, 1min), settle_result::applied);
  ASSERT_TRUE(shown());
  EXPECT_DOUBLE_EQ(shown()->done, 0.4);
  EXPECT_EQ(shown()->note, "page 12 of 30");
  EXPECT_EQ(shown()->at, clock.now());
  EXPECT_EQ(jobs().complete(taken), settle_result::applied);
}

TEST_P(progress, is_shown_to_those_who_ask) {
  const auto taken = take_one(filled());
  jobs().progress(taken, 0.5);
  EXPECT_EQ(jobs().extend(taken, 1min), settle_result::applied);
  EXPECT_FALSE(jobs().get(id_)->progress);
  EXPECT_FALSE(jobs().list(message_state::leased).at(0).progress);
  const auto listed = jobs().list(message_state::leased, {.with = {.progress = true}});
  ASSERT_TRUE(listed.at(0).progress);
  EXPECT_EQ(listed[0].progress->note, "");
}

TEST_P(progress, stale_receipt_stores_none) {
  const auto stale = take_one(filled());
  clock.advance(jobs().lease());
  const auto fresh = take_one();
  jobs().progress(stale, 0.9, "too late");
  EXPECT_EQ(jobs().extend(stale, 1min), settle_result::lease_lost);
  EXPECT_EQ(jobs().fail(stale, "too late"), settle_result::lease_lost);
  EXPECT_EQ(jobs().release(stale), settle_result::lease_lost);
  EXPECT_FALSE(shown());
  jobs().progress(fresh, 0.1, "in time");
  EXPECT_EQ(jobs().extend(fresh, 1min), settle_result::applied);
  EXPECT_EQ(shown()->note, "in time");
}

TEST_P(progress, is_kept_by_a_retry_and_a_release_and_a_dead_message) {
  filled();
  for (const char* note : {"failed", "released", "given up"}) {
    const auto taken = take_one();
    jobs().progress(taken, 0.5, note);
    const auto settled = note == std::string("failed") ? jobs().fail(taken, "why")
                         : note == std::string("released")
                             ? jobs().release(taken)
                             : jobs().fail(taken, "why", {.give_up = true});
    EXPECT_EQ(settled, settle_result::applied);
    ASSERT_TRUE(shown()) << note;
    EXPECT_EQ(shown()->note, note);
  }
  EXPECT_EQ(jobs().get(id_)->state, message_state::dead);
}

TEST_P(progress, is_cleared_by_a_completion) {
  auto kept = db_with_clock().claim("kept", at_once({.keep_completed = true}));
  const auto id = kept.enqueue("work").id;
  auto taken = take_one(kept);
  kept.progress(taken, 0.5, "half");
  EXPECT_EQ(kept.fail(taken, "why"), settle_result::applied);
  taken = take_one(kept);
  kept.progress(taken, 0.9, "nearly");
  EXPECT_EQ(kept.complete(taken), settle_result::applied);
  const auto done = kept.get(id, {.progress = true, .result = true});
  EXPECT_EQ(done->state, message_state::done);
  EXPECT_EQ(done->payload, "work");
  EXPECT_FALSE(done->progress);
  EXPECT_FALSE(done->result);
  if (!can().shared) return;  // Plain SQL would not see it.
  EXPECT_EQ(here().sql("SELECT COUNT(*) FROM kept WHERE progress IS NOT NULL").at(0).at(0), "0");
}

TEST_P(progress, is_bounded_and_plain) {
  const auto taken = take_one(filled());
  std::string long_note(300, 'x');
  for (int i = 0; i < 150; ++i) long_note += "\xC3\xA9";
  const std::vector<std::pair<std::string, std::string>> notes{
      {" \n two words\t", "two words"},
      {"\xFF", "\xEF\xBF\xBD"},
      {"a \"quote\" and a \\", "a \"quote\" and a \\"},
      {long_note, long_note.substr(0, 500)},
  };
  for (const auto& [given, stored] : notes) {
    jobs().progress(taken, 2, given);
    EXPECT_EQ(jobs().extend(taken, 1min), settle_result::applied);
    EXPECT_EQ(shown()->note, stored);
    EXPECT_DOUBLE_EQ(shown()->done, 1);
  }
  // Not only what is shown of it.
  if (can().shared) {
    const auto stored = here().sql("SELECT progress FROM jobs").at(0).at(0);
    EXPECT_LE(stored.value_or("").size(), 600U);
  }
  for (const double odd : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    jobs().progress(taken, odd);
    EXPECT_EQ(jobs().extend(taken, 1min), settle_result::applied);
    EXPECT_DOUBLE_EQ(shown()->done, 0);
  }
}

TEST_P(progress, of_another_queue_is_refused) {
  const auto taken = take_one(filled());
  auto other = db_with_clock().claim("other");
  EXPECT_CODE(invalid_argument, other.progress(taken, 0.5));
}

TEST_P(progress, in_a_transaction_goes_with_it) {
  const auto taken = take_one(filled());
  jobs().progress(taken, 0.5, "half");
  auto tx = db_with_clock().begin();
  EXPECT_EQ(jobs().in(tx).extend(taken, 1min), settle_result::applied);
  tx.rollback();
  EXPECT_FALSE(shown());
  EXPECT_EQ(jobs().extend(taken, 1min), settle_result::applied);
  ASSERT_TRUE(shown());
  EXPECT_EQ(shown()->note, "half");
}

TEST_P(progress, from_plain_sql_is_shown_as_its_text) {
  if (!can().shared) GTEST_SKIP() << "plain SQL needs a second session in the same place";
  filled();
  here().sql("UPDATE jobs SET progress = 'half done'");
  ASSERT_TRUE(shown());
  EXPECT_EQ(shown()->note, "half done");
  EXPECT_EQ(shown()->at, tableq::timestamp());
}

TEST_P(progress, a_result_is_kept_with_its_message) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  const std::string bytes("4\0\xFF", 3);
  for (const std::string& result : {bytes, std::string(64UL * 1024, 'r'), std::string()}) {
    const auto id = kept.enqueue("work").id;
    EXPECT_EQ(kept.complete(take_one(kept), result), settle_result::applied);
    EXPECT_FALSE(kept.get(id)->result);
    const auto found = kept.get(id, {.result = true});
    ASSERT_TRUE(found->result);
    EXPECT_EQ(*found->result, result);
  }
  const auto id = kept.enqueue("work", {.key = "k"}).id;
  const auto taken = take_one(kept);
  EXPECT_EQ(kept.find("k", {.result = true})->id, id);
  EXPECT_CODE(too_large, (void)kept.complete(taken, std::string(64UL * 1024 + 1, 'r')));
  EXPECT_EQ(kept.complete(taken), settle_result::applied);
}

TEST_P(progress, stale_receipt_keeps_no_result) {
  auto kept = db_with_clock().claim("kept", at_once({.keep_completed = true}));
  const auto id = kept.enqueue("work").id;
  const auto stale = take_one(kept);
  clock.advance(kept.lease());
  const auto fresh = take_one(kept);
  EXPECT_EQ(kept.complete(stale, "stale"), settle_result::lease_lost);
  EXPECT_EQ(kept.get(id)->state, message_state::leased);
  EXPECT_EQ(kept.complete(fresh, "fresh"), settle_result::applied);
  EXPECT_EQ(kept.complete(fresh, "again"), settle_result::lease_lost);
  EXPECT_EQ(kept.get(id, {.result = true})->result, "fresh");
}

TEST_P(progress, a_result_that_nothing_keeps_is_refused) {
  const auto taken = take_one(filled());
  EXPECT_CODE(invalid_argument, (void)jobs().complete(taken, "42"));
  EXPECT_EQ(jobs().get(id_)->state, message_state::leased);
  EXPECT_EQ(jobs().complete(taken), settle_result::applied);
}

TEST_P(progress, a_scoped_delivery_has_both) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  const auto id = kept.enqueue("work").id;
  auto taken = kept.take_scoped();
  ASSERT_TRUE(taken);
  taken->progress(0.5, "half");
  EXPECT_EQ(taken->extend(1min), settle_result::applied);
  EXPECT_EQ(kept.get(id, {.progress = true})->progress->note, "half");
  EXPECT_EQ(taken->complete("42"), settle_result::applied);
  EXPECT_EQ(kept.get(id, {.result = true})->result, "42");
  const auto second = kept.enqueue("work").id;
  auto again = kept.take_scoped();
  auto tx = db_with_clock().begin();
  EXPECT_EQ(again->complete(tx, "43"), settle_result::applied);
  tx.commit();
  EXPECT_EQ(kept.get(second, {.result = true})->result, "43");
}

/// Waits for the end of a message.
class waiting_for : public on_each_backend {
 protected:
  tableq::claim_queue jobs(bool keeps = true) {
    return db().claim("jobs", at_once({.max_attempts = 2, .keep_completed = keeps}));
  }
};
TABLEQ_ON_BACKENDS(waiting_for, all_backends);

TEST_P(waiting_for, a_done_message_tells_its_result_and_last_error) {
  const auto id = jobs().enqueue("work").id;
  auto found = jobs().wait_for(id, {.wait = 0ms});
  EXPECT_EQ(found.how, ending::waiting);
  EXPECT_EQ(found.state, message_state::ready);
  EXPECT_EQ(jobs().fail(*jobs().take_one(), "at first"), settle_result::applied);
  EXPECT_EQ(jobs().complete(*jobs().take_one(), "42"), settle_result::applied);
  found = jobs().wait_for(id);
  EXPECT_EQ(found.how, ending::done);
  EXPECT_EQ(found.state, message_state::done);
  EXPECT_EQ(found.result, "42");
  ASSERT_TRUE(found.error);
  EXPECT_EQ(found.error->error, "at first");
}

TEST_P(waiting_for, a_dead_message_tells_its_last_error) {
  const auto id = jobs().enqueue("work").id;
  for (const char* why : {"first", "last"}) {
    EXPECT_EQ(jobs().fail(*jobs().take_one(), why), settle_result::applied);
  }
  const auto found = jobs().wait_for(id);
  EXPECT_EQ(found.how, ending::dead);
  ASSERT_TRUE(found.error);
  EXPECT_EQ(found.error->error, "last");
  EXPECT_FALSE(found.result);
}

TEST_P(waiting_for, a_message_that_is_not_there_returns_at_once) {
  auto queue = jobs(false);
  const auto id = queue.enqueue("work").id;
  EXPECT_EQ(queue.complete(*queue.take_one()), settle_result::applied);
  const auto found = queue.wait_for(id, {.wait = 24h});
  EXPECT_EQ(found.how, ending::gone);
  EXPECT_FALSE(found.state);
  EXPECT_EQ(queue.wait_for({987}, {.wait = 24h}).how, ending::gone);
}

TEST_P(waiting_for, is_ended_by_a_settlement) {
  const auto id = jobs().enqueue("work").id;
  const auto taken = jobs().take_one();
  auto waits = std::async(std::launch::async, [&] { return jobs().wait_for(id, {.wait = 24h}); });
  EXPECT_EQ(waits.wait_for(20ms), std::future_status::timeout);
  EXPECT_EQ(jobs().complete(*taken, "42"), settle_result::applied);
  ASSERT_EQ(waits.wait_for(for_ever), std::future_status::ready);
  EXPECT_EQ(waits.get().result, "42");
}

TEST_P(waiting_for, is_ended_by_a_settlement_elsewhere) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  const auto id = jobs().enqueue("work").id;
  auto other = open();
  auto theirs = other.claim("jobs");
  const auto taken = theirs.take_one();
  auto waits = std::async(std::launch::async, [&] { return jobs().wait_for(id, {.wait = 24h}); });
  EXPECT_EQ(theirs.complete(*taken, "42"), settle_result::applied);
  ASSERT_EQ(waits.wait_for(for_ever), std::future_status::ready);
  EXPECT_EQ(waits.get().result, "42");
}

TEST_P(waiting_for, is_ended_by_a_stop) {
  const auto id = jobs().enqueue("work").id;
  std::stop_source stop;
  auto waits = std::async(std::launch::async, [&] {
    return jobs().wait_for(id, {.wait = 24h, .stop = stop.get_token()});
  });
  stop.request_stop();
  ASSERT_EQ(waits.wait_for(for_ever), std::future_status::ready);
  EXPECT_EQ(waits.get().how, ending::waiting);
  EXPECT_CODE(invalid_argument, (void)jobs().wait_for(id, {.wait = -1ms}));
}

/// Progress and results of workers and keepers.
class worker_progress : public on_each_backend {
 protected:
  tableq::claim_queue jobs(bool keeps = true) {
    return db().claim("jobs", at_once({.keep_completed = keeps}));
  }
  static std::string note_of(const tableq::claim_queue& queue, tableq::message_id id) {
    const auto found = queue.get(id, {.progress = true});
    return found && found->progress ? found->progress->note : "";
  }
};
TABLEQ_ON_BACKENDS(worker_progress, direct_backends);

TEST_P(worker_progress, is_stored_by_the_heartbeat) {
  auto queue = jobs();
  const auto id = queue.enqueue("work").id;
  std::promise<void> seen;
  tableq::worker pool(queue,
                      [&](const tableq::delivery& d) {
                        queue.progress(d, 0.4, "page 12");
                        seen.get_future().wait();
                        return tableq::handled::completed("42");
                      },
                      {.lease = 300ms, .until_empty = true});
  EXPECT_TRUE(becomes([&] { return note_of(queue, id) == "page 12"; }));
  seen.set_value();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(queue.wait_for(id).result, "42");
}

TEST_P(worker_progress, that_cannot_be_stored_costs_no_lease) {
  if (!can().shared) GTEST_SKIP() << "the look needs a second session";
  const tableq::testing::faults faults;
  auto own = faults.open(here().url(), {.retry_for = 0ms});
  auto queue = own.claim("jobs");
  const auto id = queue.enqueue("work").id;
  for (std::size_t nth = 1; nth <= 1000; ++nth) {
    faults.fail("claim.progress", {tableq::testing::trouble::busy}, nth);
  }
  std::promise<tableq::timestamp> begun;
  std::promise<void> seen;
  tableq::worker pool(queue,
                      [&](const tableq::delivery& d, const std::stop_token& stop) {
                        queue.progress(d, 0.4, "page 12");
                        begun.set_value(d.lease_until);
                        seen.get_future().wait();
                        EXPECT_FALSE(stop.stop_requested());
                      },
                      {.lease = 300ms, .until_empty = true});
  const tableq::timestamp first = begun.get_future().get();
  EXPECT_TRUE(becomes([&] { return jobs(false).get(id)->due_at > first + 900ms; }));
  EXPECT_GE(faults.failures(), 1U);
  EXPECT_EQ(note_of(jobs(false), id), "");
  faults.heal();
  EXPECT_TRUE(becomes([&] { return note_of(jobs(false), id) == "page 12"; }));
  seen.set_value();
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(pool.counts().completed, 1U);
}

TEST_P(worker_progress, of_a_locked_message_holds_up_no_lease) {
  if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
  auto queue = jobs();
  queue.enqueue_batch(std::vector<tableq::new_claim_message>(2, {.payload = "work"}));
  const auto taken = queue.take(2, {.lease = 600ms});
  ASSERT_EQ(taken.size(), 2U);
  auto other = open();
  auto tx = other.begin();
  EXPECT_EQ(other.claim("jobs").in(tx).complete(taken[0]), settle_result::applied);
  queue.progress(taken[0], 0.5, "locked");
  queue.progress(taken[1], 0.5, "free");
  tableq::keeper keeps(db());
  for (const auto& each : taken) keeps.add(queue, each, 600ms);
  EXPECT_TRUE(becomes([&] { return note_of(queue, taken[1].receipt.id) == "free"; }));
  EXPECT_TRUE(becomes(
      [&] { return queue.get(taken[1].receipt.id)->due_at > taken[1].lease_until + 600ms; }));
  tx.rollback();
  EXPECT_TRUE(
      becomes([&] { return note_of(queue, taken[0].receipt.id) == "locked" || keeps.size() < 2; }));
}

TEST_P(worker_progress, of_kept_messages_is_stored_too) {
  auto queue = jobs();
  const auto id = queue.enqueue("work").id;
  const tableq::kept_delivery later;
  EXPECT_TRUE(later.progress(0.1, "early"));
  tableq::worker pool(queue, [&](const tableq::delivery&) { return tableq::handled::kept(later); },
                      {.lease = 300ms, .until_empty = true});
  EXPECT_TRUE(becomes([&] { return note_of(queue, id) == "early"; }));
  EXPECT_TRUE(later.progress(0.5, "half"));
  EXPECT_TRUE(becomes([&] { return note_of(queue, id) == "half"; }));
  EXPECT_TRUE(later.complete("42"));
  EXPECT_FALSE(later.progress(0.9, "too late"));
  ASSERT_TRUE(pool.wait_for(for_ever));
  EXPECT_EQ(queue.wait_for(id).result, "42");
}

TEST_P(worker_progress, results_of_a_batch_and_of_a_transaction_are_kept) {
  auto queue = jobs();
  std::vector<tableq::message_id> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(queue.enqueue(std::to_string(i)).id);
  tableq::worker pool(queue,
                      [](const tableq::delivery& d) {
                        return d.payload.size() == 1 ? tableq::handled::completed()
                                                     : tableq::handled::completed(d.payload);
                      },
                      {.threads = 4, .until_empty = true});
  ASSERT_TRUE(pool.wait_for(for_ever));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = queue.wait_for(ids[i]);
    EXPECT_EQ(found.how, ending::done);
    EXPECT_EQ(found.result, i < 10 ? std::nullopt : std::optional(std::to_string(i)));
  }
  const auto last = queue.enqueue("x").id;
  EXPECT_EQ(tableq::drain(queue,
                          [](tableq::transaction&, const tableq::delivery&) {
                            return tableq::handled::completed("in it");
                          }),
            1U);
  EXPECT_EQ(queue.wait_for(last).result, "in it");
}

TEST_P(worker_progress, a_result_that_nothing_keeps_makes_the_message_dead) {
  auto queue = jobs(false);
  const auto plain = queue.enqueue("plain").id;
  const auto bound = queue.enqueue("bound").id;
  const auto result = [](const auto&...) { return tableq::handled::completed("42"); };
  EXPECT_EQ(tableq::drain(queue, [&](const tableq::delivery&) { return result(); }), 2U);
  for (const auto id : {plain, bound}) {
    const auto found = queue.wait_for(id);
    EXPECT_EQ(found.how, ending::dead);
    ASSERT_TRUE(found.error);
    EXPECT_TRUE(contains(found.error->error, "keep_completed")) << found.error->error;
  }
  const auto third = queue.enqueue("in a transaction").id;
  EXPECT_EQ(
      tableq::drain(queue, [&](tableq::transaction&, const tableq::delivery&) { return result(); }),
      1U);
  EXPECT_EQ(queue.wait_for(third).how, ending::dead);
}

}  // namespace
