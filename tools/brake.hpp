#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

namespace tool {

/// Slows commands down while none succeeds, so that trouble of all of them (a service that is away,
/// a program that is missing) does not use up the attempts of a whole backlog.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class brake {
 public:
  /// @param say gets a sentence when commands are held, at most once a minute.
  explicit brake(std::function<void(const std::string&)> say) : say_(std::move(say)) {}

  /// A command has succeeded: those that wait go on.
  void release();
  /// The last commands run: no verdict waits from now on.
  void open();

  /// A command has failed. The first ones in a row return at once, later ones one after the other,
  /// with pauses that grow to 30 s. A request of `stop` ends the wait.
  /// @param why the last one failed.
  void failed(const std::string& why, const std::stop_token& stop);
  /// The same for one that could not start; it waits at once.
  void not_started(const std::string& why, const std::stop_token& stop);

 private:
  using clock = std::chrono::steady_clock;
  void wait(std::unique_lock<std::mutex>& lock, const std::string& why,
            const std::stop_token& stop);

  const std::function<void(const std::string&)> say_;
  std::mutex mutex_;  // guards all below
  std::condition_variable_any changed_;
  std::size_t failures_ = 0;  ///< In a row.
  std::size_t successes_ = 0;
  bool open_ = false;
  clock::time_point next_{};  ///< When the last of those that wait goes on.
  clock::time_point said_{};
};

}  // namespace tool
