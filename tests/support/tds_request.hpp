#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tableq_test {

/// NULL, an integer, or text in UTF-8 or bytes.
using tds_value = std::variant<std::nullptr_t, std::int64_t, std::string>;

/// One received parameter.
struct tds_parameter {
  /// The declared type: `bigint`, `nvarchar(4000)`, `varbinary(max)`.
  std::string type = {};
  tds_value value = {};
};

struct tds_login {
  std::string user = {};
  std::string password = {};
  std::string database = {};
  /// The extensions that the client asks for: 1 is the recovery of sessions.
  std::set<int> features = {};
};

/// A batch is plain text without parameters; a call a stored procedure, as statements with
/// parameters are; a transaction is begun or ended by a message of its own kind; an attention
/// cancels the current answer.
enum class tds_kind { login, batch, call, transaction, attention };

/// One message of a client, which is one round trip.
struct tds_request {
  tds_kind kind = tds_kind::batch;
  /// From 1, in the order of arrival.
  std::size_t connection = 0;
  /// Of a call: `sp_executesql`; of a transaction: `begin`, `commit`, `rollback`.
  std::string procedure = {};
  /// The statement.
  std::string text = {};
  /// The parameters as the client declared them: `@P1 bigint,@P2 varbinary(max)`.
  std::string declaration = {};
  /// Those of the statement, without those of the procedure.
  std::vector<tds_parameter> parameters = {};
  tds_login login = {};
};

/// The first byte of a packet.
enum class tds_packet : std::uint8_t {
  batch = 1,
  call = 3,
  answer = 4,
  attention = 6,
  transaction = 14,
  login = 16,
  prelogin = 18,
};

/// The request of a message. Throws for a message, a procedure or a type of parameter that tableq's
/// drivers do not send.
tds_request parse(tds_packet type, std::string_view body);

/// For the output of a failing test, without values.
inline std::string described(const tds_request& asked) {
  if (asked.kind == tds_kind::login) return "login of " + asked.login.user;
  if (asked.kind == tds_kind::attention) return "attention";
  return asked.procedure + ": " + asked.text + " (" + asked.declaration + ")";
}

}  // namespace tableq_test
