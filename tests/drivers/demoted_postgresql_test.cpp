#include <gtest/gtest.h>
#include <soci/soci.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>

#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Counts the sessions that were opened.
class opened_sessions : public tableq::observer {
 public:
  void session_opened(std::string_view /*backend*/, std::chrono::nanoseconds /*t*/) override {
    ++count;
  }
  std::atomic<int> count = 0;
};

/// Sessions whose server has become a standby, while new sessions reach one that takes writes.
class demoted_sessions : public on_each_backend {
 protected:
  static constexpr int sessions = 3;

  /// All idle sessions of a database object refuse writes from now on.
  static void demote(tableq::database& db) {
    std::vector<tableq::transaction> open;
    for (int i = 0; i < sessions; ++i) {
      open.push_back(db.begin());
      tableq::session_of(open.back()) << "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";
    }
    for (tableq::transaction& each : open) each.commit();
  }
};
INSTANTIATE_TEST_SUITE_P(, demoted_sessions,
                         testing::Values(&postgresql_backend(), &postgresql_odbc_backend()),
                         backend_name);

TEST_P(demoted_sessions, are_left_by_the_first_refused_call_which_is_repeated) {
  const auto opened = std::make_shared<opened_sessions>();
  auto wide = open({.max_sessions = sessions, .observer = opened});
  auto mail = wide.fifo("mail");
  auto strict = wide.fifo("strict", {.ordering = tableq::ordering::strict});
  auto jobs = wide.claim("jobs", {.groups = tableq::group_options{}});
  const std::vector<std::function<void()>> calls = {
      [&] { mail.enqueue("m"); },
      [&] { EXPECT_TRUE(mail.dequeue()); },
      [&] { strict.enqueue("s"); },
      [&] { jobs.enqueue("j", {.group = "g"}); },
      [&] { EXPECT_EQ(jobs.complete(jobs.take(1).at(0).receipt), tableq::settle_result::applied); },
      [&] { wide.transact([&](tableq::transaction& tx) { mail.in(tx).enqueue("t"); }); },
      [&] { static_cast<void>(wide.heap("made")); }};
  for (const auto& call : calls) {
    demote(wide);
    const int before = opened->count;
    EXPECT_NO_THROW(call());
    for (int i = 0; i < 5; ++i) mail.enqueue("more");
    EXPECT_EQ(opened->count, before + 1) << "one session is enough for one thread";
  }
}

TEST_P(demoted_sessions, are_left_after_a_transaction_that_could_not_write) {
  auto wide = open({.max_sessions = sessions});
  auto mail = wide.fifo("mail");
  demote(wide);
  {
    tableq::transaction tx = wide.begin();
    const tableq::error refused = thrown_by([&] { mail.in(tx).enqueue("x"); });
    EXPECT_EQ(refused.code(), tableq::errc::read_only) << refused.what();
    EXPECT_EQ(refused.advice(), tableq::advice::session) << refused.what();
    EXPECT_CODE(invalid_argument, tx.commit());
  }
  tableq::transaction tx = wide.begin();
  mail.in(tx).enqueue("x");
  tx.commit();
  EXPECT_EQ(mail.stats().waiting, 1U);
}

TEST_P(demoted_sessions, of_a_server_without_writes_are_told_at_once) {
  auto mail = db().fifo("mail");
  const int verdict = here().run_read_only([&](const std::string& url) {
    const auto opened = std::make_shared<opened_sessions>();
    auto refused = tableq::database::open(url, {.retry_for = 60s, .observer = opened});
    EXPECT_CODE(read_only, refused.fifo("mail").enqueue("x"));
    return opened->count.load();
  });
  EXPECT_EQ(verdict, 2);
  EXPECT_EQ(mail.stats().waiting, 0U);
}

TEST_P(demoted_sessions, are_no_others_where_a_trigger_refuses_a_row) {
  const auto opened = std::make_shared<opened_sessions>();
  auto narrow = open({.max_sessions = 1, .observer = opened});
  auto mail = narrow.fifo("mail");
  here().sql(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " RAISE EXCEPTION 'no' USING ERRCODE = '25006'; END $$;"
      " CREATE TRIGGER refuse BEFORE INSERT ON mail FOR EACH ROW"
      " WHEN (length(NEW.payload) = 3) EXECUTE FUNCTION refuse()");
  for (int i = 0; i < 3; ++i) {
    const tableq::error refused = thrown_by([&] { mail.enqueue("bad"); });
    EXPECT_EQ(refused.code(), tableq::errc::read_only) << refused.what();
    EXPECT_EQ(refused.advice(), tableq::advice::never) << refused.what();
    mail.enqueue("good");
  }
  EXPECT_EQ(opened->count, 1);
  const tableq::error refused = thrown_by(
      [&] { narrow.transact([&](tableq::transaction& tx) { mail.in(tx).enqueue("bad"); }); });
  EXPECT_EQ(refused.code(), tableq::errc::read_only) << refused.what();
  EXPECT_EQ(refused.advice(), tableq::advice::never) << refused.what();
}

TEST_P(demoted_sessions, hold_up_no_waiting_read_for_longer_than_a_poll) {
  auto wide = open({.max_sessions = sessions, .poll_interval = 100ms});
  auto reads = wide.fifo("mail");
  auto sends = db().fifo("mail");
  const auto listening = here().listening_sql();
  std::string got;
  {
    const std::jthread reader([&] { got = reads.dequeue({.wait = for_ever}).value().payload; });
    std::optional<std::string> before;
    if (listening) {
      while (here().sql(*listening).empty()) std::this_thread::yield();
      before = here().sql(*listening).at(0).at(0);
    }
    demote(wide);
    const auto until = std::chrono::steady_clock::now() + for_ever;
    const auto left = [&] {
      if (!before) return true;
      const auto now = here().sql(*listening);
      return !now.empty() && now.at(0).at(0) != before;
    };
    while (!left() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_TRUE(left()) << "the listener stays with the server that takes no writes";
    sends.enqueue("found");
  }
  EXPECT_EQ(got, "found");
}

}  // namespace
