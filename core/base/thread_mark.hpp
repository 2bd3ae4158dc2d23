#pragma once

namespace tableq::inline v0::core {

/// While an object of the class that inherits this lives, its thread is marked.
///
/// @par Thread safety
/// Objects end in the thread that made them, in reverse order.
template <class Mark>
class thread_mark {
 public:
  thread_mark() noexcept { ++objects; }
  thread_mark(const thread_mark&) = delete;
  thread_mark& operator=(const thread_mark&) = delete;
  ~thread_mark() { --objects; }

  [[nodiscard]] static bool on_this_thread() noexcept { return objects > 0; }

 private:
  static inline thread_local int objects = 0;
};

}  // namespace tableq::inline v0::core
