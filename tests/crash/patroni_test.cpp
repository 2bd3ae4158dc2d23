#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "crash/crew.hpp"
#include "crash/waiting_command.hpp"
#include "support/postgresql_client.hpp"
#include "support/report.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Machines with other load take their time, and may stand still; what a step took is printed.
constexpr std::chrono::seconds at_last{120};

/// The promise, which is checked in long runs.
constexpr milliseconds promised{5'000};
/// While a frozen primary's system acknowledges, its callers wait until it goes on.
constexpr milliseconds until_it_goes_on{25'000};

/// Repeats a step until it throws nothing: servers may fail over more often than the test wants.
template <class Step>
auto at_last_done(Step step) {
  for (const auto until = steady_clock::now() + at_last;;) {
    try {
      return step();
    } catch (const std::exception&) {
      if (steady_clock::now() > until) throw;
    }
  }
}

/// A read that waits for a message, again and again, in a thread and with sessions of its own.
class waiting_reader {
 public:
  explicit waiting_reader(const std::string& url)
      : db_(tableq::database::open(url)),
        queue_(db_.claim("awaited")),
        thread_([this] { read(); }) {}
  waiting_reader(const waiting_reader&) = delete;
  waiting_reader& operator=(const waiting_reader&) = delete;
  ~waiting_reader() {
    end_ = true;
    thread_.join();
  }
  /// Messages that it got.
  [[nodiscard]] int got() const { return got_; }

 private:
  void read() {
    while (!end_) {
      try {
        for (const auto& each : queue_.take(1, {.wait = 2s})) {
          ++got_;
          static_cast<void>(queue_.complete(each.receipt));
        }
      } catch (const tableq::error&) {
        // The servers are away: the next attempt shows whether they are back.
      }
    }
  }

  std::atomic<bool> end_ = false;
  std::atomic<int> got_ = 0;
  tableq::database db_;
  tableq::claim_queue queue_;
  std::thread thread_;
};

/// Three servers under Patroni, with a synchronous standby. TABLEQ_TEST_OUTAGES: rounds of each
/// test.
class patroni : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("TABLEQ_TEST_PATRONI");
    if (given == nullptr) GTEST_SKIP() << "no Patroni: scripts/with_patroni.sh starts it";
    node("healthy", "400");
    at_last_done([&] {
      const std::string name = "t" + unique_name();
      static_cast<void>(postgresql_client(given).run("CREATE DATABASE " + name));
      url_ = replaced(given, "/tableq?", "/" + name + "?");
    });
    // A standby that has not got it yet refuses the session, and libpq asks no other server then.
    sql("CREATE TABLE IF NOT EXISTS probes (node text)");
    make_tables([this](const std::string& text) { return sql(text); });
    at_last_done([&] {
      auto db = tableq::database::open(url_);
      static_cast<void>(db.claim("awaited"));
      static_cast<void>(db.claim("tasks"));
      static_cast<void>(db.fifo("letters"));
    });
  }

  static bool long_mode() { return std::getenv("TABLEQ_TEST_OUTAGES") != nullptr; }

  /// Runs scripts/patroni_node.sh. @return the number that it prints; 0 without one.
  static int node(const std::string& order, const std::string& which = {}) {
    process helper({TABLEQ_TEST_PATRONI_NODE, order, which});
    EXPECT_EQ(helper.wait(), 0) << order;
    const auto lines = helper.lines();
    return lines.empty() ? 0 : lines.back().get<int>();
  }
  rows sql(const std::string& text) const {
    return at_last_done([&] { return postgresql_client(url_).run(text); });
  }

  /// Waits until a node takes writes, by a plain client. @param old not this one, unless it is 0 or
  /// the others do not succeed it.
  void wait_for_writes(int old) const {
    const auto begun = steady_clock::now();
    while (steady_clock::now() < begun + at_last) {
      for (int each = 1; each <= 3; ++each) {
        if (each == old && steady_clock::now() < begun + 30s) continue;
        try {
          postgresql_client(urls_.at(static_cast<std::size_t>(each)))
              .run("INSERT INTO probes VALUES ('x')");
          return;
        } catch (const std::exception&) {
          // Asked again.
        }
      }
    }
    ADD_FAILURE() << "no node takes writes";
  }

  using injury = std::function<std::function<void()>(const std::string& primary)>;

  /// @param injure returns what mends the node, perhaps while processes go on.
  /// @param longest how long it may take until all are at work again.
  void play(const std::string& what, bool old_may_return, const injury& injure,
            milliseconds longest = promised) {
    allowed_ = longest;
    const char* given = std::getenv("TABLEQ_TEST_OUTAGES");
    const std::uint64_t most = given == nullptr ? 1 : std::stoull(given);
    random_source random(told_seed());
    const time_budget time;
    learn_ports();
    // Few messages in short runs: they must all be worked off at the end.
    crew actors({.url = url_, .pause = long_mode() ? 10ms : 100ms});
    waiting_reader reader(url_);
    commands_.emplace_back(url_, words{"dequeue", "letters", "--wait", "1h", "--count", "1000000"});
    commands_.emplace_back(url_, words{"work", "tasks", "--", "sh", "-c", "cat; echo"});
    ASSERT_TRUE(actors.all_go_on(at_last));
    std::uint64_t done = 0;
    while (done < most && !time.is_over() && !HasFailure()) {
      if (done > 0) node("healthy", "400");
      actors.stand(milliseconds(random.below(500)));
      const int old = node("leader");
      const auto harmed = steady_clock::now();
      const auto mend = injure(std::to_string(old));
      wait_for_writes(old_may_return ? 0 : old);
      const auto back = steady_clock::now();
      go_on(actors, reader, back - harmed, static_cast<int>(++done));
      if (mend) mend();
    }
    actors.finish();
    // A node that is mended at this moment may refuse the first session: open repeats nothing.
    std::optional<tableq::database> db;
    at_last_done([&] { db = tableq::database::open(url_, {.retry_for = at_last}); });
    actors.told().balance(*db, [this](const std::string& text) { return sql(text); });
    report_injected(what, "postgresql, Patroni", done,
                    actors.told().summary() + "; all at work again " +
                        std::to_string(longest_.count()) + " ms after a primary at the most");
  }

 private:
  void learn_ports() {
    const std::string tail = url_.substr(url_.find('/', url_.find('@')));
    const std::string head = url_.substr(0, url_.find('@') + 1);
    for (std::size_t i = 1; i <= 3; ++i) {
      urls_.at(i) = head + "127.0.0.1:" + std::to_string(node("port", std::to_string(i))) + tail +
                    "&connect_timeout=10";
    }
  }

  using words = std::vector<std::string>;

  /// Sends messages to those that wait for one.
  void send(int number) const {
    at_last_done([&] {
      auto db = tableq::database::open(url_);
      // A call of unknown outcome is repeated: a second message does no harm here.
      db.claim("awaited").enqueue("x");
      db.claim("tasks").enqueue(std::to_string(number));
      db.fifo("letters").enqueue(std::to_string(number));
    });
  }

  /// All actors do a step, and all that wait get a message that is sent now.
  void go_on(crew& actors, const waiting_reader& reader, steady_clock::duration outage,
             int number) {
    const auto back = steady_clock::now();
    const int before = reader.got();
    std::map<std::string, milliseconds> woken;
    std::thread waiting([&] {
      try {
        send(number);
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "enqueue: %s\n", failure.what());
        return;
      }
      const auto note = [&](const std::string& name) {
        woken.try_emplace(name, std::chrono::ceil<milliseconds>(steady_clock::now() - back));
      };
      while (woken.size() < 1 + commands_.size() && steady_clock::now() < back + at_last) {
        if (reader.got() > before) note("waiting read");
        for (auto& each : commands_) {
          if (each.has_printed(number)) note(each.name());
        }
      }
    });
    const auto times = actors.times_to_go_on(at_last);
    waiting.join();
    EXPECT_FALSE(times.empty());
    EXPECT_EQ(woken.size(), 1 + commands_.size()) << "one that waits gets no message";
    std::printf("[ outage   ] %d ms without a primary; then went on, in ms:",
                static_cast<int>(outage / 1ms));
    const auto tell = [this](const std::string& name, milliseconds time) {
      std::printf(" %s %d", name.c_str(), static_cast<int>(time.count()));
      longest_ = std::max(longest_, time);
      if (long_mode()) {
        EXPECT_LE(time, allowed_) << name;
      }
    };
    for (std::size_t i = 0; i < times.size(); ++i) tell(actors.deed(i), times[i]);
    for (const auto& [name, time] : woken) tell(name, time);
    for (const auto& each : commands_) {
      std::printf("; %s ended %d times", each.name().c_str(), each.restarts());
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  std::list<waiting_command> commands_;
  std::string url_;
  std::array<std::string, 4> urls_;
  milliseconds allowed_{promised};
  milliseconds longest_{0};
};

/// Runs a step in a thread. @return what waits for its end.
std::function<void()> joined(std::function<void()> step) {
  auto running = std::make_shared<std::thread>(std::move(step));
  return [running] { running->join(); };
}

TEST_F(patroni, primary_is_killed_and_nothing_is_lost_and_everybody_goes_on) {
  play("primary killed", true, [](const std::string& primary) {
    node("kill", primary);
    return nullptr;
  });
}

TEST_F(patroni, primary_is_switched_over_and_nothing_is_lost_and_everybody_goes_on) {
  play("primary switched over", false, [](const std::string& /*primary*/) {
    // Patroni answers some time after the new primary has taken writes.
    return joined([] { node("switch"); });
  });
}

// A primary that still believes that it is one when it comes back.
TEST_F(patroni, primary_is_frozen_and_nothing_is_lost_and_everybody_goes_on) {
  play(
      "primary frozen for 20 s", false,
      [](const std::string& primary) {
        node("freeze", primary);
        return joined([primary] { node("thaw_later", primary); });
      },
      until_it_goes_on);
}

// Its clients still reach it.
TEST_F(patroni, primary_is_cut_off_and_nothing_is_lost_and_everybody_goes_on) {
  play("primary cut off from etcd and the standbys", false, [](const std::string& primary) {
    node("cut", primary);
    return [primary] { node("join", primary); };
  });
}

}  // namespace
