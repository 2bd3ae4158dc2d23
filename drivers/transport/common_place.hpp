#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "drivers/transport.hpp"

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

}  // namespace tableq::inline v0::drivers
