#include <algorithm>

#include "crash/proxy.hpp"
#include "crash/server_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Processes work while their server stops and returns. None of them is restarted.
class server_that : public on_own_server {
 protected:
  void TearDown() override {
    if (IsSkipped()) return;
    std::printf("[ longest  ] %d ms until all went on\n", static_cast<int>(longest_.count()));
    on_own_server::TearDown();
  }

  void begin(crew_options options) {
    make_tables(sql());
    options.pause = 10ms;
    actors_ = std::make_unique<crew>(std::move(options));
    ASSERT_TRUE(actors_->all_go_on(60s));
  }

  /// All processes continue after the server's return.
  void all_go_on() {
    const auto back = steady_clock::now();
    EXPECT_TRUE(actors_->all_go_on(soon));
    longest_ =
        std::max(longest_,
                 std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - back));
  }

  void finish(const std::string& what, std::uint64_t times) {
    actors_->finish();
    auto db = tableq::database::open(server().url());
    actors_->told().balance(db, sql());
    report_injected(what, "postgresql", times,
                    actors_->told().summary() + "; all at work again after " +
                        std::to_string(longest_.count()) + " ms at the most");
  }

  /// Injects the fault as often as required, with the check after each `proofs` faults, and at the
  /// end.
  template <class Injury>
  void repeat(const std::string& what, std::uint64_t usual, Injury injure,
              std::uint64_t proofs = 1) {
    SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed()));
    random_source random(seed());
    const std::uint64_t most = chosen_outages(usual);
    const time_budget time;
    std::uint64_t done = 0;
    while (done < most && !time.is_over() && !HasFailure()) {
      injure(random);
      if (++done % proofs == 0) all_go_on();
    }
    finish(what, done);
  }
  /// As above: the server is away for a time.
  void repeat_outages(const std::string& what, std::uint64_t usual, const std::string& mode,
                      std::chrono::milliseconds at_least = {}) {
    repeat(what, usual, [&](random_source& random) {
      server().stop(mode);
      actors().stand(at_least + std::chrono::milliseconds(random.below(longest_outage())));
      server().start();
    });
  }
  /// Milliseconds: longer in the long modes.
  [[nodiscard]] static std::uint64_t longest_outage() {
    return chosen_outages(0) == 0 ? 500 : 4'000;
  }

  [[nodiscard]] crew& actors() { return *actors_; }

 private:
  std::unique_ptr<crew> actors_;
  std::chrono::milliseconds longest_{0};
};

TEST_F(server_that, is_stopped_at_once_loses_nothing_and_everybody_goes_on) {
  begin({.url = server().url()});
  repeat_outages("server stopped, mode immediate", 2, "immediate");
}

#if defined(TABLEQ_WITH_ODBC)
TEST_F(server_that, is_stopped_at_once_behind_odbc_loses_nothing_and_everybody_goes_on) {
  if (postgresql_odbc_backend().missing()) GTEST_SKIP() << *postgresql_odbc_backend().missing();
  begin({.url = server().odbc_url()});
  repeat_outages("server stopped, mode immediate, ODBC", 1, "immediate");
}
#endif

TEST_F(server_that, is_restarted_loses_nothing_and_everybody_goes_on) {
  begin({.url = server().url()});
  repeat_outages("server restarted, mode fast", 1, "fast");
}

// Calls fail during the outage, and processes wait by themselves, or in tableq's worker.
TEST_F(server_that, stays_away_for_longer_than_calls_are_repeated_is_waited_for) {
  begin({.url = server().url(), .retry = 100ms});
  repeat_outages("server away for longer than retry_for", 1, "immediate", 2s);
}

TEST_F(server_that, ends_all_sessions_loses_nothing_and_everybody_goes_on) {
  begin({.url = server().url()});
  repeat("all sessions ended, pg_terminate_backend", 5, [this](random_source& random) {
    actors().stand(std::chrono::milliseconds(random.below(100)));
    static_cast<void>(
        server().sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                     "WHERE datname = current_database() AND pid <> pg_backend_pid()"));
  });
}

/// Its write-ahead log is on a file system of 96 MB. For the long modes.
class server_whose_log : public server_that {
 protected:
  static bool wanted() { return chosen_outages(0) > 0; }
  static void SetUpTestSuite() {
    if (wanted()) begin_server("96m", own_postgresql::on_disk::log);
  }
  void SetUp() override {
    if (!wanted()) GTEST_SKIP() << "in long runs only: TABLEQ_TEST_OUTAGES";
    server_that::SetUp();
  }
};

// PostgreSQL then ends all sessions, and usually itself, so the test starts it.
TEST_F(server_whose_log, has_no_room_loses_nothing_and_everybody_goes_on) {
  begin({.url = server().url()});
  repeat("write-ahead log's disk full", 1, [this](random_source& random) {
    static_cast<void>(server().sql("CREATE TABLE IF NOT EXISTS waste (text text)"));
    server().fill("1G");
    bool away = false;
    for (int i = 0; i < 200 && !away; ++i) {
      try {
        static_cast<void>(server().sql(
            "INSERT INTO waste SELECT repeat('x', 1000) FROM generate_series(1, 1000)"));
      } catch (const std::exception&) {
        away = true;
      }
    }
    EXPECT_TRUE(away);
    actors().stand(std::chrono::milliseconds(random.below(longest_outage())));
    server().fill({});
    server().revive();
    static_cast<void>(server().sql("TRUNCATE waste"));
  });
}

// Each cut is before or after the server has got what the client sent, commits among them.
TEST_F(server_that, is_behind_a_bad_network_loses_nothing_and_everybody_goes_on) {
  proxy network(server().port());
  begin({.url = server().url_at(network.port())});
  repeat(
      "network cut", 20,
      [this, &network](random_source& random) {
        const auto at_piece = random.below(200);
        const bool before = random.one_in(2);
        const std::size_t cuts = network.cuts();
        network.decide([=, n = std::uint64_t{0}](std::string_view /*piece*/) mutable {
          if (n++ != at_piece) return proxy::fate::pass;
          return before ? proxy::fate::cut_before : proxy::fate::cut_after;
        });
        const auto until = steady_clock::now() + 60s;
        while (network.cuts() == cuts && steady_clock::now() < until) actors().stand(1ms);
        EXPECT_GT(network.cuts(), cuts);
      },
      5);
}

}  // namespace
