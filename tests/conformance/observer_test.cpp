#include <gtest/gtest.h>
#include <soci/soci.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::handled_message;
using tableq::observed_operation;
using tableq::operation_result;
using tableq::operation_retry;
using tableq::settle_result;

/// One event as text.
std::string about(const observed_operation& of) {
  std::ostringstream out;
  out << of.name << ' ' << of.backend << ' ' << (of.queue.empty() ? "-" : of.queue) << ' '
      << (of.kind ? tableq::to_string(*of.kind) : "-") << " given=" << of.given
      << (of.in_transaction ? " tx" : "");
  return out.str();
}

class recorder : public tableq::observer {
 public:
  void before(const observed_operation& of) override { add("before " + about(of)); }
  void after(const observed_operation& of, const operation_result& result) override {
    EXPECT_GE(result.duration.count(), 0);
    EXPECT_EQ(result.error != nullptr, result.failed.has_value());
    add("after " + about(of) + " messages=" + std::to_string(result.messages) +
        (result.failed ? " failed=" + std::string(tableq::to_string(*result.failed)) : "") +
        (result.error != nullptr ? std::string(" ") + result.error->what() : ""));
  }
  void retrying(const observed_operation& of, const operation_retry& retry) override {
    EXPECT_GT(retry.pause.count(), 0);
    add("retrying " + about(of) + " attempt=" + std::to_string(retry.attempt) +
        " failed=" + std::string(tableq::to_string(retry.failed)));
    if (on_retry) on_retry();
  }
  void leases_lost(const observed_operation& of, std::size_t count) override {
    add("lost " + about(of) + " count=" + std::to_string(count));
  }
  void handled(const handled_message& message) override {
    add("handled " + std::string(message.queue) + " attempt=" + std::to_string(message.attempt) +
        " what=" + std::to_string(static_cast<int>(message.what)));
  }
  void session_opened(std::string_view backend, std::chrono::nanoseconds duration) override {
    EXPECT_GT(duration.count(), 0);
    add("opened " + std::string(backend));
  }
  void session_closed(std::string_view backend, bool broken) override {
    add("closed " + std::string(backend) + (broken ? " broken" : ""));
  }

  [[nodiscard]] std::vector<std::string> events() {
    const std::scoped_lock hold(mutex_);
    return events_;
  }
  [[nodiscard]] std::vector<std::string> events(const std::string& beginning) {
    std::vector<std::string> out = events();
    std::erase_if(out, [&](const std::string& each) { return !each.starts_with(beginning); });
    return out;
  }
  void forget() {
    const std::scoped_lock hold(mutex_);
    events_.clear();
  }

  std::function<void()> on_retry;

 private:
  void add(std::string event) {
    if (contains(event, " limits.")) return;  // not in each call
    const std::scoped_lock hold(mutex_);
    events_.push_back(std::move(event));
  }

  std::mutex mutex_;
  std::vector<std::string> events_;
};

class thrower : public tableq::observer {
 public:
  void before(const observed_operation& /*of*/) override { fail(); }
  void after(const observed_operation& /*of*/, const operation_result& /*result*/) override {
    fail();
  }
  void retrying(const observed_operation& /*of*/, const operation_retry& /*retry*/) override {
    fail();
  }
  void leases_lost(const observed_operation& /*of*/, std::size_t /*count*/) override { fail(); }
  void handled(const handled_message& /*message*/) override { fail(); }
  void session_opened(std::string_view /*backend*/, std::chrono::nanoseconds /*took*/) override {
    fail();
  }
  void session_closed(std::string_view /*backend*/, bool /*broken*/) override { throw 42; }

  std::atomic<int> thrown = 0;

 private:
  void fail() {
    ++thrown;
    throw std::runtime_error("the observer's own");
  }
};

class observers : public on_each_backend {
 protected:
  void TearDown() override {
    watched_.reset();
    on_each_backend::TearDown();
  }
  tableq::database& watched() {
    if (!watched_) watched_ = open({.observer = seen});
    return *watched_;
  }
  /// `claim.take BACKEND jobs claim given=0`.
  std::string operation(const std::string& name, const std::string& queue, std::size_t given = 0) {
    const std::string kind = name.substr(0, name.find('.'));
    return name + " " + watched().backend() + " " + queue + " " + kind +
           " given=" + std::to_string(given);
  }
  std::shared_ptr<recorder> seen = std::make_shared<recorder>();

