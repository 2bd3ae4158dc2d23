#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "crash/ledger.hpp"
#include "support/process.hpp"

namespace tableq_test {

/// Options of the actors of a crew.
struct crew_options {
  std::string url;
  std::string other_url = {};               ///< Of every second process, if not empty.
  std::chrono::milliseconds retry{10'000};  ///< open_options::retry_for
  std::chrono::milliseconds pause{0};       ///< Of a producer between two messages.
  int count = 1'000'000;                    ///< Messages of each thread of a producer.
  std::vector<std::string> deeds = {"produce", "produce", "move", "move", "work", "work", "chores"};
};

/// Processes that work on the queues of a place until their input is closed, and the ledger of
/// their reports.
class crew {
 public:
  explicit crew(crew_options options);

  /// Kills one after this time, and starts another in its place; `early`: perhaps before it has
  /// opened the database.
  void kill(std::size_t which, std::chrono::microseconds after, bool early);
  /// Waits this long. No process may end meanwhile.
  void stand(std::chrono::microseconds length);
  /// Waits until each has reported a step after this call.
  /// @return false when one did not within that time, or ended.
  [[nodiscard]] bool all_go_on(std::chrono::milliseconds within);
  /// The same. @return how long each of them took; empty when one did not.
  [[nodiscard]] std::vector<std::chrono::milliseconds> times_to_go_on(
      std::chrono::milliseconds within);
  /// Ends producers first, and the others when no message is left for them.
  void finish();

  [[nodiscard]] std::size_t size() const { return options_.deeds.size(); }
  [[nodiscard]] const std::string& deed(std::size_t which) const { return options_.deeds[which]; }
  [[nodiscard]] ledger& told() { return told_; }

 private:
  [[nodiscard]] std::unique_ptr<process> start(std::size_t which);
  void let_go(bool producers);

  crew_options options_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<process>> actors_;
  std::size_t started_ = 0;
  ledger told_;
};

}  // namespace tableq_test
