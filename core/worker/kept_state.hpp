#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tableq/handled.hpp>

#include "core/base/process.hpp"

namespace tableq::inline v0::core {

struct held_message;

/// The way from a kept delivery to its worker. Locked before the mutex of worker_state.
struct kept_gate {
  std::mutex mutex;
  /// Ends a message. @return whether this is its end. Empty: the worker has ended. Guarded by the
  /// mutex.
  std::function<bool(const std::shared_ptr<held_message>&, handled)> end;
  /// Says how far a message is. Empty, and guarded, as above.
  std::function<void(const std::shared_ptr<held_message>&, double, std::string_view)> note;
};

/// One message that its handler keeps; `tableq::kept_delivery` is its handle. Only these and the
/// handler's verdict own it, so that the worker learns when all are gone.
///
/// @par Thread safety
/// Shared objects: safe. Never made, used or destroyed under the mutex of worker_state.
class kept_state {
 public:
  kept_state() = default;
  kept_state(const kept_state&) = delete;
  kept_state& operator=(const kept_state&) = delete;
  /// Gives the message back, unless it has its end.
  ~kept_state();

  /// @return whether this is the message's end.
  bool end(handled verdict);

  /// @return whether the message has no end yet.
  bool note(double done, std::string text);

  /// The handler has returned.
  /// @return its verdict if that has come already, or cannot come. Empty: the worker keeps the
  ///   message.
  std::optional<handled> keep(std::shared_ptr<kept_gate> gate,
                              std::shared_ptr<held_message> message);
  /// Nothing can keep the message: from now on each end is refused.
  void refuse();

 private:
  enum class phase : std::uint8_t { running, ended, kept, over };

  const birthplace born_;
  std::mutex mutex_;  // guards the following
  phase now_ = phase::running;
  std::optional<handled> early_;  // the end that came before the handler returned
  std::optional<std::pair<double, std::string>> early_note_;
  std::shared_ptr<kept_gate> gate_;
  std::shared_ptr<held_message> message_;
};

}  // namespace tableq::inline v0::core
