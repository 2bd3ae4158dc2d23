#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <poll.h>
#include <soci/soci.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <tableq/soci.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

// Names are unique to this process: channels belong to the whole database.
const std::string this_process = std::to_string(::getpid());
const std::string mail_name = "mail" + this_process;
/// The mark at the end of a client's notifications.
const std::string ends = "ends" + this_process;

/// A client that receives notifications, and may announce that it listens.
class hearing_client {
 public:
  explicit hearing_client(const std::string& url) : handle_(PQconnectdb(url.c_str())) {}
  void run(const std::string& sql) {
    PGresult* answer = PQexec(handle_.get(), sql.c_str());
    EXPECT_NE(PQresultStatus(answer), PGRES_FATAL_ERROR) << PQerrorMessage(handle_.get());
    PQclear(answer);
  }
  /// The notifications before the mark, which follows all earlier commits.
  std::vector<std::string> heard() {
    run("NOTIFY " + ends);
    std::vector<std::string> out;
    for (;;) {
      PQconsumeInput(handle_.get());
      while (PGnotify* one = PQnotifies(handle_.get())) {
        const std::string channel = one->relname;
        PQfreemem(one);
        if (channel == ends) return out;
        out.push_back(channel);
      }
      pollfd socket{.fd = PQsocket(handle_.get()), .events = POLLIN, .revents = 0};
      if (::poll(&socket, 1, 60'000) <= 0) return {"nothing"};
    }
  }

 private:
  struct closer {
    void operator()(PGconn* open) const noexcept { PQfinish(open); }
  };
  std::unique_ptr<PGconn, closer> handle_;
};

class notifications : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    // The same place in the form of its own client library.
    const std::string url = here().url();
    client_.emplace(url.starts_with("postgresql://") ? url : here().other_forms().at(0));
    client_->run("LISTEN " + mail_ + "_tableq");
    client_->run("LISTEN " + mail_ + "k_tableq");
    client_->run("LISTEN " + ends);
  }
  void TearDown() override {
    client_.reset();
    on_each_backend::TearDown();
  }
  /// Makes producers see a listener of the queue.
  void hold(std::string_view queue) {
    const std::string identity = std::to_string(db().find(queue)->identity & 2147483647);
    client_->run("SELECT pg_advisory_lock_shared(1952606577, " + identity + ")");
  }
  std::vector<std::string> heard() { return client_->heard(); }

  const std::string mail_ = mail_name;
  const std::vector<std::string> one{mail_ + "_tableq"};

 private:
  std::optional<hearing_client> client_;
};
INSTANTIATE_TEST_SUITE_P(, notifications,
                         testing::Values(&postgresql_backend(), &postgresql_odbc_backend()),
                         backend_name);

const std::vector<std::string> none;

TEST_P(notifications, are_not_sent_while_nobody_listens) {
  auto mail = db().fifo(mail_);
  mail.enqueue("x");
  EXPECT_EQ(heard(), none);
  hold(mail_);
  open().fifo(mail_).enqueue("x");
  EXPECT_EQ(heard(), one);
}

TEST_P(notifications, are_not_sent_because_another_transaction_is_open) {
  auto mail = db().fifo(mail_);
  const auto first = here().session();
  const auto second = here().session();
  soci::transaction one_open(*first);
  soci::transaction also_open(*second);
  mail.in(tableq::enlist(db(), *first)).enqueue("x");
  mail.in(tableq::enlist(db(), *second)).enqueue("x");
  also_open.commit();
  one_open.commit();
  EXPECT_EQ(heard(), none);
}

TEST_P(notifications, of_a_busy_producer_are_few) {
  auto mail = db().fifo(mail_);
  hold(mail_);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 300; ++i) mail.enqueue("x");
  const auto took = std::chrono::steady_clock::now() - begin;
  const std::size_t count = heard().size();
  EXPECT_GE(count, 1U);
  EXPECT_LE(count, static_cast<std::size_t>(took / 250ms) + 4) << "four in a row";
}

TEST_P(notifications, come_with_the_commit_of_a_callers_transaction) {
  auto mail = db().fifo(mail_);
  hold(mail_);
  const auto session = here().session();
  {
    soci::transaction undone(*session);
    mail.in(tableq::enlist(db(), *session)).enqueue("x");
    EXPECT_EQ(heard(), none);
    undone.rollback();
  }
  EXPECT_EQ(heard(), none);
  {
    soci::transaction done(*session);
    tableq::enlistment joined = tableq::enlist(db(), *session);
    for (int i = 0; i < 10; ++i) mail.in(joined).enqueue("x");
    EXPECT_EQ(heard(), none);
    done.commit();
  }
  EXPECT_EQ(heard(), one);
  // Each enlisted transaction notifies, because it may commit at any time.
  {
    soci::transaction done(*session);
    mail.in(tableq::enlist(db(), *session)).enqueue("x");
    done.commit();
  }
  EXPECT_EQ(heard(), one);
}

