#pragma once

/// @file
/// A client's requests to a scripted TDS server.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tableq_test {

/// NULL, an integer, or text in UTF-8 or bytes.
using tds_value = std::variant<std::nullptr_t, std::int64_t, std::string>;

/// One received parameter.
struct tds_parameter {
  /// With its `@`; empty when passed by position.
  std::string name = {};
  /// The declared type: `bigint`, `nvarchar(4000)`, `varbinary(max)`.
  std::string type = {};
  tds_value value = {};
};

/// The user of a login.
struct tds_login {
  std::string host = {};
  std::string user = {};
  std::string password = {};
  std::string application = {};
  std::string database = {};
  std::uint32_t packet_size = 0;
};

enum class tds_kind {
  login,
  /// Plain text without parameters.
  batch,
  /// A stored procedure, as statements with parameters are.
  call,
  /// Begin, commit or rollback by a message of its own kind.
  transaction,
  /// A request to cancel the current answer.
  attention,
};

/// One message of a client, which is one round trip.
struct tds_request {
  tds_kind kind = tds_kind::batch;
  /// From 1, in the order of arrival.
  std::size_t connection = 0;
  /// Of a call: `sp_executesql`; of a transaction: `begin`, `commit`, `rollback`, `save`.
  std::string procedure = {};
  /// The statement, of a batch or a call; for `sp_execute` and `sp_unprepare` that of the prepared
  /// one.
  std::string text = {};
  /// The parameters as the client declared them: `@P1 bigint,@P2 varbinary(max)`.
  std::string declaration = {};
  /// Those of the statement, without those of the procedure.
  std::vector<tds_parameter> parameters = {};
  /// The handle given to `sp_execute` and `sp_unprepare`.
  std::int32_t handle = 0;
  /// The transaction it was sent in; 0 outside of one.
  std::uint64_t transaction = 0;
  /// A commit or rollback that asks for a new transaction at once.
  bool begins_next = false;
  /// Of a login.
  tds_login login = {};
  /// Further calls in the same message.
  std::vector<tds_request> further = {};
};

/// For the output of a failing test, without values.
std::string described(const tds_request& asked);

}  // namespace tableq_test
