#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <tableq/tableq.hpp>

namespace tool::web {

/// An action on many messages, as it stands.
struct job_view {
  std::string place;  ///< The page that it was started on.
  std::string name;   ///< For `stop`.
  std::string what;   ///< `Redrive of dead messages`
  tableq::bulk_result done = {};
  bool running = true;
  bool stopped = false;
  std::string trouble = {};  ///< Why it has failed; empty if it has not.
};

/// Actions on many messages. They go on when the browser has left, and end with the process, after
/// their current step.
///
/// @par Thread safety
/// Shared objects: safe.
class jobs {
 public:
  using action = std::function<tableq::bulk_result(const tableq::bulk_options&)>;

  /// Starts it. @return false: too many are running.
  bool start(const std::string& place, const std::string& what, action run);
  /// Those of a place, the newest first; ended ones for a while.
  [[nodiscard]] std::vector<job_view> of(const std::string& place);
  /// Ends one after its current step.
  void stop(const std::string& place, const std::string& name);

 private:
  struct job : job_view {
    std::jthread thread = {};
  };
  void run(job_view& one, const action& run_it, const std::stop_token& stop);

  std::mutex mutex_;
  std::list<job> all_;  // guarded by mutex_, but for the threads' own functions
};

}  // namespace tool::web
