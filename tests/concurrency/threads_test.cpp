#include <gtest/gtest.h>

#include <soci/soci.h>

#include <algorithm>
#include <atomic>
#include <memory>
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

TEST_P(threads, that_change_long_batches_in_other_orders_do_not_deadlock) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  constexpr std::size_t messages = 2500;  // of several statements
  auto jobs = db().claim("jobs");
  jobs.enqueue_batch(std::vector<tableq::new_claim_message>(messages, {.payload = "x"}));
  std::vector<tableq::receipt> receipts;
  std::vector<tableq::message_id> ids;
  for (const auto& each : jobs.take(messages, {.lease = 1h})) {
    receipts.push_back(each.receipt);
    ids.push_back(each.receipt.id);
  }
  in_threads(4, [&](int i) {
    random_source random(static_cast<std::uint64_t>(i));
    auto own = receipts;
    auto own_ids = ids;
    for (int n = 0; n < 3; ++n) {
      for (std::size_t at = messages - 1; at > 0; --at) {
        const std::size_t other = random.below(at + 1);
        std::swap(own[at], own[other]);
        std::swap(own_ids[at], own_ids[other]);
      }
      auto tx = db().begin();
      if (i % 2 == 0) {
        EXPECT_EQ(jobs.in(tx).extend_batch(own, 1h),
                  std::vector(messages, tableq::settle_result::applied));
      } else {
        EXPECT_EQ(jobs.in(tx).cancel_batch(own_ids),
                  std::vector(messages, tableq::change_result::running));
      }
      tx.commit();
    }
  });
  std::ranges::reverse(receipts);
  receipts.push_back(receipts.front());
  auto expected = std::vector(messages, tableq::settle_result::applied);
  expected.push_back(tableq::settle_result::lease_lost);
  EXPECT_EQ(jobs.complete_batch(receipts), expected);
}

TEST_P(threads, that_replace_messages_and_change_them_do_not_deadlock) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto jobs = db().claim("jobs");
  std::vector<tableq::new_claim_message> given;
  for (const std::string& key : numbered(50)) {
    given.push_back({"x", {.key = key, .on_duplicate = tableq::on_duplicate::replace}});
  }
  std::ranges::sort(given, {}, [](const auto& each) { return *each.options.key; });
  std::ranges::reverse(given);  // the order of the keys is not that of the ids
  std::vector<tableq::new_priority> changes;
  for (const auto& each : jobs.enqueue_batch(given)) changes.push_back({.id = each.id});
  in_threads(6, [&](int i) {
    for (int n = 0; n < 20; ++n) {
      auto tx = db().begin();
      if (i % 2 == 0) {
        jobs.in(tx).enqueue_batch(given);
      } else {
        EXPECT_EQ(jobs.in(tx).set_priority_batch(changes),
                  std::vector(changes.size(), tableq::change_result::applied));
      }
      tx.commit();
    }
  });
  EXPECT_EQ(jobs.stats().ready, given.size());
}

TEST_P(threads, that_change_waiting_messages_of_groups_do_not_deadlock_with_settlements) {
  if (!can().concurrent_writers) GTEST_SKIP() << "writers of this database wait for each other";
  auto jobs = db().claim("jobs", {.groups = {}});
  for (int round = 0; round < 10; ++round) {
    // Those that wait in the first groups have lower ids than those that run in the last ones.
    std::vector<tableq::new_claim_message> given;
    for (const std::string& group : numbered(20, std::to_string(round) + " ")) {
      for (int n = 0; n < 2; ++n) {
        given.push_back({"x",
                         {.key = group + std::to_string(n),
                          .on_duplicate = tableq::on_duplicate::replace,
                          .group = group}});
      }
    }
    const auto added = jobs.enqueue_batch(given);
    std::vector<tableq::receipt> running;
    for (const auto& each : jobs.take(20)) running.push_back(each.receipt);
    ASSERT_EQ(running.size(), 20U);
    std::vector<tableq::new_priority> changes;
    std::vector<tableq::new_claim_message> replacements;
    for (std::size_t i = 1; i < 20; i += 2) {
      changes.push_back({.id = added[i].id});
      replacements.push_back(given[i]);
    }
    for (std::size_t i = 20; i < 40; i += 2) {
      changes.push_back({.id = added[i].id});
      replacements.push_back(given[i]);
    }
    in_threads(5, [&](int i) {
      auto tx = db().begin();
      if (i == 0) {
        EXPECT_EQ(jobs.in(tx).complete_batch(running),
                  std::vector(running.size(), tableq::settle_result::applied));
      } else if (i % 2 == 0) {
        static_cast<void>(jobs.in(tx).set_priority_batch(changes));
      } else {
        jobs.in(tx).enqueue_batch(replacements);
      }
      tx.commit();
    });
    static_cast<void>(jobs.cancel({.all = true}));
  }
}

/// Counts conflicts that tableq has repeated.
struct conflict_counter final : tableq::observer {
  std::atomic<int> conflicts{0};

  void retrying(const tableq::observed_operation& /*operation*/,
                const tableq::operation_retry& retry) override {
    if (retry.failed == tableq::errc::conflict) ++conflicts;
  }
};

TEST_P(threads, of_two_processes_that_add_the_same_keys_do_not_deadlock) {
  if (!can().shared) GTEST_SKIP() << "one database object has it all";
  const auto counter = std::make_shared<conflict_counter>();
  std::vector<tableq::database> both{open({.observer = counter}), open({.observer = counter})};
  static_cast<void>(both[0].claim("jobs"));
  in_threads(32, [&](int i) {
    auto jobs = both[static_cast<std::size_t>(i % 2)].claim("jobs");
    random_source random(static_cast<std::uint64_t>(i));
    for (int n = 0; n < 100; ++n) {
      if (i % 8 > 1) {
        jobs.enqueue("x", {.key = std::to_string(random.below(30))});
        continue;
      }
      std::vector<tableq::receipt> taken;  // the keys are free again
      for (const auto& each : jobs.take(10)) taken.push_back(each.receipt);
      EXPECT_EQ(jobs.complete_batch(taken),
                std::vector(taken.size(), tableq::settle_result::applied));
    }
  });
  EXPECT_EQ(counter->conflicts, 0);
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
