#include "model/garbage.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/report.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

constexpr std::uint64_t usual_rounds = 8;
constexpr int good_messages = 60;
constexpr int garbage_rows = 90;

/// Handles everything: completes good messages, and settles garbage in each way in turn.
class handling {
 public:
  tableq::handled operator()(const tableq::delivery& d) {
    if (d.payload.starts_with("good ")) {
      const std::scoped_lock hold(mutex_);
      ++good_[d.payload];
      return tableq::handled::completed();
    }
    switch (turn_++ % 8) {
      case 0:
        return tableq::handled::failed("garbage");
      case 1:
        return tableq::handled::retry_after("garbage", 1ms);
      case 2:
        return tableq::handled::give_up("garbage");
      case 3:
        throw std::runtime_error("garbage");
      case 4:
        return tableq::handled::give_back();
      default:
        return tableq::handled::completed();
    }
  }
  [[nodiscard]] std::map<std::string, int> good() const {
    const std::scoped_lock hold(mutex_);
    return good_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> good_;
  std::atomic<unsigned> turn_ = 0;
};

/// Good messages among rows that plain SQL has written at random.
class garbage_rows_of_claims : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (!IsSkipped()) random_ = random_source(told_seed());
  }

  tableq::claim_options any_options() {
    // Longer than a pause of a busy machine: a lease that ends gives a good message twice.
    tableq::claim_options options{.lease = 60s, .max_attempts = 2};
    options.keep_completed = random_.one_in(2);
    if (random_.one_in(2)) {
      options.retry = tableq::retry_delays{.after = {1ms, 5ms}, .jitter = 100};
    }
    if (random_.one_in(2)) options.key_window = 1s;
    if (random_.one_in(2)) options.groups = tableq::group_options{.limit = 2};
    if (random_.one_in(2)) options.dead_letters = "morgue";
    return options;
  }

  void put_good(tableq::claim_queue& into, int number, bool grouped) {
    tableq::claim_enqueue_options options;
    options.priority = static_cast<std::int32_t>(random_.below(5)) - 2;
    if (random_.one_in(3)) options.key = "good " + std::to_string(number);
    if (random_.one_in(3)) options.headers = {{"number", std::to_string(number)}};
    if (grouped && random_.one_in(3)) options.group = "good " + std::to_string(number % 3);
    into.enqueue("good " + std::to_string(number), options);
  }

  /// Every query, page by page, and the other operations on these messages.
  void expect_to_be_looked_at(tableq::claim_queue& jobs) {
    static_cast<void>(jobs.peek(1000));
    static_cast<void>(jobs.stats({.exact = true}));
    constexpr std::size_t enough = 1000;
    for (int state = 0; state <= 5; ++state) {
      tableq::page next{.max = 7};
      std::size_t pages = 0;
      for (auto found = jobs.list(tableq::message_state{state}, next); !found.empty();
           found = jobs.list(tableq::message_state{state}, next)) {
        next.after = found.back();
        ASSERT_LT(++pages, enough) << "no end of the messages in state " << state;
      }
    }
    std::vector<tableq::message_id> ids;
    for (const row& each : here().sql("SELECT id FROM jobs")) {
      ids.push_back({std::stoll(each.at(0).value())});
    }
    for (const auto& each : jobs.get_batch(ids)) EXPECT_TRUE(each);
    static_cast<void>(jobs.redrive_all({.filter = [&](const auto&) { return random_.one_in(2); }}));
    static_cast<void>(jobs.redrive_all());
    db().transact([&](tableq::transaction& tx) {
      for (const auto& each : jobs.in(tx).take(10)) {
        static_cast<void>(jobs.in(tx).fail(each.receipt, "garbage"));
      }
    });
    handling rest;
    static_cast<void>(tableq::drain(jobs, [&](const auto& d, const auto&) {
      const auto said = rest(d);
      return said.what() == tableq::handled::how::given_back ? tableq::handled::completed() : said;
    }));
    static_cast<void>(jobs.purge(tableq::message_state::dead));
    static_cast<void>(jobs.purge(tableq::message_state::done));
    for (const auto id : ids) {
      static_cast<void>(jobs.set_priority(id, 1));
      static_cast<void>(jobs.cancel(id));
    }
  }

  /// One queue with both; plain SQL continues to change rows while the worker runs.
  void round() {
    const tableq::claim_options options = at_once(any_options());
    tableq::claim_queue jobs = db().claim("jobs", options);
    garbage odd(here(), "jobs", tableq::kind::claim, random_);
    int good = 0;
    for (int i = 0; i < garbage_rows; ++i) {
      bool in = false;
      for (int tries = 0; tries < 5 && !in; ++tries) in = odd.insert();
      taken_ += in ? 1 : 0;
      if (i * good_messages / garbage_rows >= good) {
        put_good(jobs, good++, options.groups.enabled);
      }
    }
    handling handler;
    std::atomic<int> completed = 0;
    tableq::worker pool(jobs, [&](const tableq::delivery& d) { return handler(d); },
                        {.threads = 3, .prefetch = 20, .observe = [&](const auto& event) {
                           if (event.what == tableq::worker_event::kind::completed) ++completed;
                         }});
    const auto until = std::chrono::steady_clock::now() + for_ever;
    const auto waiting = [&] {
      const auto met = handler.good();
      return static_cast<int>(met.size()) < good || completed < good;
    };
    while (waiting() && std::chrono::steady_clock::now() < until && !pool.wait_for(5ms)) {
      taken_ += odd.change() ? 1 : 0;
    }
    pool.stop();
    ASSERT_TRUE(pool.wait_for(for_ever));
    pool.join();
    ASSERT_EQ(pool.counts().unknown, 0U);
    const auto met = handler.good();
    ASSERT_EQ(static_cast<int>(met.size()), good);
    for (const auto& [payload, times] : met) ASSERT_EQ(times, 1) << payload;
    expect_to_be_looked_at(jobs);
  }

  void drop_all() {
    static_cast<void>(db().drop("jobs"));
    if (db().find("morgue")) static_cast<void>(db().drop("morgue"));
  }

  random_source random_{0};
  std::uint64_t taken_ = 0;
};
TABLEQ_ON_BACKENDS(garbage_rows_of_claims, shared_backends);

