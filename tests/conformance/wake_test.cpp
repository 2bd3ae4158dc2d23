#include <gtest/gtest.h>
#include <soci/soci.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include <tableq/soci.hpp>

#include "support/becomes.hpp"
#include "support/fixture.hpp"
#include "support/latch.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Readers poll only after notifications. Without notifications of the database this has no effect.
const tableq::open_options when_told{.poll_interval = 24h};

/// Waits without messages until the database notifies, if it does, and readers no longer poll. If
/// they still polled, the test would prove less, but not fail.
void let_settle(any_queue mail) {
  ASSERT_TRUE(mail.take_up_to(1, 600ms).empty());
}

/// Reads one message in another thread, and expects a wake-up: at the end of its time the read
/// would find the message anyway.
class reader {
 public:
  explicit reader(any_queue from)
      : thread_([this, own = std::move(from)](const std::stop_token& stop) mutable {
          started_.count_down();
          const auto begin = std::chrono::steady_clock::now();
          auto got = own.take_up_to(1, for_ever, stop);
          EXPECT_LT(std::chrono::steady_clock::now() - begin, for_ever / 2) << "was not woken";
          const std::scoped_lock hold(mutex_);
          got_ = payloads_of(got);
          ended_.notify_all();
        }) {
    started_.wait();
  }
  std::vector<std::string> got() {
    std::unique_lock hold(mutex_);
    ended_.wait(hold, [this] { return got_.has_value(); });
    return *got_;
  }

 private:
  latch started_{1};
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<std::vector<std::string>> got_;
  std::jthread thread_;
};

class wake : public on_each_kind {
 protected:
  /// A reader waits through `near`, and `far` sends: after a quiet time, and then several times
  /// just after another message.
  void expect_told(any_queue near, any_queue far) {
    let_settle(near);
    for (const std::string& payload : numbered(5)) {
      reader waits(near);
      far.put(payload);
      ASSERT_EQ(waits.got(), std::vector{payload});
    }
  }
};
TABLEQ_ON_KINDS(wake, shared_backends);

TEST_P(wake, comes_from_another_database_object) {
  auto near = open(when_told);
  auto far = open();
  expect_told({near, kind(), "mail"}, {far, kind(), "mail"});
}

TEST_P(wake, comes_by_polling_alone) {
  auto near = open({.notifications = tableq::notifications::send_only});
  auto far = open({.notifications = tableq::notifications::off});
  expect_told({near, kind(), "mail"}, {far, kind(), "mail"});
}

TEST_P(wake, comes_from_whoever_polls_himself) {
  auto near = open(when_told);
  auto far = open({.notifications = tableq::notifications::send_only});
  expect_told({near, kind(), "mail"}, {far, kind(), "mail"});
}

TEST_P(wake, comes_from_a_commit_elsewhere) {
  auto near = open(when_told);
  auto far = open();
  any_queue mail(near, kind(), "mail");
  any_queue there(far, kind(), "mail");
  let_settle(mail);
  for (int i = 0; i < 3; ++i) {
    reader waits(mail);
    far.transact([&](tableq::transaction& tx) { there.in(tx).put("committed"); });
    ASSERT_EQ(waits.got(), std::vector<std::string>{"committed"});
  }
}

TEST_P(wake, comes_from_an_enlisted_transaction) {
  auto near = open(when_told);
  any_queue mail(near, kind(), "mail");
  const auto session = here().session();
  let_settle(mail);
  for (int i = 0; i < 3; ++i) {
    reader waits(mail);
    soci::transaction mine(*session);
    tableq::enlistment joined = tableq::enlist(near, *session);
    mail.in(joined).put("mine");
    mail.in(joined).put("mine too");
    mine.commit();
    ASSERT_EQ(waits.got().size(), 1U);
    ASSERT_TRUE(mail.take());
  }
}

TEST_P(wake, reaches_as_many_readers_as_there_are_messages) {
  auto near = open(when_told);
  auto far = open();
  any_queue mail(near, kind(), "mail");
  any_queue there(far, kind(), "mail");
  let_settle(mail);
  std::vector<std::unique_ptr<reader>> readers;
  for (int i = 0; i < 8; ++i) readers.push_back(std::make_unique<reader>(mail));
  there.put_all(numbered(5));
  for (const std::string& each : numbered(3, "late")) there.put(each);
  std::vector<std::string> got;
  for (auto& each : readers) {
    const auto one = each->got();
    got.insert(got.end(), one.begin(), one.end());
  }
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got,
            (std::vector<std::string>{"late0", "late1", "late2", "p0", "p1", "p2", "p3", "p4"}));
}

