#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "concurrency/actor.hpp"
#include "support/fixture.hpp"
#include "support/seed.hpp"

namespace tableq_test {

/// Workers of the queue `jobs` in processes of their own. An immortal one goes on until it is
/// killed.
class mortal_workers : public on_each_backend {
 protected:
  [[nodiscard]] std::unique_ptr<actor> start(bool immortal) {
    return std::make_unique<actor>(nlohmann::json{
        {"do", "work"}, {"url", here().other_url()}, {"queue", "jobs"}, {"immortal", immortal}});
  }
  [[nodiscard]] std::vector<std::unique_ptr<actor>> start(int count, bool immortal) {
    std::vector<std::unique_ptr<actor>> out;
    for (int i = 0; i < count; ++i) out.push_back(start(immortal));
    return out;
  }
  /// Kills one after the other and starts another in its place, and at last kills all.
  /// @param usual how many, without TABLEQ_TEST_KILLS.
  /// @param meanwhile gets the next victim and the source of chance.
  template <class Meanwhile>
  void kill_one_by_one(std::vector<std::unique_ptr<actor>> workers, std::uint64_t usual,
                       const Meanwhile& meanwhile) {
    const char* given = std::getenv("TABLEQ_TEST_KILLS");
    const std::uint64_t kills = given == nullptr ? usual : std::stoull(given);
    const std::uint64_t seed = chosen_seed();
    SCOPED_TRACE("TABLEQ_TEST_SEED=" + std::to_string(seed));
    random_source random(seed);
    for (std::uint64_t i = 0; i < kills; ++i) {
      auto& victim = workers[random.below(workers.size())];
      meanwhile(*victim, random);
      victim->kill();
      EXPECT_EQ(victim->wait(), 128 + 9);
      victim = start(true);
    }
    for (auto& each : workers) {
      each->kill();
      static_cast<void>(each->wait());
    }
  }
  static void let_go(std::vector<std::unique_ptr<actor>>& workers) {
    for (auto& each : workers) each->let_go();
    for (auto& each : workers) EXPECT_EQ(each->wait(), 0);
  }
};

}  // namespace tableq_test