 private:
  std::optional<tableq::database> watched_;
};
TABLEQ_ON_BACKENDS(observers, direct_backends);

TEST_P(observers, are_told_before_and_after_each_operation) {
  auto mail = watched().fifo("mail");
  seen->forget();
  mail.enqueue("a");
  mail.enqueue_batch(std::vector<tableq::new_message>{{.payload = "b"}, {.payload = "c"}});
  EXPECT_EQ(mail.dequeue_batch(10).size(), 3U);
  EXPECT_FALSE(mail.dequeue());
  EXPECT_EQ(seen->events(), (std::vector<std::string>{
                                "before " + operation("fifo.enqueue", "mail", 1),
                                "after " + operation("fifo.enqueue", "mail", 1) + " messages=1",
                                "before " + operation("fifo.enqueue", "mail", 2),
                                "after " + operation("fifo.enqueue", "mail", 2) + " messages=2",
                                "before " + operation("fifo.dequeue", "mail"),
                                "after " + operation("fifo.dequeue", "mail") + " messages=3",
                                "before " + operation("fifo.dequeue", "mail"),
                                "after " + operation("fifo.dequeue", "mail") + " messages=0"}));
}

TEST_P(observers, see_a_batch_of_any_size_as_one_operation) {
  auto mail = watched().fifo("mail");
  seen->forget();
  mail.enqueue_batch(std::vector<tableq::new_message>(2500));
  EXPECT_EQ(seen->events(),
            (std::vector<std::string>{
                "before " + operation("fifo.enqueue", "mail", 2500),
                "after " + operation("fifo.enqueue", "mail", 2500) + " messages=2500"}));
}

TEST_P(observers, are_told_of_transactions_and_of_what_is_done_in_them) {
  auto mail = watched().fifo("mail");
  const std::string backend = watched().backend();
  seen->forget();
  watched().transact([&](tableq::transaction& tx) { mail.in(tx).enqueue("x"); });
  std::vector<std::string> names;
  for (const std::string& each : seen->events()) {
    if (!each.starts_with("opened")) names.push_back(each);
  }
  const std::string none = " " + backend + " - - given=0";
  EXPECT_EQ(names, (std::vector<std::string>{
                       "before transact" + none, "before begin" + none,
                       "after begin" + none + " messages=0",
                       "before " + operation("fifo.enqueue", "mail", 1) + " tx",
                       "after " + operation("fifo.enqueue", "mail", 1) + " tx messages=1",
                       "before commit" + none + " tx", "after commit" + none + " tx messages=0",
                       "after transact" + none + " messages=0"}));
  seen->forget();
  { auto dropped = watched().begin(); }
  watched().begin().rollback();
  EXPECT_EQ(seen->events("after rollback").size(), 2U);
}

TEST_P(observers, are_told_of_the_catalogue) {
  static_cast<void>(watched().fifo("mail"));
  static_cast<void>(watched().queues());
  static_cast<void>(watched().find("mail"));
  static_cast<void>(watched().inspect());
  watched().drop("mail");
  for (const std::string name : {"connect", "open", "queues", "find", "inspect", "drop"}) {
    EXPECT_EQ(seen->events("before " + name + " ").size(), 1U) << name;
    EXPECT_EQ(seen->events("after " + name + " ").size(), 1U) << name;
  }
}

TEST_P(observers, are_told_of_lost_leases_after_the_settlement) {
  auto jobs = watched().claim("jobs");
  for (int i = 0; i < 3; ++i) jobs.enqueue("x");
  const std::vector<tableq::delivery> receipts = jobs.take(3);
  ASSERT_EQ(receipts.size(), 3U);
  ASSERT_EQ(jobs.complete(receipts[1]), settle_result::applied);
  seen->forget();
  const std::vector<settle_result> expected = {settle_result::applied, settle_result::lease_lost,
                                               settle_result::applied};
  EXPECT_EQ(jobs.complete_batch(receipts), expected);
  EXPECT_EQ(jobs.extend(receipts[0], 1min), settle_result::lease_lost);
  EXPECT_EQ(seen->events(), (std::vector<std::string>{
                                "before " + operation("claim.complete", "jobs", 3),
                                "after " + operation("claim.complete", "jobs", 3) + " messages=2",
                                "lost " + operation("claim.complete", "jobs", 3) + " count=1",
                                "before " + operation("claim.extend", "jobs", 1),
                                "after " + operation("claim.extend", "jobs", 1) + " messages=0",
                                "lost " + operation("claim.extend", "jobs", 1) + " count=1"}));
}

