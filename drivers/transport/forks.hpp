#pragma once

namespace tableq::inline v0::drivers {

/// A descriptor that every child of fork() closes at once. Otherwise the child would keep a
/// connection or a file lock open that must end with this process.
///
/// Borrows the descriptor. Destroy this object before the descriptor is closed.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class closed_in_child {
 public:
  /// @param descriptor negative: none.
  explicit closed_in_child(int descriptor);
  closed_in_child(const closed_in_child&) = delete;
  closed_in_child& operator=(const closed_in_child&) = delete;
  ~closed_in_child();

 private:
  int descriptor_;
};

/// While an object lives, this thread is inside a client library that has mutexes for the whole
/// process: libpq, which reads an address, connects or closes; any call of ODBC.
///
/// In a child of fork() such a mutex would stay locked forever. Therefore a thread that forks waits
/// for the guarded calls of other threads, for two seconds at most, and new ones wait for the fork.
/// The libraries hold these mutexes briefly: a call that takes longer waits for a server, and holds
/// none. Two seconds leave time for a thread that waits for a busy processor. A thread has one
/// object at a time.
class fork_guard {
 public:
  fork_guard();
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;
  ~fork_guard();
};

}  // namespace tableq::inline v0::drivers
