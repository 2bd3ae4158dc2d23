#include <gtest/gtest.h>

#include <soci/soci.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/in_threads.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class threads_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(threads_of_kind, all_backends);

TEST_P(threads_of_kind, share_one_queue_and_each_message_arrives_once) {
  // The wait for a lock has no limit here.
  auto patient = open({.retry_for = 5min});
  any_queue mail(patient, kind(), "mail");
  std::mutex guard;
  std::set<std::string> seen;
  std::atomic<int> read{0};
  in_threads(32, [&](int i) {
    for (int n = 0; n < 10; ++n) {
      mail.put(std::to_string(i) + ":" + std::to_string(n));
      if (n % 2 == 0) mail.put_all(numbered(3, std::to_string(i) + "/" + std::to_string(n) + "/"));
      for (const item& each : mail.take_up_to(1 + static_cast<std::size_t>(n) % 4)) {
        ++read;
        const std::lock_guard lock(guard);
        EXPECT_TRUE(seen.insert(each.payload).second) << each.payload;
      }
    }
  });
  for (const item& each : mail.take_up_to(10'000)) {
    ++read;
    EXPECT_TRUE(seen.insert(each.payload).second) << each.payload;
  }
  EXPECT_EQ(read, 32 * 25);
  EXPECT_EQ(seen.size(), 32U * 25U);
}

class threads : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (!IsSkipped() && !HasFatalFailure())
      static_cast<void>(db());  // Before any thread asks for it.
  }
};
TABLEQ_ON_BACKENDS(threads, all_backends);

TEST_P(threads, open_the_same_queues_at_once) {
  in_threads(32, [&](int i) {
    for (const tableq::kind each : all_kinds()) open_queue(db(), each, tableq::to_string(each));
    any_queue(db(), tableq::kind::heap, "heap").put(std::to_string(i));
  });
  EXPECT_EQ(db().queues().size(), 5U);
  EXPECT_EQ(db().heap("heap").stats().waiting, 32U);
}

TEST_P(threads, that_transact_conserve_what_they_move) {
  constexpr int tokens = 40;
  std::vector<any_queue> queues;
  for (const tableq::kind each : all_kinds())
    queues.emplace_back(db(), each, tableq::to_string(each));
  queues[0].put_all(numbered(tokens));
  in_threads(8, [&](int i) {
    random_source random(static_cast<std::uint64_t>(i));
    for (int n = 0; n < 25; ++n) {
      any_queue& from = queues[random.below(queues.size())];
      any_queue& to = queues[random.below(queues.size())];
      try {
        db().transact([&](tableq::transaction& tx) {
          const auto taken = from.in(tx).take();
          if (taken) to.in(tx).put(taken->payload);
          if (random.one_in(4)) throw std::domain_error("undone on purpose");
        });
      } catch (const std::domain_error&) {  // Thrown by the function itself.
      }
    }
  });
  std::set<std::string> left;
  for (any_queue& each : queues) {
    for (const item& one : each.take_up_to(1000)) EXPECT_TRUE(left.insert(one.payload).second);
  }
  EXPECT_EQ(left.size(), static_cast<std::size_t>(tokens));
}

TEST_P(threads, recover_from_storms_of_deadlocks) {
  auto jobs = db().claim("jobs");
  std::vector<tableq::new_claim_message> many(6, {.payload = "x"});
  EXPECT_EQ(jobs.enqueue_batch(many).size(), 6U);
  std::vector<tableq::receipt> receipts;
  for (const auto& each : jobs.take(6)) receipts.push_back(each.receipt);
  ASSERT_EQ(receipts.size(), 6U);
  in_threads(6, [&](int i) {
    random_source random(static_cast<std::uint64_t>(i));
    for (int n = 0; n < 15; ++n) {
      const std::size_t first = random.below(6);
      const std::size_t second = (first + 1 + random.below(5)) % 6;
      db().transact([&](tableq::transaction& tx) {
        EXPECT_EQ(jobs.in(tx).extend(receipts[first], 1h), tableq::settle_result::applied);
        EXPECT_EQ(jobs.in(tx).extend(receipts[second], 1h), tableq::settle_result::applied);
      });
    }
  });
  EXPECT_EQ(jobs.stats().leased, 6U);
}

TEST_P(threads, that_settle_the_same_batches_in_other_orders_do_not_fail) {
  auto jobs = db().claim("jobs");
  std::vector<tableq::new_claim_message> many(50, {.payload = "x"});
  EXPECT_EQ(jobs.enqueue_batch(many).size(), 50U);
  std::vector<tableq::receipt> receipts;
  for (const auto& each : jobs.take(50)) receipts.push_back(each.receipt);
  in_threads(8, [&](int i) {
    random_source random(static_cast<std::uint64_t>(i));
    std::vector<tableq::receipt> own = receipts;
    for (int n = 0; n < 10; ++n) {
      for (std::size_t at = own.size() - 1; at > 0; --at) {
        std::swap(own[at], own[random.below(at + 1)]);
      }
      EXPECT_EQ(jobs.extend_batch(own, 1h),
                std::vector(own.size(), tableq::settle_result::applied));
    }
  });
  EXPECT_EQ(jobs.complete_batch(receipts),
            std::vector(receipts.size(), tableq::settle_result::applied));
}

