#include <gtest/gtest.h>
#include <soci/soci.h>

#include <functional>
#include <string>
#include <vector>

#include <tableq/soci.hpp>
#include <tableq/testing.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

constexpr tableq::timestamp before_time{-1ms};

/// Invalid calls, each with the name of its operation.
class named_calls {
 public:
  explicit named_calls(std::string backend) : backend_(std::move(backend)) {}

  void expect(const std::string& operation, const std::function<void()>& call) {
    SCOPED_TRACE(operation);
    const tableq::error refused = thrown_by(call);
    EXPECT_EQ(refused.operation(), operation) << refused.what();
    EXPECT_EQ(refused.backend(), backend_) << refused.what();
    const std::string begin = backend_.empty() ? "" : backend_ + ": ";
    EXPECT_EQ(std::string(refused.what()).rfind(begin + operation + ": ", 0), 0U) << refused.what();
  }

 private:
  std::string backend_;
};

class errors_of_each_operation : public on_each_backend {
 protected:
  named_calls calls() { return named_calls(db().backend()); }

  /// The operations of all kinds except `claim`.
  template <class Queue, class Options>
  void expect_names(Queue queue, tableq::transaction& ended, const Options& wrong) {
    const std::string of(tableq::to_string(queue.kind()));
    named_calls all = calls();
    using message = std::conditional_t<std::is_same_v<Queue, tableq::pending_queue>,
                                       tableq::new_pending_message, tableq::new_message>;
    const std::vector<message> batch{{.payload = "x", .options = wrong}};
    const std::vector<message> good{{.payload = "x"}};
    all.expect(of + ".enqueue", [&] { queue.enqueue("x", wrong); });
    all.expect(of + ".enqueue", [&] { queue.enqueue_batch(batch); });
    all.expect(of + ".enqueue", [&] { static_cast<void>(queue.enqueue_async("x", wrong)); });
    all.expect(of + ".enqueue", [&] { queue.enqueue_async("x", {}, nullptr); });
    all.expect(of + ".enqueue", [&] { queue.in(ended).enqueue("x"); });
    all.expect(of + ".enqueue", [&] { queue.in(ended).enqueue_batch(good); });
    all.expect(of + ".enqueue", [&] { queue.enqueue("x", {}, {.wait = -1ms}); });
    all.expect(of + ".dequeue", [&] { static_cast<void>(queue.dequeue({.wait = -1ms})); });
    all.expect(of + ".dequeue", [&] { static_cast<void>(queue.dequeue_batch(0)); });
    all.expect(of + ".dequeue", [&] { static_cast<void>(queue.in(ended).dequeue()); });
    all.expect(of + ".dequeue", [&] { static_cast<void>(queue.in(ended).dequeue_batch({})); });
    all.expect(of + ".peek", [&] { static_cast<void>(queue.peek(0)); });
    all.expect(of + ".stats", [&] { static_cast<void>(queue.stats({.count_to = 0})); });
  }
};
TABLEQ_ON_BACKENDS(errors_of_each_operation, all_backends);

TEST_P(errors_of_each_operation, name_it_and_the_backend_where_a_queue_is_opened) {
  named_calls all = calls();
  all.expect("open", [&] { static_cast<void>(db().heap("Mail")); });
  all.expect("open", [&] { static_cast<void>(db().fifo("Mail")); });
  all.expect("open", [&] { static_cast<void>(db().lifo("")); });
  all.expect("open", [&] { static_cast<void>(db().pending("tableq_x")); });
  all.expect("open", [&] { static_cast<void>(db().claim("Mail")); });
  all.expect("open", [&] { static_cast<void>(db().claim("jobs", {.lease = 0ms})); });
  all.expect("open", [&] { static_cast<void>(db().claim("jobs", {.dead_letters = "jobs"})); });
  all.expect("open", [&] { static_cast<void>(db().claim("jobs", {.dead_letters = "No"})); });
  static_cast<void>(db().fifo("mail"));
  all.expect("open", [&] { static_cast<void>(db().heap("mail")); });
  all.expect("open",
             [&] { static_cast<void>(db().fifo("mail", {.ordering = tableq::ordering::strict})); });
  all.expect("find", [&] { static_cast<void>(db().find("Mail")); });
  all.expect("drop", [&] { db().drop("Mail"); });
}

