#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "drivers/dialect_texts.hpp"
#include "drivers/transport.hpp"
#include "drivers/transport/common_file.hpp"
#include "drivers/transport/login_pauses.hpp"

namespace tableq::inline v0::drivers {

/// The place to which all sessions of a `database` object are connected: that of the first session.
///
/// @par Thread safety
/// Shared objects: safe.
class common_place {
 public:
  /// A session was opened.
  void opened(session_place found) {
    const std::scoped_lock hold(mutex_);
    if (!place_) place_ = std::move(found);
  }
  /// Not known before the first session.
  [[nodiscard]] session_place get() const {
    const std::scoped_lock hold(mutex_);
    return place_.value_or(session_place());
  }

 private:
  mutable std::mutex mutex_;
  std::optional<session_place> place_;  // guarded by mutex_
};

/// The state that the sessions of one `database` object share, beside its dialect and endpoint.
///
/// @par Thread safety
/// Shared objects: safe.
struct session_share {
  common_file file;
  common_place place;
  /// The statements for which the database had no plan with their hints.
  std::array<std::atomic<bool>, most_statements> without_hints = {};
  login_pauses logins;
  /// How often a session found that it cannot write any more. Sessions from before are closed: all
  /// of them may have come to a server that is a standby now.
  std::atomic<std::uint64_t> demotions = 0;
};

}  // namespace tableq::inline v0::drivers
