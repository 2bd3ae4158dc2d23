#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "locks/world.hpp"
#include "support/seed.hpp"

namespace tableq_test::locks {

/// Which transaction goes on. Without a switch one goes on until it waits or ends, and then the
/// first in `turns` that can.
struct schedule {
  std::vector<std::size_t> turns;
  std::map<std::size_t, std::size_t> switches = {};  ///< At this step, to this transaction.
};

struct outcome {
  std::set<std::string> findings;
  std::size_t steps = 0;
};

/// One run of some transactions by a schedule. The victim of a deadlock begins again, as core
/// repeats it.
///
/// Findings: `deadlock: A, B` the statements that wait for each other; `stale change: A` changes a
/// row that another has changed since it was read (a message read twice, or lost); `duplicate key:
/// A`; `broken order`, `broken group`, `broken limit`; `waits with the limits: A`.
outcome run(const all_statements& texts, const conditions_of_run& is,
            const std::vector<transaction>& work, const schedule& by);

/// What was found, each with the first example.
class search {
 public:
  explicit search(const all_statements& texts) : texts_(texts) {}

  /// All schedules of these transactions with up to `most` switches.
  void all(const std::vector<transaction>& work, const conditions_of_run& is, std::size_t most);
  /// A schedule by chance.
  void one(const std::vector<transaction>& work, const conditions_of_run& is,
           random_source& chance);

  [[nodiscard]] const std::map<std::string, std::string>& found() const { return found_; }
  [[nodiscard]] std::size_t runs() const { return runs_; }

 private:
  std::size_t follow(const std::vector<transaction>& work, const conditions_of_run& is,
                     const schedule& by);
  void switch_more(const std::vector<transaction>& work, const conditions_of_run& is,
                   const schedule& by, std::size_t steps, std::size_t more);

  const all_statements& texts_;
  std::map<std::string, std::string> found_ = {};
  std::size_t runs_ = 0;
};

}  // namespace tableq_test::locks
