#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string_view>

#include <tableq/error.hpp>

#include "core/session/backoff.hpp"

namespace tableq::inline v0::drivers {

/// Pauses between the logins of one `database` object while the server refuses them. Many refused
/// logins lock an account, and each thread of a worker would try its own. During a pause every call
/// gets the last refusal at once; after it, one call tries a login for all. Reads no clock: callers
/// pass the time.
///
/// @par Thread safety
/// Shared objects: safe.
class login_pauses {
 public:
  using moment = std::chrono::steady_clock::time_point;

  /// Tries a login, `open()`, unless it is too early.
  /// @throws error the last refusal, in a pause; what `open` throws.
  template <class Open>
  auto attempt(Open open) {
    if (const auto refusal = begin(std::chrono::steady_clock::now())) throw error(*refusal);
    try {
      auto made = open();
      ended(std::chrono::steady_clock::now(), nullptr);
      return made;
    } catch (const error& failure) {  // It goes on.
      ended(std::chrono::steady_clock::now(), &failure);
      throw;
    }
  }

  /// @return the last refusal if no login may be tried now. Otherwise the caller tries one, and the
  ///   next pause begins.
  std::optional<error> begin(moment now) {
    const std::scoped_lock hold(mutex_);
    if (!refusal_) return std::nullopt;
    if (now < next_) return refusal_;
    next_ = now + pauses_.pause();
    return std::nullopt;
  }

  /// The login has ended.
  /// @param failure null: it succeeded.
  void ended(moment now, const error* failure) {
    const std::scoped_lock hold(mutex_);
    if (failure == nullptr || !refuses_login(*failure)) {
      refusal_.reset();
      pauses_.reset();
      return;
    }
    // Several threads may have begun before the first refusal.
    if (!refusal_) next_ = now + pauses_.pause();
    refusal_.emplace(*failure);
  }

 private:
  /// The server knows the user, or refuses it: SQLSTATE 28, or a failure that the dialect calls
  /// permanent.
  static bool refuses_login(const error& failure) noexcept {
    return failure.code() == errc::connection_failed &&
           (failure.advice() == advice::never ||
            std::string_view(failure.sqlstate()).starts_with("28"));
  }

  std::mutex mutex_;
  std::optional<error> refusal_;  // guarded by mutex_, as all below
  moment next_ = {};              // no login before
  core::backoff pauses_{std::chrono::seconds{1}, std::chrono::seconds{30}};
};

}  // namespace tableq::inline v0::drivers
