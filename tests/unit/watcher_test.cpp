#include "core/waking/watcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <tableq/error.hpp>

namespace {

using namespace std::chrono_literals;
using namespace tableq::core;  // NOLINT(google-build-using-namespace): what is tested
using std::chrono::steady_clock;

/// The database's notifications, controlled by the test, and the calls of its listener.
struct wire {
  std::mutex mutex;
  std::condition_variable changed;
  received_notices news;
  bool cut = false;
  int opened = 0;
  int open = 0;
  std::set<std::string> followed;
  listener* ear = nullptr;

  void say(received_notices what) {
    const std::scoped_lock hold(mutex);
    news = std::move(what);
    if (ear != nullptr) ear->interrupt();
  }
  void break_down() {
    const std::scoped_lock hold(mutex);
    cut = true;
    if (ear != nullptr) ear->interrupt();
  }
  template <class Predicate>
  void wait_until(Predicate is_so) {
    std::unique_lock hold(mutex);
    ASSERT_TRUE(changed.wait_for(hold, 1min, is_so));
  }
};

class wired_listener final : public listener {
 public:
  explicit wired_listener(wire& through) : wire_(through) {
    const std::scoped_lock hold(wire_.mutex);
    ++wire_.opened;
    ++wire_.open;
    wire_.ear = this;
    interrupt();  // there may be news
  }
  ~wired_listener() override {
    const std::scoped_lock hold(wire_.mutex);
    --wire_.open;
    wire_.ear = nullptr;
    wire_.followed.clear();
    wire_.changed.notify_all();
  }
  bool follow(const table_names& names, bool begins) override {
    const std::scoped_lock hold(wire_.mutex);
    if (begins) {
      wire_.followed.insert(names.table);
    } else {
      wire_.followed.erase(names.table);
    }
    wire_.changed.notify_all();
    return true;
  }
  received_notices wait(std::chrono::milliseconds longest) override {
    wakes().wait(-1, longest);
    const std::scoped_lock hold(wire_.mutex);
    if (std::exchange(wire_.cut, false)) {
      throw tableq::error(tableq::errc::connection_lost, tableq::advice::session, "cut");
    }
    wire_.changed.notify_all();
    return std::exchange(wire_.news, {});
  }

 private:
  wire& wire_;
};

class wired_driver final : public driver {
 public:
  explicit wired_driver(wire& through) : driver("wired", {}), wire_(through) {}
  std::unique_ptr<connection> connect(const callers_session*) override { return {}; }
  std::unique_ptr<listener> listen() override { return std::make_unique<wired_listener>(wire_); }

 private:
  wire& wire_;
};

std::shared_ptr<watched_queue> queue_named(const std::string& name, std::int64_t identity) {
  return std::make_shared<watched_queue>(table_names{.table = name, .identity = identity},
                                         poll_plan::timing::none);
}

class watchers : public testing::Test {
 protected:
  /// A reader that waits until the test ends it.
  std::jthread reader() {
    return std::jthread([this] {
      watcher::waiting here(watched_, mail_);
      for (;;) {
        const auto mark = queue_.readers.mark();
        if (done_) return;
        static_cast<void>(here.wait(mark, steady_clock::now() + 1h, {}));
        ++wakes_;
      }
    });
  }
  /// Until all effects of the beginning have ended: no poll is delayed that long.
  void settle() {
    wire_.wait_until([this] { return wire_.followed.contains("mail"); });
    int before = -1;
    for (auto quiet = steady_clock::now(); steady_clock::now() < quiet + 300ms;) {
      if (wakes_ != before || queue_.readers.sleeping() == 0) quiet = steady_clock::now();
      before = wakes_;
      std::this_thread::yield();
    }
  }
  void finish() {
    done_ = true;
    watched_.added(queue_, 1);
  }

