#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "concurrency/actor.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class creation : public on_each_backend {};
TABLEQ_ON_BACKENDS(creation, distinct_backends);

TEST_P(creation, at_once_from_twenty_processes_is_harmless) {
  // The place is new: without tables and without any set-up.
  std::vector<std::unique_ptr<actor>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(std::make_unique<actor>(nlohmann::json{{"do", "create"}, {"url", here().url()}}));
  }
  for (auto& each : all) each->let_go();
  for (auto& each : all) EXPECT_EQ(each->wait(), 0);
  EXPECT_EQ(db().queues().size(), 5U);
  EXPECT_EQ(db().fifo("fifo").stats().waiting, 20U);
  for (const tableq::finding& each : db().inspect()) {
    if (each.subject == "database") continue;  // The settings of this run's server.
    EXPECT_EQ(each.severity, tableq::finding::level::ok) << each.subject << ": " << each.what;
  }
}

TEST_P(creation, again_and_again_confuses_no_one_who_opens) {
  constexpr int times = 60;
  auto other = open();
  std::jthread dropping([&](const std::stop_token& stop) {
    for (int i = 0; i < times && !stop.stop_requested(); ++i) {
      static_cast<void>(other.claim("jobs"));
      other.drop("jobs");
    }
  });
  for (int i = 0; i < times; ++i) EXPECT_NO_THROW(static_cast<void>(db().claim("jobs")));
}

}  // namespace