TEST_P(garbage_rows_of_claims, end_no_worker_and_take_no_good_message_with_them) {
  const time_budget time;
  const std::uint64_t rounds = chosen_steps(usual_rounds);
  for (std::uint64_t i = 0; i < rounds && !time.is_over() && !HasFailure(); ++i) {
    round();
    drop_all();
  }
  report_injected("rows of garbage", GetParam()->name(), taken_, "each good message once");
}

/// The same for the kinds whose reads delete.
class garbage_rows_of_kinds : public on_each_kind {};
TABLEQ_ON_KINDS(garbage_rows_of_kinds, shared_backends);

TEST_P(garbage_rows_of_kinds, take_no_good_message_with_them) {
  random_source random(told_seed());
  any_queue mail = make("mail");
  garbage odd(here(), "mail", kind(), random);
  std::multiset<std::string> sent;
  for (int i = 0; i < garbage_rows; ++i) {
    static_cast<void>(odd.insert());
    if (i % 2 != 0) continue;
    sent.insert("good " + std::to_string(i));
    mail.put("good " + std::to_string(i));
  }
  static_cast<void>(mail.peek(1000));
  static_cast<void>(mail.waiting());
  std::multiset<std::string> got;
  const auto until = std::chrono::steady_clock::now() + for_ever;
  while (got.size() < sent.size() && std::chrono::steady_clock::now() < until) {
    for (const item& each : mail.take_up_to(1 + random.below(9), 1ms)) {
      if (each.payload.starts_with("good ")) got.insert(each.payload);
    }
    static_cast<void>(odd.change());
  }
  EXPECT_EQ(got, sent);
}

}  // namespace
