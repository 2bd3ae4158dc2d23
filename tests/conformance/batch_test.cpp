#include <gtest/gtest.h>
#include <soci/soci.h>

#include <algorithm>
#include <array>
#include <future>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <tableq/soci.hpp>
#include <tableq/testing.hpp>

#include "support/at_once.hpp"
#include "support/expect.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::change_result;
using tableq::settle_result;

class batches : public on_each_backend {
 protected:
  tableq::claim_queue jobs(const std::string& name = "jobs", tableq::claim_options options = {}) {
    options.batches = true;
    return db().claim(name, at_once(options));
  }
  tableq::claim_queue ends() { return db().claim("ends", at_once()); }
  tableq::batch begin(const std::string& payload = "over") {
    const auto there = ends();
    return jobs().begin_batch({.then = tableq::batch_end{.queue = "ends", .payload = payload}});
  }
  static tableq::delivery take_one(tableq::claim_queue from) {
    auto taken = from.take(1);
    if (taken.empty()) throw std::runtime_error("nothing was ready");
    return std::move(taken.front());
  }
  /// The headers of the only end message; empty: there is none.
  tableq::headers end_headers() {
    const auto all = ends().peek(10);
    EXPECT_LE(all.size(), 1U);
    return all.empty() ? tableq::headers() : all.front().headers;
  }
  static void expect_counts(const tableq::headers& of, std::size_t total, std::size_t completed,
                            std::size_t dead, std::size_t removed, std::size_t gone) {
    ASSERT_TRUE(of.contains("tableq-batch")) << "the batch has not ended";
    EXPECT_EQ(of.at("tableq-batch-total"), std::to_string(total));
    EXPECT_EQ(of.at("tableq-batch-completed"), std::to_string(completed));
    EXPECT_EQ(of.at("tableq-batch-dead"), std::to_string(dead));
    EXPECT_EQ(of.at("tableq-batch-removed"), std::to_string(removed));
    EXPECT_EQ(of.at("tableq-batch-gone"), std::to_string(gone));
  }
  /// Reads until an end has come.
  std::optional<tableq::delivery> wait_for_end(tableq::database& by) {
    return by.claim("ends").take_one({.wait = for_ever});
  }
};
TABLEQ_ON_BACKENDS(batches, all_backends);

TEST_P(batches, have_a_name_for_people) {
  const auto b = jobs().begin_batch({.name = "import 7"});
  EXPECT_EQ(b.get()->name, "import 7");
  EXPECT_EQ(begin("report").get()->name, "");
  EXPECT_EQ(db().batches({}).back().name, "import 7");
  EXPECT_CODE(invalid_argument, (void)jobs().begin_batch({.name = std::string(201, 'x')}));
  EXPECT_CODE(invalid_argument, (void)jobs().begin_batch({.name = "a\nb" + std::string(1, '\0')}));
}

TEST_P(batches, end_when_sealed_and_all_messages_are_completed) {
  const auto b = begin("report");
  jobs().enqueue("one", {.batch = b});
  jobs().enqueue("two", {.batch = b});
  EXPECT_EQ(jobs().complete(take_one(jobs())), settle_result::applied);
  db().batch(b.id()).seal();
  EXPECT_TRUE(end_headers().empty());
  EXPECT_EQ(jobs().complete(take_one(jobs())), settle_result::applied);
  const auto end = take_one(ends());
  EXPECT_EQ(end.payload, "report");
  EXPECT_EQ(end.headers.at("tableq-batch"), std::to_string(b.id()));
  expect_counts(end.headers, 2, 2, 0, 0, 0);
  EXPECT_TRUE(ends().take(1).empty());
  EXPECT_TRUE(db().batch(b.id()).get()->finished_at);
}

