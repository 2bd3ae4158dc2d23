#include <gtest/gtest.h>
#include <soci/soci.h>

#include <algorithm>

#include "hostile/workload.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// A client that reads once, and keeps that transaction open during the test.
class held_snapshot : public on_each_backend {};
TABLEQ_ON_BACKENDS(held_snapshot, shared_backends);

TEST_P(held_snapshot, of_another_changes_nothing_in_what_is_read_and_settled) {
  open_queue(db(), tableq::kind::fifo, "fifo");
  auto mail = db().fifo("fifo");
  auto jobs = db().claim("jobs");
  mail.enqueue("seen");
  const auto other = here().session();
  other->begin();
  for (const std::string& each : here().conflict_setup()) *other << each;
  int seen = 0;
  *other << "SELECT count(*) FROM fifo", soci::into(seen);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(mail.dequeue()->payload, "seen");
  work_with(db());
  const std::vector<std::string> payloads = numbered(200);
  for (int round = 0; round < 5; ++round) {
    std::vector<tableq::new_message> batch;
    std::vector<tableq::new_claim_message> work;
    for (const std::string& each : payloads) {
      batch.push_back({.payload = each});
      work.push_back({.payload = each});
    }
    mail.enqueue_batch(batch);
    jobs.enqueue_batch(work);
    std::vector<tableq::receipt> receipts;
    for (const auto& each : jobs.take(200)) receipts.push_back(each.receipt);
    const auto all = jobs.complete_batch(receipts);
    EXPECT_EQ(std::count(all.begin(), all.end(), tableq::settle_result::applied), 200);
    EXPECT_EQ(payloads_of(mail.dequeue_batch(1000)), payloads);
  }
  *other << "SELECT count(*) FROM fifo", soci::into(seen);
  EXPECT_EQ(seen, 1) << "the other one still looks at the past";
  other->rollback();
}

}  // namespace
