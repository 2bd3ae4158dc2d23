#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <tableq/testing.hpp>

#include "move/move_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
namespace testing_of = tableq::testing;

class moves_with_faults : public move_test {
 protected:
  /// The two databases, one of which fails on demand.
  class databases {
   public:
    databases(moves_with_faults& test, bool in_source)
        : from_(in_source ? plan_.open(test.here().url(), once_) : test.open(once_)),
          to_(in_source ? test.there().open(once_) : plan_.open(test.there().here().url(), once_)) {
    }

    /// A move whose `nth` call to that database fails.
    /// @return whether it made so many calls.
    bool fail_at(std::size_t nth, const testing_of::fault& failure) {
      plan_.start_over();
      plan_.fail(nth, failure);
      try {
        tableq::move_messages(from_, to_, "jobs", {.once = true, .batch = 2, .lease = 1ms});
      } catch (const tableq::error&) {
      }
      return plan_.calls() >= nth;
    }

   private:
    tableq::open_options once_{.retry_for = 0ms};
    testing_of::faults plan_;
    tableq::database from_;
    tableq::database to_;
  };

  void send() {
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::to_string(++sent_);
      jobs().enqueue(name, {.key = i == 0 ? std::optional(name) : std::nullopt});
    }
  }
  void work(tableq::claim_queue on, std::size_t most) {
    for (const tableq::delivery& each : on.take(most)) {
      ASSERT_EQ(on.complete(each), tableq::settle_result::applied);
      ++handled_[each.payload];
    }
  }

  std::size_t sent_ = 0;
  std::map<std::string, std::size_t> handled_;
};
TABLEQ_ON_BACKENDS(moves_with_faults, distinct_backends);

TEST_P(moves_with_faults, of_any_call_handle_each_message_once) {
  make();
  using enum testing_of::trouble;
  using enum testing_of::moment;
  for (const bool in_source : {true, false}) {
    databases moved(*this, in_source);
    for (const testing_of::fault& failure :
         std::vector<testing_of::fault>{{lost_connection, before}, {lost_connection, after}}) {
      std::size_t nth = 1;
      for (bool reached = true; reached; ++nth) {
        send();
        reached = moved.fail_at(nth, failure);
        work(jobs(), 1);
        work(jobs_there(), nth % 3 == 0 ? 1 : 100);
      }
      EXPECT_GT(nth, 10U);
    }
  }
  EXPECT_TRUE(move({.lease = 1ms}).complete());
  for (std::size_t before = 0; before != handled_.size();) {
    before = handled_.size();
    work(jobs_there(), 1000);
  }
  EXPECT_EQ(handled_.size(), sent_);
  for (const auto& [name, times] : handled_) EXPECT_EQ(times, 1U) << name;
  expect_tidy();
}

TEST_P(moves_with_faults, of_any_call_keep_what_is_on_the_way_from_other_targets) {
  make();
  ground third;
  third.prepare(*GetParam());
  tableq::claim_queue elsewhere = third.db().claim("jobs", at_once({}));
  const auto left = [&] { return db().claim("jobs.out").stats().ready > 0; };
  std::size_t refused = 0;
  std::size_t nth = 1;
  databases moved(*this, true);
  for (bool reached = true; reached; ++nth) {
    send();
    reached =
        moved.fail_at(nth, {testing_of::trouble::lost_connection, testing_of::moment::before});
    if (!db().find("jobs.out") || !left()) continue;
    EXPECT_EQ(
        thrown_by([&] { tableq::move_messages(db(), third.db(), "jobs", {.lease = 1ms}); }).code(),
        tableq::errc::invalid_argument);
    ++refused;
  }
  EXPECT_GT(refused, 0U);
  EXPECT_TRUE(elsewhere.list({.all = true}).messages.empty());
  EXPECT_TRUE(move({.lease = 1ms}).complete());
  expect_tidy();
  jobs().enqueue("last");
  EXPECT_EQ(tableq::move_messages(db(), third.db(), "jobs", {}).moved, 1U);
  third.clear();
}

}  // namespace