TEST_P(batches, end_in_a_queue_of_any_kind) {
  auto heap = db().heap("heap");
  auto fifo = db().fifo("fifo", {.ordering = tableq::ordering::strict});
  auto lifo = db().lifo("lifo");
  auto pending = db().pending("pending");
  for (const std::string name : {"heap", "fifo", "lifo", "pending"}) {
    jobs().begin_batch({.then = tableq::batch_end{.queue = name, .payload = name}}).seal();
  }
  EXPECT_EQ(heap.dequeue()->payload, "heap");
  EXPECT_EQ(fifo.dequeue()->payload, "fifo");
  EXPECT_EQ(lifo.dequeue()->payload, "lifo");
  EXPECT_EQ(pending.dequeue()->payload, "pending");
  EXPECT_EQ(db().find("fifo")->ordering, tableq::ordering::strict);
  EXPECT_TRUE(db().find("heap")->batch_ends);
}

TEST_P(batches, give_the_message_its_headers_key_group_and_priority) {
  auto letters = db().claim("letters", at_once({.groups = {}}));
  auto b = jobs().begin_batch({.then = tableq::batch_end{.queue = "letters",
                                                         .payload = "p",
                                                         .headers = {{"a", "b"}},
                                                         .key = "k",
                                                         .group = "g",
                                                         .priority = 7}});
  b.seal();
  const auto end = take_one(letters);
  EXPECT_EQ(end.headers.at("a"), "b");
  EXPECT_EQ(end.key, "k");
  EXPECT_EQ(end.group, "g");
  EXPECT_EQ(end.priority, 7);
}

TEST_P(batches, refuse_headers_that_leave_no_room_for_their_own) {
  static_cast<void>(db().claim("letters"));
  const auto with = [&](std::size_t length) {
    const tableq::headers all{{"a", std::string(length, 'x')}};
    return jobs().begin_batch({.then = tableq::batch_end{.queue = "letters", .headers = all}});
  };
  std::size_t length = 65'527;  // The longest of another message.
  EXPECT_EQ(code_of([&] { with(length); }), "invalid_argument");
  const auto begins = [&] {
    try {
      with(length).seal();
      return true;
    } catch (const tableq::error&) {
      return false;
    }
  };
  while (length > 65'000 && !begins()) --length;
  EXPECT_EQ(take_one(db().claim("letters")).headers.at("a").size(), length);
}

TEST_P(batches, count_every_way_out) {
  auto few = jobs("few", {.max_attempts = 1});
  const auto b = begin();
  few.enqueue("dies", {.batch = b});
  EXPECT_EQ(few.fail(take_one(few), "no"), settle_result::applied);
  few.enqueue("is done", {.batch = b});
  EXPECT_EQ(few.complete(take_one(few)), settle_result::applied);
  const auto waits = few.enqueue("is cancelled", {.batch = b});
  EXPECT_EQ(few.cancel(waits.id), change_result::applied);
  auto dropped = jobs("dropped");
  dropped.enqueue_batch({{"a", {.batch = b}}, {"b", {.batch = b}}});
  const auto counts = *b.get();
  EXPECT_EQ(counts.total, 5U);
  EXPECT_EQ(counts.outstanding, 2U);
  EXPECT_EQ(counts.completed, 1U);
  EXPECT_EQ(counts.dead, 1U);
  EXPECT_EQ(counts.removed, 1U);
  db().batch(b.id()).seal();
  EXPECT_TRUE(end_headers().empty());
  db().drop("dropped");
  EXPECT_EQ(few.purge(tableq::message_state::dead), 1U);
  auto end = wait_for_end(db());
  expect_counts(end->headers, 5, 1, 1, 3, 0);
}

TEST_P(batches, count_expired_messages_as_dead) {
  auto late = db_with_clock().claim("late", at_once({.batches = true}));
  const auto there = db_with_clock().claim("ends", at_once());
  auto b = late.begin_batch({.then = tableq::batch_end{.queue = "ends"}});
  late.enqueue("too late", {.time_to_live = 1s, .batch = b});
  b.seal();
  clock.advance(2s);
  EXPECT_TRUE(late.take(1).empty());
  EXPECT_EQ(b.get()->dead, 1U);
  EXPECT_TRUE(b.get()->finished_at);
}

TEST_P(batches, take_back_no_dead_letter_of_a_queue_that_was_dropped) {
  const tableq::claim_options rules{.max_attempts = 1, .dead_letters = "morgue"};
  {
    auto former = jobs("few", rules);
    former.enqueue("of the former queue");
    EXPECT_EQ(former.fail(take_one(former), "no"), settle_result::applied);
  }
  db_with_clock().drop("few");
  auto few = jobs("few", rules);
  auto b = begin();
  few.enqueue("dies", {.batch = b});
  few.enqueue("waits", {.batch = b});
  b.seal();
  EXPECT_EQ(few.fail(take_one(few), "no"), settle_result::applied);
  EXPECT_EQ(few.redrive_all().count, 2U);
  const auto all = few.take(3);
  for (const auto& each : all) {
    EXPECT_FALSE(each.headers.contains("tableq-source-id"));
    if (each.payload == "of the former queue") (void)few.complete(each);
  }
  EXPECT_EQ(b.get()->outstanding, 2U);
  for (const auto& each : all) (void)few.complete(each);
  expect_counts(end_headers(), 2, 2, 0, 0, 0);
}

TEST_P(batches, refuse_messages_after_the_seal_but_of_their_own_handlers) {
  auto b = begin();
  jobs().enqueue("one", {.batch = b});
  b.seal();
  EXPECT_CODE(invalid_argument, jobs().enqueue("late", {.batch = b}));
  const auto taken = take_one(jobs());
  const auto mine = jobs().batch_of(taken);
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->value, b.id());
  jobs().enqueue("sibling", {.batch = mine});
  (void)jobs().complete(taken);
  EXPECT_TRUE(end_headers().empty());
  EXPECT_CODE(invalid_argument, jobs().enqueue("its handler has ended", {.batch = mine}));
  (void)jobs().complete(take_one(jobs()));
  expect_counts(end_headers(), 2, 2, 0, 0, 0);
  EXPECT_CODE(invalid_argument, jobs().enqueue("too late", {.batch = b}));
  EXPECT_EQ(jobs().stats().ready, 0U) << "nothing of a refused call stays";
}

