#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Reads may begin behind what is gone. What turns up before that is found all the same.
class messages_before_others : public on_each_backend {
 protected:
  static std::vector<tableq::new_message> copies(std::size_t count, const char* payload) {
    return std::vector<tableq::new_message>(count, {.payload = payload});
  }
  /// So many reads that a place to begin at is long known.
  static void read_on(tableq::fifo_queue& from) {
    for (int i = 0; i < 100; ++i) ASSERT_EQ(from.dequeue()->payload, "x");
    for (int i = 0; i < 30; ++i) ASSERT_EQ(from.dequeue_batch({.max = 20}).size(), 20U);
  }
};
TABLEQ_ON_BACKENDS(messages_before_others, all_backends);

TEST_P(messages_before_others, come_next_when_they_are_committed_late) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto mail = db().fifo("mail");
  auto tx = db().begin();
  mail.enqueue_batch(tx, copies(3, "late"));
  mail.enqueue_batch(copies(1000, "x"));
  read_on(mail);
  tx.commit();
  for (const auto& each : mail.dequeue_batch({.max = 3})) EXPECT_EQ(each.payload, "late");
  EXPECT_EQ(mail.dequeue()->payload, "x");
}

TEST_P(messages_before_others, come_next_when_their_read_is_rolled_back) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto mail = db().fifo("mail");
  mail.enqueue_batch(copies(3, "held"));
  mail.enqueue_batch(copies(1000, "x"));
  {
    auto tx = db().begin();
    ASSERT_EQ(mail.dequeue_batch(tx, {.max = 3}).size(), 3U);
    read_on(mail);
  }
  for (const auto& each : mail.dequeue_batch({.max = 3})) EXPECT_EQ(each.payload, "held");
  EXPECT_EQ(mail.dequeue()->payload, "x");
}

TEST_P(messages_before_others, are_found_soon_when_they_were_given_a_low_id_by_hand) {
  if (!can().shared) GTEST_SKIP() << "needs a second session in the same place";
  auto mail = db().fifo("mail");
  mail.enqueue_batch(copies(1000, "x"));
  read_on(mail);
  here().sql("INSERT INTO mail (id, payload) VALUES (-7, " + here().bytes_literal("by hand") + ")");
  const auto until = std::chrono::steady_clock::now() + 1min;
  bool found = false;
  while (!found && std::chrono::steady_clock::now() < until) {
    mail.enqueue("x");
    found = mail.dequeue()->payload == "by hand";
  }
  EXPECT_TRUE(found);
}

}  // namespace