TEST_P(notifications, come_again_after_a_rollback_to_a_savepoint) {
  auto mail = db().fifo(mail_);
  auto keyed = db().claim(mail_ + "k");
  hold(mail_);
  hold(mail_ + "k");
  const auto session = here().session();
  soci::transaction mine(*session);
  tableq::enlistment joined = tableq::enlist(db(), *session);
  const auto add = [&] {
    mail.in(joined).enqueue("x");
    keyed.in(joined).enqueue("x", {.key = "k", .on_duplicate = tableq::on_duplicate::replace});
  };
  *session << "SAVEPOINT before";
  add();
  *session << "ROLLBACK TO SAVEPOINT before";
  add();
  mine.commit();
  EXPECT_EQ(heard(), (std::vector<std::string>{mail_ + "_tableq", mail_ + "k_tableq"}));
}

TEST_P(notifications, come_with_each_transaction_of_an_enlistment) {
  auto mail = db().fifo(mail_);
  hold(mail_);
  const auto session = here().session();
  session->begin();
  tableq::enlistment joined = tableq::enlist(db(), *session);
  mail.in(joined).enqueue("x");
  session->rollback();
  EXPECT_EQ(heard(), none);
  for (int i = 0; i < 2; ++i) {
    session->begin();
    mail.in(joined).enqueue("x");
    session->commit();
    EXPECT_EQ(heard(), one);
  }
}

TEST_P(notifications, come_after_a_commit_and_not_after_a_rollback) {
  auto mail = db().fifo(mail_);
  hold(mail_);
  auto undone = db().begin();
  mail.in(undone).enqueue("x");
  undone.rollback();
  EXPECT_EQ(heard(), none);
  db().transact([&](tableq::transaction& tx) { mail.in(tx).enqueue("x"); });
  EXPECT_EQ(heard(), one);
}

TEST_P(notifications, are_never_sent_in_silence) {
  auto silent = open({.notifications = tableq::notifications::off});
  auto mail = silent.fifo(mail_);
  hold(mail_);
  mail.enqueue("x");
  const auto session = here().session();
  soci::transaction mine(*session);
  mail.in(tableq::enlist(silent, *session)).enqueue("x");
  mine.commit();
  EXPECT_EQ(heard(), none);
}

class listening_to_postgresql : public on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, listening_to_postgresql, testing::Values(&postgresql_backend()),
                         backend_name);

TEST_P(listening_to_postgresql, begins_when_whoever_found_nobody_has_committed) {
  auto mail = db().fifo(mail_name);
  auto names = tableq::core::names_for({}, mail_name);
  names.identity = db().find(mail_name)->identity;
  const auto driver = tableq::core::make_driver(here().url());
  const auto ear = driver->listen();
  ASSERT_NE(ear, nullptr);
  const auto session = here().session();
  {
    soci::transaction mine(*session);
    mail.in(tableq::enlist(db(), *session)).enqueue("x");
    EXPECT_FALSE(ear->follow(names, true)) << "this transaction will tell nobody";
    mine.commit();
  }
  EXPECT_TRUE(ear->follow(names, true));
  mail.enqueue("y");
  const auto news = ear->wait(1min);
  ASSERT_EQ(news.notices.size(), 1U);
  EXPECT_EQ(news.notices[0].channel, mail_name + "_tableq");
  EXPECT_TRUE(ear->follow(names, false));
}

TEST_P(listening_to_postgresql, ends_when_it_is_interrupted) {
  const auto driver = tableq::core::make_driver(here().url());
  const auto ear = driver->listen();
  ear->interrupt();
  EXPECT_TRUE(ear->wait(24h).notices.empty());
}

TEST_P(listening_to_postgresql, hears_of_names_of_every_length) {
  const std::string longest = std::string(40 - this_process.size(), 'q') + this_process;
  auto prefixed = open({.table_prefix = "p_34567890123456"});
  static_cast<void>(prefixed.fifo(longest));
  auto names = tableq::core::names_for({.table_prefix = "p_34567890123456"}, longest);
  names.identity = prefixed.find(longest)->identity;
  const auto driver = tableq::core::make_driver(here().url());
  const auto ear = driver->listen();
  ASSERT_TRUE(ear->follow(names, true));
  prefixed.fifo(longest).enqueue("x");
  EXPECT_EQ(ear->wait(1min).notices.size(), 1U);
}

}  // namespace
