#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include "model/recorder.hpp"
#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/in_threads.hpp"
#include "support/report.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

constexpr int actors = 4;

/// Four threads on two database objects: some share sessions and combined calls, some do not.
class recorded : public ground {
 protected:
  void open_two() {
    seed_ = told_seed();
    // The wait for a lock has no limit here.
    for (auto& each : databases_) each.emplace(open({.retry_for = 5min}));
  }
  void close_two() {
    for (auto& each : databases_) each.reset();
  }
  tableq::database& database_of(int actor) {
    return *databases_[static_cast<std::size_t>(actor) % databases_.size()];
  }
  /// Rounds of a history until `calls` calls, or the end of the time.
  template <class Round>
  void rounds(std::uint64_t calls, std::uint64_t calls_of_one, Round&& one) {
    const time_budget time;
    std::uint64_t done = 0;
    for (; done < chosen_steps(calls) / calls_of_one && !time.is_over(); ++done) {
      one(done);
      if (testing::Test::HasFailure()) return;
    }
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = test.name();
    report_injected(std::string("calls of ") + test.test_suite_name(),
                    name.substr(name.find('/') + 1), done * calls_of_one,
                    name.substr(0, name.find('/')) + result_);
  }
  std::string result_;

  random_source random_of(int actor, std::uint64_t round) const {
    return random_source(seed_ + 1000 * round + static_cast<std::uint64_t>(actor));
  }

 private:
  std::uint64_t seed_ = 0;
  std::array<std::optional<tableq::database>, 2> databases_;
};

class recorded_history : public testing::TestWithParam<std::tuple<const backend*, tableq::kind>>,
                         public recorded {
 protected:
  void SetUp() override {
    prepare(*std::get<0>(GetParam()));
    if (!IsSkipped() && !HasFatalFailure()) open_two();
  }
  void TearDown() override {
    close_two();
    clear();
  }
  [[nodiscard]] tableq::kind kind() const { return std::get<1>(GetParam()); }

  /// Some calls of each actor, and at the end reads until nothing is left.
  history record(std::uint64_t round, std::uint64_t calls) {
    recorder<operation> all;
    in_threads(actors, [&](int actor) {
      any_queue mail(database_of(actor), kind(), "mail");
      queue_actor acting(database_of(actor), mail, all, actor);
      random_source random = random_of(actor, round);
      for (std::uint64_t i = 0; i < calls; ++i) act(acting, random);
    });
    any_queue mail(database_of(0), kind(), "mail");
    queue_actor(database_of(0), mail, all, actors).drain();
    return all.all();
  }

  overtaking sum_;

  void add(const overtaking& one) {
    sum_.messages += one.messages;
    sum_.most = std::max(sum_.most, one.most);
    sum_.unexplained += one.unexplained;
    if (sum_.first.empty()) sum_.first = one.first;
    result_ = "; passed over: " + std::to_string(sum_.messages) + ", one of them " +
              std::to_string(sum_.most) + " times";
  }

 private:
  void act(queue_actor& acting, random_source& random) {
    const std::uint64_t choice = random.below(20);
    if (choice < 7) {
      acting.put({++values_});
    } else if (choice < 9) {
      const std::int64_t first = values_.fetch_add(3);
      acting.put({first + 1, first + 2, first + 3});
    } else if (choice < 15) {
      acting.get(1);
    } else if (choice < 17) {
      acting.get(2 + random.below(3));
    } else if (choice < 19) {
      acting.get_and_undo(1 + random.below(3));
    } else {
      acting.get_and_put(1, ++values_);
    }
  }

  std::atomic<std::int64_t> values_{0};
};