TEST_P(observers, see_one_completion_whatever_the_queue_does_with_the_message) {
  const std::vector<tableq::claim_options> all = {
      {}, {.keep_completed = true}, {.key_window = 1h}, {.groups = tableq::group_options{}}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = "jobs" + std::to_string(i);
    SCOPED_TRACE(name);
    auto jobs = watched().claim(name, all[i]);
    for (const char* key : {"a", "b", "c"}) jobs.enqueue("x", {.key = key});
    for (int n = 0; n < 3; ++n) jobs.enqueue("without a key");
    const std::vector<tableq::delivery> taken = jobs.take(6);
    ASSERT_EQ(taken.size(), 6U);
    const auto expect_told = [&](std::size_t given) {
      const auto completed = seen->events("after claim.complete ");
      ASSERT_EQ(completed.size(), 1U);
      EXPECT_TRUE(completed[0].ends_with(" messages=" + std::to_string(given))) << completed[0];
      EXPECT_EQ(seen->events("after claim.keep "), std::vector<std::string>());
      EXPECT_EQ(seen->events("lost "), std::vector<std::string>());
      seen->forget();
    };
    seen->forget();
    EXPECT_EQ(jobs.complete(taken[0]), settle_result::applied);
    expect_told(1);
    static_cast<void>(jobs.complete_batch(std::vector(taken.begin() + 1, taken.begin() + 5)));
    expect_told(4);
    watched().transact([&](tableq::transaction& tx) {
      EXPECT_EQ(jobs.in(tx).complete(taken[5]), settle_result::applied);
      expect_told(1);
      EXPECT_EQ(jobs.in(tx).complete(taken[4]), settle_result::lease_lost);
    });
    EXPECT_EQ(seen->events("after claim.complete ").size(), 1U);
    const auto lost = seen->events("lost ");
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_TRUE(lost[0].starts_with("lost claim.complete ")) << lost[0];
    EXPECT_TRUE(lost[0].ends_with(" count=1")) << lost[0];
  }
}

TEST_P(observers, are_told_the_same_names_whatever_the_order_of_the_queue) {
  for (const auto order : {tableq::ordering::relaxed, tableq::ordering::strict}) {
    const std::string name = order == tableq::ordering::strict ? "strict" : "relaxed";
    auto mail = watched().fifo(name, {.ordering = order});
    auto stack = watched().lifo(name + "_stack", {.ordering = order});
    seen->forget();
    EXPECT_FALSE(mail.dequeue());
    EXPECT_FALSE(stack.dequeue());
    EXPECT_EQ(seen->events("after fifo."),
              std::vector<std::string>{"after " + operation("fifo.dequeue", name) + " messages=0"});
    EXPECT_EQ(seen->events("after lifo."),
              std::vector<std::string>{"after " + operation("lifo.dequeue", name + "_stack") +
                                       " messages=0"});
  }
}

TEST_P(observers, are_told_what_failed_and_how) {
  auto mail = watched().fifo("mail");
  watched().transact([](tableq::transaction& tx) { tableq::session_of(tx) << "DROP TABLE mail"; });
  seen->forget();
  const tableq::error failure = thrown_by([&] { mail.enqueue("x"); });
  const auto after = seen->events("after fifo.");
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0], "after " + operation("fifo.enqueue", "mail", 1) +
                          " messages=0 failed=not_found " + failure.what());
}

TEST_P(observers, hear_nothing_of_refused_arguments) {
  auto mail = watched().fifo("mail");
  seen->forget();
  EXPECT_CODE(invalid_argument, static_cast<void>(mail.peek(0)));
  EXPECT_CODE(invalid_argument, static_cast<void>(mail.dequeue_batch(0)));
  EXPECT_TRUE(seen->events().empty());
}

TEST_P(observers, hear_of_every_session) {
  const std::string backend = watched().backend();
  {
    auto other = open({.observer = seen});
    seen->forget();
    { auto tx = other.begin(); }
  }
  EXPECT_TRUE(seen->events("opened").empty());
  EXPECT_EQ(seen->events("closed"), (std::vector<std::string>{"closed " + backend}));
}

