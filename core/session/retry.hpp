#pragma once

#include <chrono>
#include <stop_token>
#include <type_traits>

#include <tableq/error.hpp>

#include "core/base/thread_mark.hpp"
#include "core/observe/observation.hpp"
#include "core/session/backoff.hpp"
#include "core/session/session_pool.hpp"

namespace tableq::inline v0::core {

/// Whether the database has answered before. Before the first answer a failed connection is
/// reported at once, since a wrong address or password is permanent. Later it counts as a temporary
/// failure.
enum class contact { first, known };

/// While an object lives, the units of work of its thread run once, and are not combined with calls
/// of other threads: for a caller that has its own way to try again.
class unrepeated : public thread_mark<unrepeated> {};

/// Decides whether tableq's own unit of work runs again, and waits before it does.
class retry_policy {
 public:
  /// @param budget from now on; zero: nothing is repeated.
  retry_policy(std::chrono::milliseconds budget, contact so_far);

  /// Whether to run again after this error. Waits a jittered, growing time first, up to 250 ms.
  /// @param watched notified before the wait, if not null.
  [[nodiscard]] bool again(const error& failure, const observation* watched = nullptr);

 private:
  std::chrono::steady_clock::time_point until_;
  basic_backoff<std::chrono::microseconds> pauses_;
  int attempts_ = 0;
  bool any_;
  bool moved_ = false;  // repeated because the session could not write
  contact so_far_;
};

/// Runs a unit of work until it succeeds or must not be repeated. Nothing else in the library
/// repeats a unit of work. Other files catch errors because a combined call that failed runs alone,
/// an error goes to another thread, or a worker continues.
/// @param watched notified of each repetition, if not null.
template <class Work>
auto repeating(std::chrono::milliseconds budget, contact so_far, Work work,
               const observation* watched = nullptr) {
  retry_policy policy(budget, so_far);
  for (;;) {
    try {
      return work();
    } catch (const error& failure) {
      if (!policy.again(failure, watched)) throw;
    }
  }
}

/// Runs a read that the token ends, also while it waits for a session or repeats.
/// @return empty, then.
template <class Read>
auto until_stopped(const std::stop_token& stop, Read read) -> std::invoke_result_t<Read&> {
  const stop_scope heard(stop);
  try {
    return read();
  } catch (const error& failure) {
    if (failure.code() != errc::busy || !stop.stop_requested()) throw;
    return {};
  }
}

}  // namespace tableq::inline v0::core
