#include "crash/proxy.hpp"
#include "crash/server_fixture.hpp"
#include "support/any_queue.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using tableq::errc;
using tableq::settle_result;
using fate = proxy::fate;

/// A network that is cut in the middle of one call: before the server gets the request, or after
/// its effect and before the answer arrives.
class cut_network : public on_own_server {
 protected:
  void SetUp() override {
    on_own_server::SetUp();
    if (IsSkipped()) return;
    network_ = std::make_unique<proxy>(server().port());
    // One session, and no statements but those of the calls.
    db_ = tableq::database::open(server().url_at(network_->port()),
                                 {.max_sessions = 1,
                                  .shortcuts = {.floors = false},
                                  .notifications = tableq::notifications::off});
  }
  void TearDown() override {
    db_.reset();
    network_.reset();
    on_own_server::TearDown();
  }

  [[nodiscard]] tableq::database& db() { return *db_; }
  /// Prepares a call that shall be one statement. A session that was cut is replaced, and prepares
  /// its statements again; and after half a second a call asks first for limits and for the queue.
  /// So the preparation is repeated until it was quick. @return how often it was done.
  template <class Call>
  static std::size_t quickly(Call prepare) {
    constexpr std::chrono::milliseconds quick{200};
    for (std::size_t done = 1;; ++done) {
      const auto begun = std::chrono::steady_clock::now();
      prepare();
      if (std::chrono::steady_clock::now() - begun < quick) return done;
    }
  }
  /// Runs a call during the cut, and checks that its outcome is reported as unknown, once.
  template <class Call>
  void unknown_in(fate how, Call call) {
    const std::size_t before = network_->cuts();
    network_->cut_next(how);
    const tableq::error lost = thrown_by(call);
    EXPECT_EQ(tableq::to_string(lost.code()), "outcome_unknown") << lost.what();
    EXPECT_EQ(lost.advice(), tableq::advice::never);
    EXPECT_EQ(network_->cuts(), before + 1);
  }
  [[nodiscard]] proxy& network() { return *network_; }

 private:
  std::unique_ptr<proxy> network_;
  std::optional<tableq::database> db_;
};

constexpr fate both[] = {fate::cut_before, fate::cut_after};

TEST_F(cut_network, leaves_an_enqueue_unknown_and_its_key_resolves_it) {
  auto jobs = db().claim("jobs");
  for (const fate how : both) {
    const std::string key = how == fate::cut_before ? "before" : "after";
    quickly([&] { jobs.enqueue("x", {.key = key + ", prepared"}); });
    unknown_in(how, [&] { jobs.enqueue("x", {.key = key}); });
    EXPECT_NE(jobs.enqueue("x", {.key = key}).created(), how == fate::cut_after);
  }
  EXPECT_EQ(jobs.stats().ready, 4U);
  report_injected("network cut in an enqueue", "postgresql", 2, "unknown; resolved by key");
}

TEST_F(cut_network, leaves_an_enqueue_without_a_key_unknown_and_never_stores_it_twice) {
  auto mail = db().fifo("mail");
  std::vector<std::string> there;
  for (const fate how : both) {
    there.resize(there.size() + quickly([&] { mail.enqueue("prepared"); }), "prepared");
    unknown_in(how, [&] { mail.enqueue(how == fate::cut_before ? "before" : "after"); });
  }
  there.emplace_back("after");
  EXPECT_EQ(payloads_of(mail.dequeue_batch(100)), there);
}

TEST_F(cut_network, leaves_a_read_unknown_and_takes_at_most_that_message) {
  // A kind whose reads are always one statement: no query comes before it.
  auto mail = db().lifo("mail");
  for (const fate how : both) {
    mail.enqueue("x");
    quickly([&] {
      mail.enqueue("prepared");
      EXPECT_TRUE(mail.dequeue());
    });
    unknown_in(how, [&] { static_cast<void>(mail.dequeue()); });
    EXPECT_EQ(mail.dequeue().has_value(), how == fate::cut_before);
  }
}