TEST_P(threads, that_complete_the_same_batches_in_other_orders_complete_each_message_once) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  constexpr std::size_t messages = 200;
  auto jobs = db().claim("jobs");
  random_source priorities(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<tableq::new_claim_message> many(messages, {.payload = "x"});
    // Takes then move the rows, so that their places in the table are not in the order of ids.
    for (auto& each : many) each.options.priority = static_cast<int>(priorities.below(100));
    jobs.enqueue_batch(many);
    std::vector<tableq::receipt> receipts;
    {
      auto tx = db().begin();
      for (const auto& each : jobs.in(tx).take(messages / 2)) receipts.push_back(each.receipt);
      tx.rollback();
    }
    for (int i = 0; i < 20; ++i) {
      for (const auto& each : jobs.take(messages / 20)) receipts.push_back(each.receipt);
    }
    std::atomic<std::size_t> applied = 0;
    in_threads(9, [&](int i) {
      random_source random(static_cast<std::uint64_t>(i));
      std::vector<tableq::receipt> own = receipts;
      if (i % 2 == 0) own.erase(own.begin(), own.begin() + messages / 2);  // Each id comes once.
      for (std::size_t at = own.size() - 1; at > 0; --at) {
        std::swap(own[at], own[random.below(at + 1)]);
      }
      const auto count = [&](const std::vector<tableq::settle_result>& results) {
        applied +=
            static_cast<std::size_t>(std::ranges::count(results, tableq::settle_result::applied));
      };
      if (i % 3 == 0) return count(jobs.complete_batch(own));
      if (i % 3 == 1) {
        auto tx = db().begin();
        count(jobs.in(tx).complete_batch(own));
        return tx.commit();
      }
      soci::session session;
      tableq::open_session(db(), session);
      soci::transaction mine(session);
      count(jobs.in(tableq::enlist(db(), session)).complete_batch(own));
      mine.commit();
    });
    EXPECT_EQ(applied, messages);
    EXPECT_EQ(jobs.stats().leased, 0U);
  }
}

TEST_P(threads, that_enqueue_one_key_add_it_once) {
  auto jobs = db().claim("jobs");
  std::atomic<int> added{0};
  in_threads(32, [&](int) {
    for (int n = 0; n < 10; ++n) {
      const auto result = jobs.enqueue("x", {.key = "key " + std::to_string(n)});
      if (result.created()) ++added;
    }
  });
  EXPECT_EQ(added, 10);
  EXPECT_EQ(jobs.stats().ready, 10U);
}

TEST_P(threads, that_replace_one_key_add_it_once_and_the_last_one_stays) {
  auto jobs = db().claim("jobs");
  std::atomic<int> added{0};
  std::atomic<int> replaced{0};
  in_threads(32, [&](int i) {
    for (int n = 0; n < 3; ++n) {
      const auto policy =
          i % 2 == 0 ? tableq::on_duplicate::replace : tableq::on_duplicate::postpone;
      const auto result = jobs.enqueue("x", {.key = "key", .on_duplicate = policy});
      ++(!result.created() ? replaced : added);
      EXPECT_NE(result.result, tableq::enqueue_result::kept_first);
    }
  });
  EXPECT_EQ(added, 1);
  EXPECT_EQ(replaced, 32 * 3 - 1);
  EXPECT_EQ(jobs.stats().ready, 1U);
}

TEST_P(threads, redrive_and_postpone_messages_that_die_meanwhile) {
  auto patient = open({.retry_for = 5min});
  auto jobs = patient.claim("jobs");
  std::vector<tableq::message_id> ids;
  for (const std::string& key : numbered(10)) ids.push_back(jobs.enqueue("job", {.key = key}).id);
  std::atomic<std::size_t> died{0};
  std::atomic<std::size_t> redriven{0};
  in_threads(4, [&](int i) {
    for (int n = 0; n < 60; ++n) {
      if (i == 0) {
        for (const tableq::delivery& each : jobs.take(10)) {
          EXPECT_EQ(jobs.fail(each, "no", {.give_up = true}), tableq::settle_result::applied);
          ++died;
        }
      } else if (i == 1) {
        redriven += jobs.redrive(ids);
      } else if (i == 2) {
        redriven += jobs.redrive_all().count;
      } else {
        const std::string key = "p" + std::to_string(n % 10);
        jobs.enqueue("job", {.key = key, .on_duplicate = tableq::on_duplicate::postpone});
      }
    }
  });
  EXPECT_EQ(died, redriven + jobs.stats({.exact = true}).dead);
  jobs.redrive_all();
  EXPECT_EQ(jobs.stats().ready, 10U);
}

}  // namespace