TEST_P(batches, are_for_queues_that_have_them) {
  auto b = begin();
  auto plain = db().claim("plain", at_once());
  EXPECT_CODE(invalid_argument, plain.enqueue("no", {.batch = b}));
  EXPECT_CODE(options_mismatch, (void)db().claim("plain", {.batches = true}));
  EXPECT_CODE(invalid_argument, jobs().enqueue("no", {.batch = tableq::batch_id{12345}}));
  EXPECT_CODE(not_found, (void)jobs().begin_batch({.then = tableq::batch_end{.queue = "nowhere"}}));
  open_queue(db(), tableq::kind::heap, "heap");
  EXPECT_CODE(invalid_argument,
              (void)jobs().begin_batch({.then = tableq::batch_end{.queue = "heap", .key = "k"}}));
}

TEST_P(batches, that_are_cancelled_lose_what_waits_and_end_when_the_rest_has) {
  auto outer = begin();
  auto inner = jobs().begin_batch({.parent = outer});
  jobs().enqueue("runs", {.priority = 1, .batch = outer});
  jobs().enqueue("waits", {.batch = outer});
  jobs().enqueue("rests", {.delay = 1h, .batch = outer});
  jobs().enqueue("waits in the inner one", {.batch = inner});
  jobs().enqueue("of no batch");
  const auto running = take_one(jobs());
  EXPECT_TRUE(outer.cancel());
  EXPECT_TRUE(end_headers().empty());
  EXPECT_CODE(invalid_argument, jobs().enqueue("no more", {.batch = jobs().batch_of(running)}));
  EXPECT_TRUE(inner.get()->finished_at);
  (void)jobs().complete(running);
  const auto headers = end_headers();
  expect_counts(headers, 4, 2, 0, 2, 0);
  EXPECT_EQ(headers.at("tableq-batch-cancelled"), "1");
  EXPECT_FALSE(outer.cancel());
  EXPECT_EQ(take_one(jobs()).payload, "of no batch");
}