TEST_P(wake, comes_with_a_rollback_of_a_read) {
  if (!can().concurrent_writers) GTEST_SKIP() << "readers of this database wait for each other";
  auto near = open(when_told);
  any_queue mail(near, kind(), "mail");
  let_settle(mail);
  mail.put("back");
  auto tx = near.begin();
  ASSERT_TRUE(mail.in(tx).take());
  reader waits(mail);
  auto beside = near.outside();
  let_settle(any_queue(beside, kind(), "other").outside());  // By then the reader has polled.
  tx.rollback();
  EXPECT_EQ(waits.got(), std::vector<std::string>{"back"});
}

class wake_of_take : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    near_ = open(when_told);
    far_ = open();
  }
  void TearDown() override {
    near_.reset();
    far_.reset();
    on_each_backend::TearDown();
  }
  tableq::claim_queue near(const tableq::claim_options& options = {}) {
    return near_->claim("jobs", options);
  }
  tableq::claim_queue far(const tableq::claim_options& options = {}) {
    return far_->claim("jobs", options);
  }
  /// The message that a reader in `near` gets during `send`.
  template <class F>
  std::vector<std::string> got_while(F send) {
    reader waits(any_queue(*near_, tableq::kind::claim, "jobs"));
    send();
    return waits.got();
  }
  std::optional<tableq::database> near_;
  std::optional<tableq::database> far_;
};
TABLEQ_ON_BACKENDS(wake_of_take, shared_backends);

TEST_P(wake_of_take, comes_with_a_delayed_message_that_falls_due) {
  near();
  let_settle(any_queue(*near_, tableq::kind::claim, "jobs"));
  EXPECT_EQ(got_while([&] { far().enqueue("later", {.delay = 50ms}); }),
            std::vector<std::string>{"later"});
  auto pending = near_->pending("later");
  reader waits(any_queue(*near_, tableq::kind::pending, "later"));
  far_->pending("later").enqueue("due", {.delay = 50ms});
  EXPECT_EQ(waits.got(), std::vector<std::string>{"due"});
}

TEST_P(wake_of_take, comes_with_a_lease_that_ends) {
  far().enqueue("abandoned");
  EXPECT_EQ(got_while([&] {
              // The reader may be first; then it gets the message.
              static_cast<void>(far().take(1, {.lease = 100ms}));
            }),
            std::vector<std::string>{"abandoned"});
}

TEST_P(wake_of_take, comes_with_a_release_and_a_failure) {
  auto jobs = far();
  jobs.enqueue("again");
  const auto first = jobs.take(1, {.lease = 1h});
  let_settle(any_queue(*near_, tableq::kind::claim, "jobs"));
  EXPECT_EQ(got_while([&] {
              EXPECT_EQ(jobs.release(first.at(0).receipt), tableq::settle_result::applied);
            }),
            std::vector<std::string>{"again"});
  jobs.enqueue("failed");
  const auto second = jobs.take(1, {.lease = 1h});
  EXPECT_EQ(got_while([&] {
              EXPECT_EQ(jobs.fail(second.at(0).receipt, "no", {.delay = 20ms}),
                        tableq::settle_result::applied);
            }),
            std::vector<std::string>{"failed"});
}

TEST_P(wake_of_take, comes_again_after_the_listening_session_was_ended) {
  const auto listening = here().listening_sql();
  if (!listening) GTEST_SKIP() << "nothing listens in a session here";
  near();
  auto jobs = far();
  for (int i = 0; i < 3; ++i) {
    reader waits(any_queue(*near_, tableq::kind::claim, "jobs"));
    rows found;
    while (found.empty()) found = here().sql(*listening);
    here().end_session(*found.at(0).at(0));
    jobs.enqueue("after");
    EXPECT_EQ(waits.got(), std::vector<std::string>{"after"});
  }
}