  wire wire_;
  wired_driver driver_{wire_};
  tableq::open_options options_{.poll_interval = 24h};
  watcher watched_{driver_, options_};
  std::shared_ptr<watched_queue> mail_ = queue_named("mail", 7);
  watched_queue& queue_ = *mail_;
  std::atomic<int> wakes_ = 0;
  std::atomic<bool> done_ = false;
};

TEST_F(watchers, wake_a_reader_for_a_change_in_an_unknown_queue) {
  std::jthread waits = reader();
  settle();
  const int before = wakes_;
  wire_.say({.any_queue = true});
  while (wakes_ == before) std::this_thread::yield();
  finish();
}

TEST_F(watchers, hear_what_concerns_the_queue_only) {
  const auto post = queue_named("post", 9);
  watched_queue& other = *post;
  std::atomic<int> others = 0;
  std::jthread second([&] {
    watcher::waiting here(watched_, post);
    for (;;) {
      const auto mark = other.readers.mark();
      if (done_) return;
      static_cast<void>(here.wait(mark, steady_clock::now() + 1h, {}));
      ++others;
    }
  });

  std::jthread waits = reader();
  settle();
  while (others == 0 || other.readers.sleeping() == 0) std::this_thread::yield();
  /// Whether the reader of the queue wakes before one that a later notification wakes.
  const auto woken_by = [&](notice told) {
    const int before = wakes_;
    const int before_others = others;
    wire_.say({.notices = {std::move(told)}});
    wire_.wait_until([this] { return wire_.news.notices.empty(); });
    wire_.say({.notices = {{.channel = "post_tableq", .payload = "9.1"}}});
    while (others == before_others) std::this_thread::yield();
    return wakes_ != before;
  };
  EXPECT_FALSE(woken_by({.channel = "mail_tableq", .payload = "8.1"})) << "another identity";
  EXPECT_FALSE(woken_by({.channel = "post_tableq", .payload = "7.1"})) << "another queue";
  EXPECT_FALSE(woken_by({.channel = "mail_tableq", .payload = "7." + watched_.token()}))
      << "what this object told itself";
  for (const char* payload : {"7.1", "", "by hand"}) {
    const int before = wakes_;
    wire_.say({.notices = {{.channel = "mail_tableq", .payload = payload}}});
    while (wakes_ == before) std::this_thread::yield();
  }
  finish();
  watched_.added(other, 1);
}

TEST_F(watchers, open_another_listener_when_theirs_breaks_and_look_once) {
  std::jthread waits = reader();
  settle();
  const int before = wakes_;
  wire_.break_down();
  wire_.wait_until([this] { return wire_.opened == 2 && wire_.followed.contains("mail"); });
  while (wakes_ == before) std::this_thread::yield();
  finish();
}

TEST_F(watchers, leave_the_queue_and_close_their_listener_when_nobody_waits_any_more) {
  {
    const std::jthread waits = reader();
    settle();
    finish();
  }
  wire_.wait_until([this] { return wire_.open == 0; });
  while (mail_.use_count() != 1) std::this_thread::yield();
  done_ = false;
  std::jthread waits = reader();
  wire_.wait_until([this] { return wire_.opened == 2; });
  finish();
}

TEST(poll_paces, spread_what_comes_at_once_and_give_the_time_of_the_next) {
  poll_pace pace;
  poll_pace::moment now{1h};
  int polls = 0;
  while (pace.take(now, poll_pace::usual)) ++polls;
  EXPECT_EQ(polls, 65) << "64 ms of rest, and one";
  for (; polls < 1000; ++polls) {
    ASSERT_GT(pace.next(), now);
    now = pace.next();
    ASSERT_TRUE(pace.take(now, poll_pace::usual));
    ASSERT_FALSE(pace.take(now, poll_pace::seldom));
  }
  EXPECT_GE(now, poll_pace::moment(1h) + 900ms);
  now += 1h;
  polls = 0;
  while (pace.take(now, poll_pace::seldom)) ++polls;
  EXPECT_EQ(polls, 7) << "a rest saves no more";
}

TEST_F(watchers, that_shall_poll_open_none) {
  options_.notifications = tableq::notifications::send_only;
  watcher polls(driver_, options_);
  {
    watcher::waiting here(polls, mail_);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(here.wait(queue_.readers.mark(), steady_clock::now() + 1h, {}), woken::hint);
    }
  }
  EXPECT_EQ(wire_.opened, 0);
}

TEST_F(watchers, pass_a_hint_on_when_something_was_found) {
  watcher::waiting here(watched_, mail_);
  auto mark = queue_.readers.mark();
  here.found(woken::message, true);
  EXPECT_EQ(queue_.readers.mark(), mark) << "one message is for one reader";
  here.found(woken::hint, false);
  EXPECT_EQ(queue_.readers.mark(), mark) << "it has found all that was there";
  here.found(woken::hint, true);
  EXPECT_NE(queue_.readers.mark(), mark);
}

}  // namespace
