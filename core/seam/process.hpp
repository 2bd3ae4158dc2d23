#pragma once

/// @file
/// What a library must know of fork(): a child has a copy of everything but the threads.

#include <atomic>
#include <mutex>
#include <string>

namespace tableq::inline v0::core {

/// Guards what belongs to the process and to no single database, for moments only. The thread that
/// forks has it meanwhile: a child finds it free, and what it guards whole.
std::mutex& process_wide();

/// Has `work` called in every child, before anything else runs there and with process_wide() held.
/// It may do what a signal handler may. A function that was given before is not added again.
void in_each_child(void (*work)());

/// The process that made an object. In a child of fork() the object is a copy, which must not be
/// used: its sessions are the parent's, its threads are missing, its mutexes may be taken for ever.
///
/// @par Thread safety
/// Shared objects: safe.
class birthplace {
 public:
  birthplace();

  [[nodiscard]] bool here() const noexcept {
    return process_ == current.load(std::memory_order_relaxed);
  }
  /// @throws error errc::invalid_argument in a child.
  void check(const std::string& backend) const {
    if (!here()) refuse(backend);
  }

 private:
  friend struct process_state;
  [[noreturn]] static void refuse(const std::string& backend);

  static std::atomic<int> current;  ///< The id of this process, from the first birthplace on.
  int process_;
};

/// Keeps for ever what a child must not end.
void leave_to_parent(void* object) noexcept;

/// Deletes an object in the process that made it, and nowhere else: in a child that would speak to
/// the database through the parent's sessions, and wait for threads that are not there.
struct end_at_home {
  template <class Object>
  void operator()(Object* object) const noexcept {
    if (object->here()) {
      delete object;
    } else {
      leave_to_parent(object);
    }
  }
};

}  // namespace tableq::inline v0::core