TEST_P(wake_of_take, needs_one_more_session_for_a_thousand_readers) {
  const auto listening = here().listening_sql();
  constexpr std::size_t most = 4;
  auto narrow = open({.max_sessions = most, .session_timeout = 5min, .poll_interval = 24h});
  std::vector<std::jthread> readers;
  std::atomic<int> empty = 0;
  std::vector<std::unique_ptr<any_queue>> queues;
  for (const char* name : {"one", "two", "three", "four"}) {
    queues.push_back(std::make_unique<any_queue>(narrow, tableq::kind::claim, name));
  }
  for (int i = 0; i < 1000; ++i) {
    readers.emplace_back([&, own = *queues[static_cast<std::size_t>(i) % queues.size()]](
                             const std::stop_token& stop) mutable {
      empty += own.take_up_to(1, for_ever * 10, stop).empty() ? 1 : 0;
    });
  }
  // Every waiting reader gets a message.
  for (auto& each : queues) {
    reader waits(*each);
    each->put("x");
    each->put("y");
  }
  if (listening) {
    while (here().sql(*listening).empty()) std::this_thread::yield();
    EXPECT_EQ(here().sql(*listening).size(), 1U);
    const auto count = here().sql(*here().session_count_sql());
    // They include those of the fixture's two database objects, in which no reader waits.
    EXPECT_LE(std::stoul(*count.at(0).at(0)), most + 1 + 2);
  }
  for (std::jthread& each : readers) each.request_stop();
  readers.clear();
  EXPECT_GE(empty, 1000 - 8);
}

class idle_waiting : public on_each_backend {
 protected:
  /// A clock that counts its calls by tableq: one for each statement of a claim queue.
  tableq::open_options counted(tableq::open_options options = {}) {
    options.clock = tableq::testing::clock_of([this] {
      ++asked_;
      return std::chrono::time_point_cast<std::chrono::milliseconds>(
          std::chrono::system_clock::now());
    });
    return options;
  }
  std::atomic<long> asked_ = 0;
};
TABLEQ_ON_BACKENDS(idle_waiting, all_backends);

TEST_P(idle_waiting, of_many_readers_costs_few_statements) {
  constexpr int many = 300;
  constexpr int rounds = 100;
  auto busy = open(counted({.session_timeout = 5min}));
  auto jobs = busy.claim("jobs");
  auto other = busy.claim("other");
  latch started(many);
  std::vector<std::jthread> readers;
  for (int i = 0; i < many; ++i) {
    readers.emplace_back([&, own = jobs](const std::stop_token& stop) mutable {
      started.count_down();
      static_cast<void>(own.take(1, {.wait = for_ever * 10, .stop = stop}));
    });
  }
  started.wait();
  // A time with many messages for another queue, in which the frequent polls end.
  const auto exchange = [&] {
    for (int i = 0; i < rounds; ++i) {
      reader waits(any_queue(busy, tableq::kind::claim, "other"));
      other.enqueue("x");
      EXPECT_EQ(waits.got().size(), 1U);
    }
  };
  constexpr long few = rounds * 25;
  long cost = 0;
  for (int i = 0; i < 5; ++i) {
    const long before = asked_;
    exchange();
    cost = asked_ - before;
    if (cost < few) break;
  }
  EXPECT_LT(cost, few) << "a look by all would cost " << many * 3;
  for (std::jthread& each : readers) each.request_stop();
}

/// The threads of this process.
std::size_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_P(idle_waiting, needs_one_thread_and_leaves_none) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "threads cannot be counted";
  auto mail = db().fifo("mail");
  auto post = db().fifo("post");
  const std::size_t before = thread_count();
  mail.enqueue("x");
  EXPECT_TRUE(mail.dequeue({.wait = for_ever}));
  EXPECT_LE(thread_count(), before) << "nobody had to wait";
  EXPECT_FALSE(mail.dequeue({.wait = 1ms}));
  EXPECT_FALSE(post.dequeue({.wait = 1ms}));
  EXPECT_LE(thread_count(), before + 1);
  EXPECT_TRUE(becomes([&] { return thread_count() <= before; }));
}

TEST_P(idle_waiting, ends_with_the_database) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "threads cannot be counted";
  const std::size_t before = thread_count();
  {
    auto brief = open();
    EXPECT_FALSE(brief.fifo("mail").dequeue({.wait = 1ms}));
  }
  EXPECT_LE(thread_count(), before);
}

TEST_P(idle_waiting, refuses_a_look_out_of_range) {
  EXPECT_CODE(invalid_argument, static_cast<void>(open({.poll_interval = 0ms})));
  EXPECT_CODE(invalid_argument, static_cast<void>(open({.poll_interval = 25h})));
}

}  // namespace
