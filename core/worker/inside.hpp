#pragma once

#include <utility>

namespace tableq::inline v0::core {

class worker_engine;

/// While it lives, this thread runs code of one worker: a thread of the worker, or a handler in an
/// executor's thread. There it must not wait for the end of the worker.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe; it is used in its own thread.
class inside {
 public:
  explicit inside(const worker_engine& engine) noexcept
      : engine_(&engine), outer_(std::exchange(innermost(), this)) {}
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  ~inside() { innermost() = outer_; }

  /// Whether the calling thread runs code of that worker.
  [[nodiscard]] static bool is_in(const worker_engine& engine) noexcept {
    const inside* one = innermost();
    while (one != nullptr && one->engine_ != &engine) one = one->outer_;
    return one != nullptr;
  }

 private:
  static const inside*& innermost() noexcept {
    thread_local const inside* scope = nullptr;
    return scope;
  }

  const worker_engine* engine_;
  const inside* outer_;  ///< An executor may run a task in a handler's thread.
};

}  // namespace tableq::inline v0::core
