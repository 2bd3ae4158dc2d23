#pragma once

namespace tableq::drivers::odbc {

/// A call of this thread into ODBC, as long as it lives.
///
/// Driver managers and drivers have mutexes for the whole process, which they take for moments
/// within a call; a child of fork() would find one taken for ever. So a thread that forks waits for
/// the calls of others, and they for it. It does not wait for long: a call that takes longer waits
/// for a server, and has none of those mutexes.
class calling {
 public:
  calling();
  calling(const calling&) = delete;
  calling& operator=(const calling&) = delete;
  ~calling();
};

}  // namespace tableq::drivers::odbc
