#include "crash/crew.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tableq_test {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

crew::crew(crew_options options) : options_(std::move(options)), names_(size()) {
  for (std::size_t i = 0; i < size(); ++i) actors_.push_back(start(i));
}

std::unique_ptr<process> crew::start(std::size_t which) {
  names_[which] = "n" + std::to_string(++started_);
  const bool elsewhere = which % 2 == 1 && !options_.other_url.empty();
  const nlohmann::json order{
      {"do", options_.deeds[which]},     {"url", elsewhere ? options_.other_url : options_.url},
      {"name", names_[which]},           {"retry", options_.retry.count()},
      {"pause", options_.pause.count()}, {"count", options_.count}};
  return std::make_unique<process>(std::vector<std::string>{TABLEQ_TEST_CRASH_ACTOR, order.dump()});
}

void crew::kill(std::size_t which, std::chrono::microseconds after, bool early) {
  process& victim = *actors_[which];
  if (!early) {
    EXPECT_TRUE(victim.has_written(1)) << options_.deeds[which];
  }
  EXPECT_FALSE(victim.ends_within(after)) << options_.deeds[which] << " ended by itself";
  victim.kill();
  EXPECT_EQ(victim.wait(), 128 + 9);
  told_.read(victim);
  told_.killed(names_[which]);
  actors_[which] = start(which);
}

void crew::stand(std::chrono::microseconds length) {
  if (actors_.front()->ends_within(length)) ADD_FAILURE() << options_.deeds.front() << " ended";
}

bool crew::all_go_on(std::chrono::milliseconds within) {
  return !times_to_go_on(within).empty();
}

std::vector<std::chrono::milliseconds> crew::times_to_go_on(std::chrono::milliseconds within) {
  for (auto& each : actors_) told_.read(*each);
  std::vector<std::chrono::milliseconds> times(size());
  std::vector<bool> going(size(), false);
  std::size_t left = size();
  const auto begun = steady_clock::now();
  while (steady_clock::now() < begun + within) {
    for (std::size_t i = 0; i < size(); ++i) {
      if (going[i]) continue;
      if (actors_[i]->ends_within(1ms)) {
        ADD_FAILURE() << options_.deeds[i] << " has ended";
        return {};
      }
      going[i] = told_.read(*actors_[i]);
      if (!going[i]) continue;
      times[i] = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begun);
      --left;
    }
    if (left == 0) return times;
  }
  for (std::size_t i = 0; i < size(); ++i) {
    EXPECT_TRUE(going[i]) << options_.deeds[i] << " does not go on";
  }
  return {};
}

void crew::let_go(bool producers) {
  for (std::size_t i = 0; i < size(); ++i) {
    if ((options_.deeds[i] == "produce") != producers) continue;
    // Movers before workers: they make the workers' messages.
    actors_[i]->let_go();
    // A long backlog is no hang: only silence counts.
    auto heard = steady_clock::now();
    while (!actors_[i]->ends_within(100ms)) {
      if (told_.read(*actors_[i])) heard = steady_clock::now();
      if (steady_clock::now() < heard + 5min) continue;
      ADD_FAILURE() << options_.deeds[i] << " does not end";
      actors_[i]->kill();
      break;
    }
    EXPECT_EQ(actors_[i]->wait(), 0) << options_.deeds[i];
    told_.read(*actors_[i]);
  }
}

void crew::finish() {
  let_go(true);
  let_go(false);
}

}  // namespace tableq_test