TEST_P(errors_of_each_operation, name_it_and_the_backend_in_destructive_queues) {
  tableq::transaction ended = db().begin();
  ended.rollback();
  expect_names(db().heap("a"), ended, tableq::enqueue_options{.created_at = before_time});
  expect_names(db().fifo("b"), ended, tableq::enqueue_options{.created_at = before_time});
  expect_names(db().lifo("c"), ended, tableq::enqueue_options{.created_at = before_time});
  expect_names(db().pending("d"), ended, tableq::pending_options{.delay = -1ms});
}

TEST_P(errors_of_each_operation, name_it_and_the_backend_in_claim_queues) {
  auto jobs = db().claim("jobs");
  named_calls all = calls();
  const tableq::receipt wrong{.id = {1}, .fence = 1, .queue = 1};
  const std::vector<tableq::receipt> receipts{wrong};
  const std::vector<tableq::failure> failures{{.receipt = wrong, .error = "x"}};
  const tableq::claim_enqueue_options negative{.delay = -1ms};
  const std::vector<tableq::new_claim_message> batch{{.payload = "x", .options = negative}};
  all.expect("claim.enqueue", [&] { jobs.enqueue("x", negative); });
  all.expect("claim.enqueue", [&] { jobs.enqueue_batch(batch); });
  all.expect("claim.enqueue", [&] { static_cast<void>(jobs.enqueue_async("x", negative)); });
  all.expect("claim.enqueue", [&] { jobs.enqueue_async("x", {}, nullptr); });
  all.expect("claim.take", [&] { static_cast<void>(jobs.take(0)); });
  all.expect("claim.complete", [&] { static_cast<void>(jobs.complete(wrong)); });
  all.expect("claim.complete", [&] { static_cast<void>(jobs.complete_batch(receipts)); });
  all.expect("claim.fail", [&] { static_cast<void>(jobs.fail(wrong, "x")); });
  all.expect("claim.fail", [&] { static_cast<void>(jobs.fail_batch(failures)); });
  all.expect("claim.release", [&] { static_cast<void>(jobs.release(wrong)); });
  all.expect("claim.release", [&] { static_cast<void>(jobs.release_batch(receipts)); });
  all.expect("claim.extend", [&] { static_cast<void>(jobs.extend(wrong, 0ms)); });
  all.expect("claim.extend", [&] { static_cast<void>(jobs.extend_batch(receipts, 1s)); });
  all.expect("claim.peek", [&] { static_cast<void>(jobs.peek(0)); });
  all.expect("claim.list",
             [&] { static_cast<void>(jobs.list(tableq::message_state::ready, {.max = 0})); });
  all.expect("claim.list",
             [&] { static_cast<void>(jobs.list(static_cast<tableq::message_state>(99))); });
  all.expect("claim.find", [&] { static_cast<void>(jobs.find("")); });
  all.expect("claim.redrive", [&] { jobs.redrive_all({.per_second = -1}); });
  all.expect("claim.purge", [&] { jobs.purge(tableq::message_state::dead, {.batch = 0}); });
  all.expect("claim.stats", [&] { static_cast<void>(jobs.stats({.count_to = 0})); });
  all.expect("limits.set", [&] { jobs.set_limits({.burst = 0}); });
  all.expect("work", [&] { const tableq::worker none(jobs, tableq::handler()); });
  all.expect("work", [&] { tableq::drain(jobs, nullptr); });
}