TEST_F(cut_network, leaves_a_take_unknown_and_its_message_comes_back_after_the_lease) {
  auto jobs = db().claim("jobs", {.lease = std::chrono::milliseconds{1}});
  for (const fate how : both) {
    quickly([&] {
      jobs.enqueue("prepared");
      EXPECT_EQ(jobs.complete(jobs.take(1, {.lease = std::chrono::hours{1}}).at(0).receipt),
                settle_result::applied);
      // Then the read floor is queried, which must not happen in the call that is cut.
      EXPECT_TRUE(jobs.take(1).empty());
    });
    jobs.enqueue("x");
    unknown_in(how, [&] { static_cast<void>(jobs.take(1)); });
    const auto again = jobs.take(1, {.wait = std::chrono::seconds{60}});
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].payload, "x");
    EXPECT_EQ(again[0].attempt, how == fate::cut_after ? 2 : 1);
    static_cast<void>(jobs.complete(again[0].receipt));
  }
}

TEST_F(cut_network, leaves_a_completion_unknown_and_its_receipt_resolves_it) {
  auto jobs = db().claim("jobs");
  for (const fate how : both) {
    quickly([&] {
      jobs.enqueue("prepared");
      EXPECT_EQ(jobs.complete(jobs.take(1).at(0).receipt), settle_result::applied);
    });
    jobs.enqueue("x");
    const auto taken = jobs.take(1);
    ASSERT_EQ(taken.size(), 1U);
    unknown_in(how, [&] { static_cast<void>(jobs.complete(taken[0].receipt)); });
    EXPECT_EQ(jobs.complete(taken[0].receipt),
              how == fate::cut_before ? settle_result::applied : settle_result::lease_lost);
  }
  EXPECT_EQ(jobs.stats().leased, 0U);
}

TEST_F(cut_network, leaves_a_commit_unknown_and_what_it_wrote_resolves_it) {
  auto jobs = db().claim("jobs");
  auto mail = db().fifo("mail");
  for (const fate how : both) {
    const auto id = jobs.enqueue("x").id;
    const auto taken = jobs.take(1);
    tableq::transaction tx = db().begin();
    ASSERT_EQ(jobs.in(tx).complete(taken.at(0).receipt), settle_result::applied);
    mail.in(tx).enqueue("done");
    unknown_in(how, [&] { tx.commit(); });
    EXPECT_FALSE(tx.active());
    EXPECT_EQ(jobs.get(id).has_value(), how == fate::cut_before);
    EXPECT_EQ(mail.stats().waiting, how == fate::cut_before ? 0U : 1U);
    EXPECT_EQ(jobs.complete(taken.at(0).receipt),
              how == fate::cut_before ? settle_result::applied : settle_result::lease_lost);
  }
  report_injected("network cut in a commit", "postgresql", 2, "unknown; resolved by receipt");
}

TEST_F(cut_network, does_not_run_a_transaction_again_whose_commit_is_unknown) {
  auto mail = db().fifo("mail");
  std::size_t waiting = 1;
  for (const fate how : both) {
    int runs = 0;
    waiting += quickly([&] { mail.enqueue("prepared"); });
    // The first piece is the begin, the second the message, the third the commit.
    network().decide([how, piece = 0](std::string_view /*text*/) mutable {
      return ++piece == 3 ? how : fate::pass;
    });
    EXPECT_CODE(outcome_unknown, db().transact([&](tableq::transaction& tx) {
      ++runs;
      mail.in(tx).enqueue("x");
    }));
    EXPECT_EQ(runs, 1);
    network().decide({});
  }
  EXPECT_EQ(mail.stats().waiting, waiting);
}

TEST_F(cut_network, lets_a_transaction_be_run_again_that_was_cut_before_its_commit) {
  auto mail = db().fifo("mail");
  std::size_t waiting = 0;
  for (const fate how : both) {
    for (const int place : {1, 2}) {
      int runs = 0;
      waiting += quickly([&] { mail.enqueue("prepared"); }) + 1;
      const std::size_t before = network().cuts();
      network().decide([=, piece = 0](std::string_view /*text*/) mutable {
        return ++piece == place ? how : fate::pass;
      });
      db().transact([&](tableq::transaction& tx) {
        ++runs;
        mail.in(tx).enqueue("x");
      });
      network().decide({});
      EXPECT_EQ(network().cuts(), before + 1);
      EXPECT_EQ(runs, place);
    }
  }
  EXPECT_EQ(mail.stats().waiting, waiting);
}

}  // namespace
