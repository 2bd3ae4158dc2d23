#pragma once

namespace tableq::inline v0::drivers::odbc {

/// While an object lives, this thread is inside a call of ODBC.
///
/// Driver managers and drivers have mutexes for the whole process, and hold them briefly within a
/// call. In a child of fork() such a mutex would stay locked forever. Therefore a thread that forks
/// waits for the calls of other threads, and new calls wait for the fork. The wait is short: a call
/// that takes longer waits for a server, and holds none of these mutexes.
class calling {
 public:
  calling();
  calling(const calling&) = delete;
  calling& operator=(const calling&) = delete;
  ~calling();
};

}  // namespace tableq::inline v0::drivers::odbc
