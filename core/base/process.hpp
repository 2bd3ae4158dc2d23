#pragma once

/// @file
/// Protection against fork(): a child has a copy of everything except the threads.

#include <atomic>
#include <mutex>
#include <string>

namespace tableq::inline v0::core {

/// Guards data of the whole process, and is held only briefly. The thread that forks holds it
/// during the fork. In the child it is therefore free, and the data are consistent.
std::mutex& process_wide();

/// Registers what a fork runs: before it, and after it in the parent and in the child, as
/// pthread_atfork, whose result it returns. Nothing on a system that has no fork.
int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

/// Closes a descriptor in a child. Nothing on a system that has no fork.
void close_descriptor(int descriptor) noexcept;

/// Registers a function that runs in every child before anything else, while process_wide() is
/// held. It may do only what a signal handler may do. Registering a function again has no effect.
void in_each_child(void (*work)());

/// The process that made an object. In a child of fork() the object is a copy, which must not be
/// used: its sessions are the parent's, its threads are missing, its mutexes may stay locked
/// forever.
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

/// Keeps an object forever, because a child must not destroy it.
void leave_to_parent(void* object) noexcept;

/// Deletes an object only in the process that made it. In a child, its destructor would use the
/// parent's sessions and wait for threads that do not exist there.
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