TEST_P(observers, that_throw_change_nothing) {
  const auto bad = std::make_shared<thrower>();
  {
    auto db = open({.observer = bad});
    auto jobs = db.claim("jobs");
    jobs.enqueue("x");
    const auto taken = jobs.take(1);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(jobs.complete(taken[0].receipt), settle_result::applied);
    EXPECT_EQ(jobs.complete(taken[0].receipt), settle_result::lease_lost);
    jobs.enqueue("y");
    EXPECT_EQ(drain(jobs, [](const auto&, const auto&) { return tableq::handled::completed(); }),
              1U);
    db.transact([&](tableq::transaction& tx) { jobs.in(tx).enqueue("z"); });
    EXPECT_EQ(jobs.stats().ready, 1U);
    tableq::worker pool(jobs, [](const tableq::delivery&) {}, {.until_empty = true});
    EXPECT_NO_THROW(pool.join());
    EXPECT_EQ(pool.counts().completed, 1U);
    db.drop("jobs");
    EXPECT_CODE(not_found, jobs.enqueue("w"));
  }
  EXPECT_GT(bad->thrown, 10);
}

TEST_P(observers, get_events_in_pairs_from_each_of_many_threads) {
  class pairs : public tableq::observer {
   public:
    void before(const observed_operation& /*of*/) override {
      const std::scoped_lock hold(mutex);
      wrong += open.insert(std::this_thread::get_id()).second ? 0 : 1;
    }
    void after(const observed_operation& /*of*/, const operation_result& result) override {
      const std::scoped_lock hold(mutex);
      wrong += open.erase(std::this_thread::get_id()) == 1 ? 0 : 1;
      messages += result.messages;
    }
    std::mutex mutex;
    std::set<std::thread::id> open;
    std::size_t messages = 0;
    int wrong = 0;
  };
  const auto counted = std::make_shared<pairs>();
  auto mail = open({.observer = counted}).fifo("mail");
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([mail]() mutable {
        for (int k = 0; k < 20; ++k) mail.enqueue("x");
      });
    }
  }
  EXPECT_EQ(counted->messages, 160U);
  EXPECT_EQ(counted->wrong, 0);
  EXPECT_TRUE(counted->open.empty());
}

TEST_P(observers, are_told_what_became_of_a_workers_messages) {
  auto jobs = watched().claim("jobs", {.max_attempts = 1});
  jobs.enqueue("canary-good");
  jobs.enqueue("canary-bad");
  tableq::worker pool(jobs,
                      [](const tableq::delivery& d) {
                        if (d.payload == "canary-bad") throw std::runtime_error("canary-error");
                      },
                      {.until_empty = true});
  pool.join();
  auto handled = seen->events("handled");
  std::sort(handled.begin(), handled.end());
  EXPECT_EQ(handled, (std::vector<std::string>{"handled jobs attempt=1 what=0",
                                               "handled jobs attempt=1 what=1"}));
}

class observed_trouble : public observers {};
TABLEQ_ON_BACKENDS(observed_trouble, shared_backends);

TEST_P(observed_trouble, is_told_as_retries_before_they_pause) {
  static_cast<void>(db().fifo("mail"));
  auto patient =
      tableq::database::open(here().impatient_url(), {.retry_for = 60s, .observer = seen});
  auto mail = patient.fifo("mail");
  const std::string of = operation("fifo.enqueue", "mail", 1);
  int retries = 0;
  // The observer releases the lock, so that the third attempt finds none.
  seen->on_retry = [&] {
    if (++retries == 2) here().sql("ROLLBACK");
  };
  seen->forget();
  here().sql(here().begin_with_lock("mail"));
  mail.enqueue("in the end");
  EXPECT_EQ(seen->events("retrying"),
            (std::vector<std::string>{"retrying " + of + " attempt=1 failed=busy",
                                      "retrying " + of + " attempt=2 failed=busy"}));
  EXPECT_EQ(seen->events("before").size(), 1U);
  EXPECT_EQ(seen->events("after"), (std::vector<std::string>{"after " + of + " messages=1"}));
}

TEST_P(observed_trouble, of_a_session_that_was_ended_is_told) {
  if (!here().session_id_sql()) GTEST_SKIP() << "sessions of this database cannot be ended";
  auto mail = watched().fifo("mail");
  seen->forget();
  {
    auto tx = watched().begin();
    std::string id;
    tableq::session_of(tx) << *here().session_id_sql(), soci::into(id);
    here().end_session(id);
    EXPECT_CODE(connection_lost, mail.in(tx).enqueue("x"));
  }
  EXPECT_EQ(seen->events("closed"),
            (std::vector<std::string>{"closed " + watched().backend() + " broken"}));
}

}  // namespace