TEST_P(batches, that_are_cancelled_take_those_in_them_along_whoever_dies) {
  const tableq::testing::faults faults;
  open_with(faults);
  auto outer = begin();
  auto inner = jobs().begin_batch({.parent = outer});
  jobs().enqueue("waits", {.batch = outer});
  jobs().enqueue("waits in the inner one", {.batch = inner});
  faults.fail("claim.cancel", {tableq::testing::trouble::time_out});
  EXPECT_CODE(cancelled, (void)outer.cancel());
  ASSERT_TRUE(inner.get()->cancelled);
  while (!outer.get()->finished_at) EXPECT_TRUE(jobs().take(1, {.wait = 100ms}).empty());
  expect_counts(end_headers(), 2, 1, 0, 1, 0);
}

TEST_P(batches, begin_fill_and_seal_in_a_transaction) {
  const auto there = ends();
  auto queue = jobs();
  std::int64_t id = 0;
  db().transact([&](tableq::transaction& tx) {
    auto b = queue.in(tx).begin_batch({.then = tableq::batch_end{.queue = "ends"}});
    queue.in(tx).enqueue("one", {.batch = b});
    b.seal();
    id = b.id();
  });
  EXPECT_EQ(db().batch(id).get()->total, 1U);
  EXPECT_TRUE(db().batch(id).get()->sealed);
  const auto taken = take_one(queue);
  {
    auto undone = db().begin();
    (void)queue.in(undone).complete(taken);
    undone.rollback();
  }
  EXPECT_TRUE(end_headers().empty());
  db().transact([&](tableq::transaction& tx) { (void)queue.in(tx).complete(taken); });
  expect_counts(end_headers(), 1, 1, 0, 0, 0);
}

TEST_P(batches, wait_with_their_end_until_its_queue_is_there_again) {
  const auto warned = [&] {
    return std::ranges::any_of(db().inspect(), [](const tableq::finding& each) {
      return each.subject == "ends" && each.severity == tableq::finding::level::warning;
    });
  };
  auto b = begin("late");
  db().drop("ends");
  EXPECT_FALSE(warned()) << "it may get messages";
  b.seal();
  EXPECT_FALSE(b.get()->finished_at);
  EXPECT_TRUE(warned());
  auto again = ends();
  while (again.stats().ready == 0) EXPECT_TRUE(jobs().take(1, {.wait = 100ms}).empty());
  expect_counts(end_headers(), 0, 0, 0, 0, 0);
}

TEST_P(batches, wait_with_their_end_until_its_queue_has_room) {
  auto b = begin();
  auto full = ends();
  full.set_limits({.capacity = 1});
  full.enqueue("in the way");
  b.seal();
  EXPECT_FALSE(b.get()->finished_at);
  (void)full.complete(take_one(full));
  while (!b.get()->finished_at) EXPECT_TRUE(jobs().take(1, {.wait = 100ms}).empty());
  expect_counts(end_headers(), 0, 0, 0, 0, 0);
}

TEST_P(batches, are_listed_newest_first) {
  EXPECT_CODE(unsupported, (void)db().batches());
  EXPECT_TRUE(jobs().stats().ready == 0 && db().batches().empty());
  auto first = begin();
  auto second = jobs().begin_batch();
  jobs().enqueue("one", {.batch = second});
  const auto all = db().batches();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, second.id());
  EXPECT_EQ(all[0].outstanding, 1U);
  EXPECT_EQ(all[0].then, "");
  EXPECT_EQ(all[1].then, "ends");
  const auto rest = db().batches({.max = 1, .before = second.id()});
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].id, first.id());
  EXPECT_FALSE(db().batch(98765).get());
}

