#include <soci/soci.h>

#include <future>
#include <thread>

#include <tableq/soci.hpp>

#include "crash/proxy.hpp"
#include "crash/server_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::errc;

/// A server that keeps its connections and says nothing any more, and a second way to the same one:
/// for tableq, another server that takes writes.
class silent_server : public on_own_server {
 protected:
  void SetUp() override {
    on_own_server::SetUp();
    if (IsSkipped()) return;
    network_ = std::make_unique<proxy>(server().port());
  }
  void TearDown() override {
    network_.reset();
    on_own_server::TearDown();
  }

  [[nodiscard]] proxy& network() { return *network_; }
  /// Of the server that will be silent, and of another port.
  [[nodiscard]] std::string url_beside(std::uint16_t other) const {
    std::string out = server().url_at(network_->port(), "target_session_attrs=read-write");
    const std::string first = "127.0.0.1:" + std::to_string(network_->port());
    return out.replace(out.find(first), first.size(),
                       first + ",127.0.0.1:" + std::to_string(other));
  }
  [[nodiscard]] std::string url_of_both() const { return url_beside(server().port()); }
  [[nodiscard]] static tableq::open_options without_retries() { return {.retry_for = 0ms}; }

 private:
  std::unique_ptr<proxy> network_;
};

TEST_F(silent_server, leaves_a_call_unknown_when_another_takes_writes) {
  auto db = tableq::database::open(url_of_both(), without_retries());
  auto mail = db.fifo("mail");
  mail.enqueue("before");
  network().stand_still();
  EXPECT_CODE(outcome_unknown, mail.enqueue("lost"));
  mail.enqueue("after");
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_F(silent_server, ends_statements_of_the_application_and_idle_sessions) {
  auto db = tableq::database::open(url_of_both(), without_retries());
  auto mail = db.fifo("mail");
  mail.enqueue("before");
  {
    tableq::transaction used = db.begin();
    // The other session is idle from here on.
    db.begin().rollback();
    network().stand_still();
    EXPECT_THROW(tableq::session_of(used) << "SELECT 1", soci::soci_error);
  }
  mail.enqueue("after");
  EXPECT_EQ(mail.stats().waiting, 2U);
}

TEST_F(silent_server, does_not_keep_messages_from_a_waiting_read) {
  auto db = tableq::database::open(url_of_both());
  auto jobs = db.claim("jobs");
  const auto waiting = [&] { return jobs.take(1, {.wait = 60s}).size(); };
  auto got = std::async(std::launch::async, [&] {
    try {
      return waiting();
    } catch (const tableq::error& lost) {
      // The network stood still while the read looked.
      if (lost.code() != tableq::errc::outcome_unknown) throw;
      return waiting();
    }
  });
  auto beside = tableq::database::open(server().url());
  // A listening session holds an advisory lock. Its notifications come through the network.
  const std::string listens = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";
  while (sql()(listens).at(0).at(0) == "0") {
  }
  network().stand_still();
  beside.claim("jobs").enqueue("x");
  EXPECT_EQ(got.get(), 1U);
}

/// Longer than the watch needs to end a session.
constexpr std::chrono::seconds long_enough{6};

TEST_F(silent_server, keeps_its_calls_while_no_other_takes_writes) {
  std::uint16_t closed = 0;
  {
    const proxy gone(server().port());
    closed = gone.port();
  }
  auto db = tableq::database::open(url_beside(closed), without_retries());
  auto mail = db.fifo("mail");
  mail.enqueue("before");
  network().stand_still();
  auto sent = std::async(std::launch::async, [&] { mail.enqueue("x"); });
  EXPECT_EQ(sent.wait_for(long_enough), std::future_status::timeout);
  network().go_on();
  EXPECT_NO_THROW(sent.get());
}

TEST_F(silent_server, is_not_one_that_needs_long_for_a_call) {
  auto db = tableq::database::open(url_of_both(), without_retries());
  auto mail = db.fifo("mail");
  mail.enqueue("before");
  auto beside = tableq::database::open(server().url());
  tableq::transaction lock = beside.begin();
  tableq::session_of(lock) << "LOCK TABLE mail IN ACCESS EXCLUSIVE MODE";
  auto sent = std::async(std::launch::async, [&] { mail.enqueue("x"); });
  EXPECT_EQ(sent.wait_for(long_enough), std::future_status::timeout);
  lock.rollback();
  EXPECT_NO_THROW(sent.get());
}

}  // namespace