class recorded_strict_history : public recorded_history {
 protected:
  void SetUp() override {
    recorded_history::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const tableq::order_options strict{.ordering = tableq::ordering::strict};
    if (kind() == tableq::kind::fifo) {
      static_cast<void>(database_of(0).fifo("mail", strict));
    } else {
      static_cast<void>(database_of(0).lifo("mail", strict));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, recorded_history,
                         testing::Combine(testing::ValuesIn(shared_backends()),
                                          testing::Values(tableq::kind::heap, tableq::kind::fifo,
                                                          tableq::kind::lifo,
                                                          tableq::kind::pending)),
                         backend_and_kind);
INSTANTIATE_TEST_SUITE_P(, recorded_strict_history,
                         testing::Combine(testing::ValuesIn(shared_backends()),
                                          testing::Values(tableq::kind::fifo, tableq::kind::lifo)),
                         backend_and_kind);

TEST_P(recorded_history, loses_nothing_reads_nothing_twice_and_passes_over_only_what_is_held) {
  rounds(160, 20 * actors, [&](std::uint64_t round) {
    const history all = record(round, 20);
    ASSERT_EQ(check_conservation(all, true), std::nullopt) << printed(all);
    if (kind() == tableq::kind::heap || kind() == tableq::kind::pending) return;
    const auto as = kind() == tableq::kind::fifo ? sequence::fifo : sequence::lifo;
    // With one writing transaction at a time, relaxed is strict.
    if (!can().concurrent_writers && kind() == tableq::kind::fifo) {
      ASSERT_EQ(check_fifo(all), std::nullopt) << printed(all);
    }
    add(measure_overtaking(all, as));
    ASSERT_EQ(sum_.unexplained, 0U) << sum_.first << "\n" << printed(all);
  });
}

TEST_P(recorded_strict_history, is_linearizable) {
  // The search through all orders needs short histories.
  const bool fifo = kind() == tableq::kind::fifo;
  const std::uint64_t calls = fifo ? 40 : 8;
  rounds(320, calls * actors, [&](std::uint64_t round) {
    const history all = record(round, calls);
    ASSERT_EQ(check_conservation(all, true), std::nullopt) << printed(all);
    const auto wrong = fifo ? check_fifo(all) : check_by_search(all, sequence::lifo);
    ASSERT_EQ(wrong, std::nullopt) << printed(all);
  });
}

class recorded_claims : public testing::TestWithParam<const backend*>, public recorded {
 protected:
  void SetUp() override {
    prepare(*GetParam());
    if (!IsSkipped() && !HasFatalFailure()) open_two();
  }
  void TearDown() override {
    close_two();
    clear();
  }

  tableq::claim_queue jobs_of(int actor) { return database_of(actor).claim("jobs", options_); }

  claim_history record(std::uint64_t round, std::uint64_t calls) {
    recorder<claim_event> all;
    in_threads(actors, [&](int actor) {
      claim_actor acting(jobs_of(actor), all);
      random_source random = random_of(actor, round);
      for (std::uint64_t i = 0; i < calls; ++i) act(acting, actor, random);
    });
    claim_actor(jobs_of(0), all).drain();
    return all.all();
  }

  // No message dies here.
  tableq::claim_options options_ = at_once({.max_attempts = 1'000'000});

 private:
  void act(claim_actor& acting, int actor, random_source& random) {
    const std::chrono::milliseconds lease(random.one_in(2) ? 300 : 1 + random.below(20));
    const std::uint64_t choice = random.below(16);
    if (choice < 3) {
      acting.put(1 + random.below(3),
                 options_.groups.enabled ? 1 + static_cast<int>(random.below(3)) : 0);
    } else if (choice < 7) {
      acting.take(1 + random.below(3), lease);
    } else if (choice == 7) {
      acting.take_and_undo(database_of(actor), 1 + random.below(3));
    } else {
      static constexpr std::array<claim_deed, 4> deeds = {claim_deed::complete, claim_deed::fail,
                                                          claim_deed::release, claim_deed::extend};
      acting.ask(deeds[choice % deeds.size()], random.below(6), lease);
    }
  }
};
TABLEQ_ON_BACKENDS(recorded_claims, shared_backends);

TEST_P(recorded_claims, keep_the_rules_of_fences_and_leases) {
  rounds(480, 60 * actors, [&](std::uint64_t round) {
    ASSERT_EQ(check_claims(record(round, 60), true), std::nullopt);
  });
}

TEST_P(recorded_claims, of_a_group_come_one_after_the_other) {
  options_.groups = tableq::group_options{};
  rounds(480, 60 * actors, [&](std::uint64_t round) {
    const claim_history all = record(round, 60);
    ASSERT_EQ(check_claims(all, true), std::nullopt);
    ASSERT_EQ(check_groups(all), std::nullopt);
  });
}

}  // namespace
