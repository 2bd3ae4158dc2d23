// Changes of a queue's table itself, beside open transactions that use it. Calls of others go on.
#include <gtest/gtest.h>
#include <soci/soci.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class table_change : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!can().concurrent_writers) GTEST_SKIP() << "one transaction writes at a time";
    static_cast<void>(db().claim("jobs"));
  }
  void TearDown() override {
    client_.reset();
    on_each_backend::TearDown();
  }
  /// An application's transaction that has stored a message.
  void open_transaction() {
    client_ = here().session();
    if (const auto id = here().session_id_sql()) *client_ << *id, soci::into(id_);
    client_->begin();
    *client_ << "INSERT INTO jobs (payload) VALUES (" + here().text_payload("mine") + ")";
  }
  void end_transaction() { client_->commit(); }
  [[nodiscard]] const std::string& id() const { return id_; }

  /// While `change` tries again and again, others store and take messages.
  template <class Change>
  void others_go_on_during(Change change) {
    open_transaction();
    std::atomic<bool> begun = false;
    auto changing = std::async(std::launch::async, [&] {
      auto patient = open({.retry_for = for_ever});
      begun = true;
      change(patient);
    });
    // Their calls fail if they wait for a lock as long as the change would.
    auto others = tableq::database::open(here().impatient_url(), {.retry_for = 5s});
    auto jobs = others.claim("jobs");
    std::size_t stored = 0;
    const auto until = std::chrono::steady_clock::now() + 1s;  // some tries
    while (!begun || stored < 30 || std::chrono::steady_clock::now() < until) {
      EXPECT_NO_THROW(jobs.enqueue("job"));
      EXPECT_NO_THROW(EXPECT_EQ(jobs.take(1).size(), 1U));
      ++stored;
      if (HasFailure()) break;
    }
    end_transaction();
    EXPECT_NO_THROW(changing.get());
  }
  /// Gives up at once.
  template <class Change>
  std::string refused(Change change) {
    open_transaction();
    auto hurried = open({.retry_for = 0ms});
    const tableq::error why = thrown_by([&] { change(hurried); });
    EXPECT_EQ(why.code(), tableq::errc::busy);
    end_transaction();
    return why.what();
  }

 private:
  std::unique_ptr<soci::session> client_;
  std::string id_;
};
TABLEQ_ON_BACKENDS(table_change, shared_backends);

TEST_P(table_change, of_the_first_concurrency_limit_lets_others_go_on) {
  others_go_on_during(
      [](tableq::database& patient) { patient.claim("jobs").set_limits({.concurrency = 1000}); });
  EXPECT_EQ(db().claim("jobs").limits().concurrency, 1000);
}

TEST_P(table_change, of_a_drop_lets_others_go_on) {
  others_go_on_during([](tableq::database& patient) { EXPECT_TRUE(patient.drop("jobs")); });
  EXPECT_FALSE(db().find("jobs"));
}

TEST_P(table_change, tells_which_sessions_it_waits_for) {
  if (!can().shows_held_messages) GTEST_SKIP() << "only some users see the locks of others";
  EXPECT_TRUE(contains(refused([](auto& one) { one.drop("jobs"); }), id()));
  EXPECT_TRUE(db().find("jobs"));
  EXPECT_TRUE(
      contains(refused([](auto& one) { one.claim("jobs").set_limits({.concurrency = 1}); }), id()));
  EXPECT_FALSE(db().claim("jobs").limits().concurrency);
}

}  // namespace
