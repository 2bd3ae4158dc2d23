#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/fixture.hpp"
#include "support/readable.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Whether the descriptor is readable, or becomes so within the time.
bool readable(const tableq::watch& watch, std::chrono::milliseconds longest = 0ms) {
  return tableq_test::readable(watch.descriptor(), longest);
}

/// Reads from the queues that the watch names, until it names none. @return the payloads.
std::vector<std::string> drain(tableq::watch& watch, std::vector<any_queue> queues) {
  std::vector<std::string> out;
  while (const auto number = watch.next()) {
    const auto got = queues.at(static_cast<std::size_t>(*number)).take_up_to(10, 0ms);
    watch.done(*number, got.size());
    for (const std::string& each : payloads_of(got)) out.push_back(each);
  }
  return out;
}

/// The same, until something was found.
std::vector<std::string> wait_and_drain(tableq::watch& watch,
                                        const std::vector<any_queue>& queues) {
  for (;;) {
    if (!readable(watch, for_ever)) return {};
    const auto got = drain(watch, queues);
    if (!got.empty()) return got;
  }
}

class watches : public on_each_kind {};
TABLEQ_ON_KINDS(watches, all_backends);

TEST_P(watches, names_the_queue_that_has_a_message_and_no_other) {
  std::vector<any_queue> queues{make("first"), make("second")};
  tableq::watch loop;
  EXPECT_FALSE(readable(loop));
  loop.add(queues[0].base(), 0);
  loop.add(queues[1].base(), 1);
  EXPECT_TRUE(readable(loop));  // Each is looked at once.
  EXPECT_TRUE(drain(loop, queues).empty());
  queues[1].put("news");
  ASSERT_TRUE(readable(loop, for_ever));
  EXPECT_EQ(wait_and_drain(loop, queues), std::vector<std::string>{"news"});
}

TEST_P(watches, names_a_queue_again_while_reads_find_something) {
  std::vector<any_queue> queues{make("mail")};
  tableq::watch loop;
  loop.add(queues[0].base(), 0);
  EXPECT_TRUE(drain(loop, queues).empty());
  queues[0].put_all(numbered(25));
  EXPECT_EQ(wait_and_drain(loop, queues).size(), 25U);
}

TEST_P(watches, takes_no_news_from_another_one) {
  std::vector<any_queue> queues{make("mail")};
  tableq::watch one;
  tableq::watch other;
  one.add(queues[0].base(), 0);
  other.add(queues[0].base(), 0);
  drain(one, queues);
  drain(other, queues);
  queues[0].put("news");
  EXPECT_TRUE(readable(one, for_ever));
  EXPECT_TRUE(readable(other, for_ever));
  drain(one, queues);
  EXPECT_TRUE(readable(other));
}

TEST_P(watches, is_silent_on_a_queue_that_was_taken_out) {
  std::vector<any_queue> queues{make("mail")};
  tableq::watch loop;
  loop.add(queues[0].base(), 0);
  loop.remove(0);
  queues[0].put("news");
  EXPECT_FALSE(readable(loop));
  EXPECT_FALSE(loop.next());
  EXPECT_CODE(invalid_argument, loop.done(0, 1));
  loop.add(queues[0].base(), 0);
  EXPECT_EQ(drain(loop, queues), std::vector<std::string>{"news"});
}

TEST_P(watches, refuses_a_number_twice_and_a_handle_in_a_transaction) {
  any_queue mail = make("mail");
  tableq::watch loop;
  loop.add(mail.base(), 5);
  EXPECT_CODE(invalid_argument, loop.add(mail.base(), 5));
  db().transact([&](tableq::transaction& tx) {
    any_queue inside = mail.in(tx);
    EXPECT_CODE(invalid_argument, loop.add(inside.base(), 6));
  });
}

TEST_P(watches, that_was_moved_from_refuses) {
  tableq::watch loop;
  const tableq::watch moved = std::move(loop);
  EXPECT_GE(moved.descriptor(), 0);
  // NOLINTBEGIN(bugprone-use-after-move): that is what the test is about
  EXPECT_EQ(loop.descriptor(), -1);
  EXPECT_FALSE(loop.next());
  EXPECT_CODE(invalid_argument, loop.done(0, 1));
  // NOLINTEND(bugprone-use-after-move)
}

TEST_P(watches, keeps_the_database_open) {
  std::optional<tableq::watch> loop(std::in_place);
  {
    auto own = open();
    any_queue mail(own, kind(), "mail");
    loop->add(mail.base(), 0);
  }
  EXPECT_EQ(loop->next(), 0);
  loop->done(0, 0);
  loop.reset();
}

class shared_watches : public on_each_kind {};
TABLEQ_ON_KINDS(shared_watches, shared_backends);

TEST_P(shared_watches, tells_of_messages_of_another_database_object) {
  auto near = open();
  auto far = open();
  std::vector<any_queue> queues{any_queue(near, kind(), "mail")};
  any_queue there(far, kind(), "mail");
  tableq::watch loop;
  loop.add(queues[0].base(), 0);
  EXPECT_TRUE(drain(loop, queues).empty());
  for (const std::string& each : numbered(3)) {
    there.put(each);
    EXPECT_EQ(wait_and_drain(loop, queues), std::vector{each});
  }
}

class watches_of_due_times : public on_each_backend {};
TABLEQ_ON_BACKENDS(watches_of_due_times, all_backends);

TEST_P(watches_of_due_times, tells_when_a_message_falls_due) {
  auto later = db().pending("later");
  auto jobs = db().claim("jobs");
  tableq::watch loop;
  loop.add(later, 0);
  loop.add(jobs, 1);
  later.enqueue("reminder", {.delay = 300ms});
  jobs.enqueue("job", {.delay = 300ms});
  std::vector<std::string> got;
  while (got.size() < 2 && readable(loop, for_ever)) {
    while (const auto number = loop.next()) {
      std::size_t found = 0;
      if (*number == 0) {
        for (const auto& each : later.dequeue_batch(10)) {
          got.push_back(each.payload);
          ++found;
        }
      } else {
        for (const auto& each : jobs.take(10)) {
          got.push_back(each.payload);
          ++found;
        }
      }
      loop.done(*number, found);
    }
  }
  EXPECT_EQ(got.size(), 2U);
}

TEST_P(watches_of_due_times, tells_when_a_lease_ends) {
  auto jobs = db().claim("jobs");
  jobs.enqueue("job");
  tableq::watch loop;
  loop.add(jobs, 0);
  ASSERT_EQ(loop.next(), 0);
  ASSERT_TRUE(jobs.take_one({.lease = 300ms}));
  loop.done(0, 1);
  std::optional<tableq::delivery> again;
  while (!again && readable(loop, for_ever)) {
    while (loop.next()) {
      again = jobs.take_one();
      loop.done(0, again ? 1 : 0);
      if (again) break;
    }
  }
  ASSERT_TRUE(again);
  EXPECT_EQ(again->attempt, 2);
}

TEST_P(watches_of_due_times, comes_back_to_messages_that_a_rate_holds_back) {
  auto jobs = db().claim("jobs");
  jobs.set_limits({.rate = 20, .burst = 1});
  for (int i = 0; i < 4; ++i) jobs.enqueue("job");
  tableq::watch loop;
  loop.add(jobs, 0);
  std::size_t found = 0;
  while (found < 4 && readable(loop, for_ever)) {
    while (loop.next()) {
      const auto taken = jobs.take(10);
      loop.done(0, taken.size());
      found += taken.size();
    }
  }
  EXPECT_EQ(found, 4U);
}

}  // namespace
