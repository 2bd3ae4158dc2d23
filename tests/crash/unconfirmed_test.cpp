#include <future>

#include "crash/server_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// A server whose commits wait for a synchronous standby that does not exist. An administrator ends
/// the waits.
class unconfirmed_commit : public on_own_server {
 protected:
  void SetUp() override {
    on_own_server::SetUp();
    if (IsSkipped()) return;
    db_ = tableq::database::open(server().url());
    mail_ = db_->fifo("mail");
  }
  void TearDown() override {
    if (mail_) wait_for_standbys("");
    mail_.reset();
    db_.reset();
    on_own_server::TearDown();
  }

  static void wait_for_standbys(const std::string& names) {
    sql()("ALTER SYSTEM SET synchronous_standby_names = '" + names + "'");
    sql()("SELECT pg_reload_conf()");
  }

  /// Commits until one is not confirmed, because the server reads its settings later. Then all
  /// commits are there, also the last one.
  template <class Commit>
  void is_unknown(Commit commit) {
    constexpr std::size_t most = 20'000;
    wait_for_standbys("nobody");
    std::size_t done = 0;
    auto failed = std::async(std::launch::async, [&] {
      return thrown_by([&] {
        for (; done < most; ++done) commit();
      });
    });
    while (failed.wait_for(std::chrono::seconds{0}) != std::future_status::ready) {
      sql()("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    }
    const tableq::error lost = failed.get();
    EXPECT_EQ(tableq::to_string(lost.code()), "outcome_unknown") << lost.what();
    EXPECT_EQ(lost.advice(), tableq::advice::never);
    EXPECT_EQ(mail().stats().waiting, done + 1);
  }

  [[nodiscard]] tableq::database& db() { return *db_; }
  [[nodiscard]] tableq::fifo_queue& mail() { return *mail_; }

 private:
  std::optional<tableq::database> db_;
  std::optional<tableq::fifo_queue> mail_;
};

TEST_F(unconfirmed_commit, of_a_call_is_unknown) {
  is_unknown([&] { mail().enqueue("x"); });
}

TEST_F(unconfirmed_commit, of_a_transaction_is_unknown) {
  is_unknown([&] {
    tableq::transaction work = db().begin();
    mail().in(work).enqueue("x");
    work.commit();
  });
}

}  // namespace