TEST_P(errors_of_each_operation, name_it_and_the_backend_in_a_transaction_that_has_ended) {
  auto jobs = db().claim("jobs");
  jobs.enqueue("x");
  const auto taken = jobs.take(1);
  ASSERT_EQ(taken.size(), 1U);
  const tableq::receipt& mine = taken[0].receipt;
  const tableq::message_id id = mine.id;
  named_calls all = calls();
  tableq::transaction tx = db().begin();
  tx.rollback();
  all.expect("commit", [&] { tx.commit(); });
  all.expect("session_of", [&] { static_cast<void>(tableq::session_of(tx)); });
  all.expect("claim.enqueue", [&] { jobs.in(tx).enqueue("x"); });
  all.expect("claim.enqueue", [&] {
    jobs.in(tx).enqueue("x", {.key = "k", .on_duplicate = tableq::on_duplicate::reject});
  });
  all.expect("claim.take", [&] { static_cast<void>(jobs.in(tx).take(1)); });
  all.expect("claim.complete", [&] { static_cast<void>(jobs.in(tx).complete(mine)); });
  all.expect("claim.fail", [&] { static_cast<void>(jobs.in(tx).fail(mine, "x")); });
  all.expect("claim.release", [&] { static_cast<void>(jobs.in(tx).release(mine)); });
  all.expect("claim.extend", [&] { static_cast<void>(jobs.in(tx).extend(mine, 1s)); });
  all.expect("claim.get", [&] { static_cast<void>(jobs.in(tx).get(id)); });
  all.expect("claim.find", [&] { static_cast<void>(jobs.in(tx).find("k")); });
  all.expect("claim.cancel", [&] { jobs.in(tx).cancel(id); });
  all.expect("claim.set_priority", [&] { jobs.in(tx).set_priority(id, 1); });
}

TEST_P(errors_of_each_operation, name_it_and_the_backend_where_a_transaction_is_misused) {
  auto mail = db().fifo("mail");
  named_calls all = calls();
  tableq::database other = tableq::database::open(here().url());
  tableq::transaction foreign = other.begin();
  all.expect("fifo.enqueue", [&] { mail.in(foreign).enqueue("x"); });
  foreign.rollback();
  if (!can().shared) return;
  const auto session = here().session();
  tableq::enlistment joined = tableq::enlist(db(), *session, tableq::autocommit);
  auto& tx = static_cast<tableq::transaction&>(joined);
  all.expect("commit", [&] { tx.commit(); });
  all.expect("rollback", [&] { tx.rollback(); });
  soci::session closed;
  all.expect("enlist", [&] { static_cast<void>(tableq::enlist(db(), closed)); });
}

TEST_P(errors_of_each_operation, name_it_and_the_backend_where_a_database_is_opened) {
  named_calls all = calls();
  const auto with = [&](const tableq::open_options& options) {
    return [this, options] { static_cast<void>(tableq::database::open(here().url(), options)); };
  };
  all.expect("connect", with({.table_prefix = "bad-prefix"}));
  all.expect("connect", with({.schema_name = "Bad"}));
  all.expect("connect", with({.max_sessions = 0}));
  all.expect("connect", with({.poll_interval = 0ms}));
}

TEST(errors_without_database, name_the_operation) {
  named_calls none("");
  none.expect("connect", [] { static_cast<void>(tableq::database::open("nowhere")); });
  none.expect("connect", [] { static_cast<void>(tableq::database::open("nowhere://x")); });
  none.expect("ddl", [] { static_cast<void>(tableq::ddl("no such", "mail", {})); });
  none.expect("metrics", [] { const tableq::metrics made({.buckets = {}}); });
  const tableq::testing::faults faults;
  none.expect("testing", [&] { faults.fail(0, {}); });
  none.expect("testing", [&] { faults.fail_some(2, {}); });
  for (const std::string& dialect : tableq::dialects()) {
    named_calls all(dialect);
    all.expect("ddl", [&] { static_cast<void>(tableq::ddl(dialect, "Mail", {})); });
    all.expect("grants", [&] {
      static_cast<void>(tableq::grants(dialect, tableq::role::owner, "u", "Mail", {}));
    });
    all.expect("grants", [&] {
      static_cast<void>(tableq::grants(dialect, tableq::role::owner, "", "mail", {}));
    });
  }
}

}  // namespace