TEST_P(batches, are_listed_with_counts_up_to_a_limit) {
  auto b = begin();
  for (int i = 0; i < 4; ++i) jobs().enqueue("part", {.batch = b});
  (void)jobs().complete(take_one(jobs()));
  const auto few = db().batches({.count_to = 2}).at(0);
  EXPECT_EQ(few.counted_to, 2U);
  EXPECT_EQ(few.total, 4U);
  EXPECT_GE(few.outstanding, 2U);
  EXPECT_LE(few.outstanding, 3U);
  EXPECT_GE(few.completed, 1U);
  const auto enough = db().batches({.count_to = 4}).at(0);
  EXPECT_EQ(enough.counted_to, std::nullopt);
  EXPECT_EQ(enough.outstanding, 3U);
  EXPECT_EQ(enough.completed, 1U);
  EXPECT_EQ(b.get()->counted_to, std::nullopt);
  EXPECT_CODE(invalid_argument, (void)db().batches({.count_to = 0}));
}

class shared_batches : public batches {
 protected:
  /// The queue by a new database object, which looks at its first read.
  tableq::claim_queue looking() { return open().claim("jobs"); }
};
TABLEQ_ON_BACKENDS(shared_batches, shared_backends);

TEST_P(shared_batches, end_for_a_reader_of_the_queue_that_was_made_again) {
  auto b = begin("late");
  db().drop("ends");
  b.seal();
  auto again = ends();
  // Another process, which knows nothing of the batch and reads this queue alone.
  auto reader = open().claim("ends");
  EXPECT_EQ(reader.take(1, {.wait = 1min}).size(), 1U);
  EXPECT_TRUE(b.get()->finished_at);
}

TEST_P(shared_batches, that_plain_sql_made_their_own_members_can_be_cancelled) {
  auto outer = begin();
  auto inner = jobs().begin_batch({.parent = outer});
  const std::string id = std::to_string(outer.id());
  here().sql("UPDATE tableq_batches SET total = total + 1 WHERE id = " +
             std::to_string(inner.id()));
  here().sql("INSERT INTO tableq_members (queue, message, batch) VALUES (0, " + id + ", " +
             std::to_string(inner.id()) + ")");
  EXPECT_TRUE(outer.cancel());
  EXPECT_TRUE(outer.get()->cancelled);
  EXPECT_TRUE(inner.get()->cancelled);
}

TEST_P(shared_batches, count_messages_that_plain_sql_has_deleted_as_gone) {
  auto b = begin();
  const auto lost = jobs().enqueue("lost", {.batch = b});
  jobs().enqueue("kept", {.batch = b});
  b.seal();
  here().sql("DELETE FROM jobs WHERE id = " + std::to_string(lost.id.value));
  (void)jobs().complete(take_one(jobs()));
  EXPECT_TRUE(looking().take(1).empty());
  expect_counts(end_headers(), 2, 1, 0, 0, 1);
}

// Repairs: after processes that ended between their commit and the end of the batch, and after
// plain SQL.
TEST_P(shared_batches, are_ended_by_whoever_waits_for_their_messages) {
  auto b = begin();
  jobs().enqueue("one", {.batch = b});
  b.seal();
  here().sql("DELETE FROM jobs");
  here().sql("DELETE FROM tableq_members");
  auto other = open({.poll_interval = 100ms});
  EXPECT_TRUE(other.claim("jobs").take(1, {.wait = 3s}).empty());
  EXPECT_TRUE(b.get()->finished_at);
  expect_counts(end_headers(), 1, 1, 0, 0, 0);
}

TEST_P(shared_batches, are_ended_by_whoever_waits_for_the_end) {
  open_queue(db(), tableq::kind::fifo, "news");
  auto b = jobs().begin_batch({.then = tableq::batch_end{.queue = "news", .payload = "over"}});
  jobs().enqueue("one", {.batch = b});
  b.seal();
  here().sql("DELETE FROM jobs");
  here().sql("DELETE FROM tableq_members");
  auto other = open({.poll_interval = 100ms});
  const auto end = other.fifo("news").dequeue({.wait = for_ever});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->payload, "over");
}

