#pragma once

/// @file
/// A connection of libpq, and the meaning of its answers.

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tableq::inline v0::drivers::libpq {

struct clear_result {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using result = std::unique_ptr<PGresult, clear_result>;

/// Different at each call.
std::string random_mark();

/// Shared by the transport and its statements.
struct libpq_link {
  PGconn* handle;
  bool callers = false;  ///< The connection is the caller's.
  std::uint64_t statements = 0;
  std::uint64_t forgotten = 0;  ///< How often the server forgot a statement, and so perhaps all.
  /// Part of the statements' names. Behind a pooler another client may use the same server session,
  /// so names must be unique.
  std::string mark = random_mark();
  /// A commit was not confirmed by the standbys that it had to wait for.
  bool unconfirmed = false;
  /// Statements that the server keeps and nobody uses.
  std::vector<std::string> unused = {};
};

/// Empty: the answer has no such field, or is null.
std::string_view field_of(const PGresult* answer, int code) noexcept;
/// Throws the failure of an answer; of the connection, if it is null.
[[noreturn]] void fail(const PGconn* link, const PGresult* answer);
bool succeeded(const result& answer) noexcept;
/// The server forgot the statement (DISCARD ALL, a pooler), or its table was altered. It was not
/// run.
bool must_prepare_again(const result& answer) noexcept;
/// The transaction has failed too, and may be repeated as a whole.
/// @param hopeless it would happen again.
[[noreturn]] void refuse_forgotten(bool hopeless);
/// A statement would end what the application has under way, and throw its results away.
void refuse_beside_a_statement(const libpq_link& link);
void ignore_notice(void* /*none*/, const PGresult* /*notice*/);
/// The server stops waiting for standbys when the statement is cancelled, also by
/// statement_timeout: the commit then succeeds with a warning. Its text may be translated.
void receive_notice(void* link, const PGresult* notice);
/// Throws if the statement failed, or if it was committed without its standbys.
void check(libpq_link& link, const result& answer);
/// Ends the statements that nobody uses. Outside a transaction only: in a failed one it fails.
void end_unused(libpq_link& link);

}  // namespace tableq::inline v0::drivers::libpq
