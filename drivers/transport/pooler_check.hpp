#pragma once

#include <libpq-fe.h>

#include <atomic>
#include <string>

#include "core/seam/driver.hpp"

namespace tableq::inline v0::drivers {

/// The database's texts that the check runs.
struct pooler_texts {
  std::string begin;    ///< Begins a transaction.
  std::string process;  ///< Returns the number of the server's process.
  std::string probe;    ///< Any query.
  std::string kept;     ///< Returns how many prepared statements have the name `$1`.
};

/// Finds out whether a pooler gives each transaction another session of the server, although the
/// address does not say so, or each statement. Once for an address: before its first session is set
/// up.
///
/// A pooler makes up the process number that it tells at the login. Behind one that keeps the
/// session, a client alone has that session of the server, with the statements that it prepared.
/// In transaction mode a statement is gone or has another name, the session changes, or a second
/// client meets the same session.
///
/// @par Thread safety
/// Shared objects: safe.
class pooler_check {
 public:
  explicit pooler_check(const pooler_texts& texts);

  /// Undecided if a second client gets no session within a second: then it refuses nothing.
  /// @throws native_failure errc::unsupported, naming the key of the address.
  void refuse_transaction_mode(PGconn* session);
  /// For an address that names the key: a pooler in statement mode refuses transactions.
  /// @throws native_failure errc::unsupported.
  void refuse_statement_mode(PGconn* session);

  /// A doubt if a pooler was found, and a second client got no session from it.
  [[nodiscard]] core::doubt doubt() const noexcept;

 private:
  const pooler_texts texts_;
  std::atomic<bool> passed_ = false;
  std::atomic<bool> undecided_ = false;
};

}  // namespace tableq::inline v0::drivers