TEST_P(shared_batches, end_once_when_the_last_messages_are_completed_at_the_same_time) {
  constexpr int rounds = 20;
  auto other = open();
  std::array<tableq::claim_queue, 2> queues{jobs(), other.claim("jobs")};
  for (int round = 0; round < rounds; ++round) {
    auto b = begin();
    jobs().enqueue_batch({{"a", {.batch = b}}, {"b", {.batch = b}}});
    b.seal();
    const auto taken = jobs().take(2);
    ASSERT_EQ(taken.size(), 2U);
    std::array<std::jthread, 2> ending;
    for (std::size_t i = 0; i < 2; ++i) {
      ending.at(i) = std::jthread([&, i] { (void)queues.at(i).complete(taken[i]); });
    }
    for (std::jthread& each : ending) each.join();
    auto end = ends().take_one({.wait = for_ever});
    ASSERT_TRUE(end) << round;
    EXPECT_EQ(end->headers.at("tableq-batch-completed"), "2");
    (void)ends().complete(*end);
    EXPECT_TRUE(ends().take(1).empty());
  }
}

TEST_P(shared_batches, whose_end_a_transaction_holds_up_keep_nobody_waiting) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  static_cast<void>(db().fifo("last", {.ordering = tableq::ordering::strict}));
  auto b = jobs().begin_batch({.then = tableq::batch_end{.queue = "last", .payload = "over"}});
  jobs().enqueue("one", {.batch = b});
  b.seal();
  auto theirs = open();
  auto held = theirs.fifo("last");
  auto holds = theirs.begin();
  held.in(holds).enqueue("x");
  auto works = std::async(std::launch::async, [&] {
    EXPECT_EQ(jobs().complete(take_one(jobs())), settle_result::applied);
    EXPECT_TRUE(jobs().take(1, {.wait = 1ms}).empty());
  });
  EXPECT_EQ(works.wait_for(for_ever), std::future_status::ready);
  holds.rollback();
  works.get();
  auto other = open({.poll_interval = 100ms});
  EXPECT_EQ(other.fifo("last").dequeue({.wait = for_ever})->payload, "over");
}

TEST_P(shared_batches, trigger_the_stop_token_of_a_handler_when_they_are_cancelled) {
  auto b = begin();
  jobs().enqueue("long", {.batch = b});
  b.seal();
  std::promise<void> runs;
  std::promise<bool> stopped;
  const tableq::worker work(jobs(),
                            [&](const tableq::delivery&, const std::stop_token& stop) {
                              runs.set_value();
                              while (!stop.stop_requested()) std::this_thread::yield();
                              stopped.set_value(true);
                            },
                            {.lease = 2s});
  runs.get_future().wait();
  auto other = open();
  EXPECT_TRUE(other.batch(b.id()).cancel());
  EXPECT_TRUE(stopped.get_future().get());
  auto end = wait_for_end(db());
  expect_counts(end->headers, 1, 1, 0, 0, 0);
}

class enlisted_batches : public batches {};
TABLEQ_ON_BACKENDS(enlisted_batches, enlisting_backends);

TEST_P(enlisted_batches, end_after_the_commit_of_an_application) {
  auto queue = jobs();
  auto b = begin();
  queue.enqueue("one", {.batch = b});
  b.seal();
  const auto taken = take_one(queue);
  const auto session = here().session();
  soci::transaction tx(*session);
  {
    tableq::enlistment mine = enlist(db(), *session);
    EXPECT_EQ(queue.in(mine).complete(taken), settle_result::applied);
  }
  EXPECT_FALSE(b.get()->finished_at);
  tx.commit();
  while (!b.get()->finished_at) EXPECT_TRUE(queue.take(1, {.wait = 100ms}).empty());
  expect_counts(end_headers(), 1, 1, 0, 0, 0);
}

TEST_P(enlisted_batches, end_at_once_with_autocommit) {
  auto queue = jobs();
  auto b = begin();
  queue.enqueue("one", {.batch = b});
  b.seal();
  const auto taken = take_one(queue);
  const auto session = here().session();
  tableq::enlistment mine = enlist(db(), *session, tableq::autocommit);
  EXPECT_EQ(queue.in(mine).complete(taken), settle_result::applied);
  expect_counts(end_headers(), 1, 1, 0, 0, 0);
}

}  // namespace
