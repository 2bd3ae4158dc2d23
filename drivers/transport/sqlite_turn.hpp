#pragma once

#include <chrono>
#include <string>

#include "core/session/backoff.hpp"
#include "drivers/transport/files.hpp"

namespace tableq::inline v0::drivers {

/// The waiting line of all sessions that write to one SQLite file, in every process. Waiting
/// sessions queue up, and a session that has written for a while gives way to the next one.
///
/// Only SQLite's lock on the file decides which session writes. The head of the line holds an
/// lock (file_lock) on the file's log. SQLite and other programs ignore this lock; the system
/// releases it when its holder dies. Without a log, or if it cannot be opened, there is no line,
/// and sessions sleep for short times.
///
/// Owns a descriptor of the log, opened when it is first needed.
///
/// @par Thread safety
/// Shared objects: unsafe; it belongs to its session.
class sqlite_turn {
 public:
  /// @param log the file's write-ahead log; empty: there is none.
  /// @param longest the longest wait of a write; zero: none.
  sqlite_turn(std::string log, std::chrono::milliseconds longest);
  sqlite_turn(const sqlite_turn&) = delete;
  sqlite_turn& operator=(const sqlite_turn&) = delete;
  ~sqlite_turn() = default;

  /// Called before the session asks for the write lock. May wait.
  void lock();
  /// Called after the session has released the lock, or has failed.
  void unlock() noexcept;

  /// The lock was not free: SQLite's busy handler.
  /// @param tries how often it was called for this lock before.
  /// @return false if the time has ended.
  bool wait(int tries);

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] bool turn_is_over() const noexcept;
  /// Returns when this session is the head of the line, or has waited so long that the line seems
  /// blocked.
  void line_up();
  [[nodiscard]] bool become_head() noexcept;
  void leave_head() noexcept;
  [[nodiscard]] bool open_log() noexcept;
  /// Sleeps about this long, but not beyond the time-out.
  void sleep(clock::duration about);

  std::string log_;
  clock::duration longest_;
  file_lock line_;
  bool asking_ = false;  // between lock and unlock
  bool waited_ = false;
  bool head_ = false;
  clock::time_point began_{};       // the wait
  clock::time_point headed_{};      // when it became the head
  clock::time_point turn_began_{};  // since it last waited, or found no other session waiting
  int writes_ = 0;                  // since then
  clock::time_point without_line_until_{};
  core::jitter jitter_;
};

}  // namespace tableq::inline v0::drivers
