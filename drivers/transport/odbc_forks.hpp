#pragma once

namespace tableq::inline v0::drivers::odbc {

/// Marks a call of this thread into ODBC, as long as it lives.
///
/// Driver managers and drivers have mutexes for the whole process, and hold them for moments within
/// a call. A child of fork() would find such a mutex locked for ever. So a thread that forks waits
/// for the calls of others, and they for it. It waits only for a short time: a longer call waits
/// for a server, and holds none of those mutexes.
class calling {
 public:
  calling();
  calling(const calling&) = delete;
  calling& operator=(const calling&) = delete;
  ~calling();
};

}  // namespace tableq::inline v0::drivers::odbc
