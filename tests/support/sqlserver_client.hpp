#pragma once

#include <map>
#include <string>

#include "support/backend.hpp"
#include "support/odbc_client.hpp"

namespace tableq_test {

/// The parts of `sqlserver://user:password@host/database?key=value`, for changes.
struct sqlserver_address {
  /// @throws std::runtime_error for another form.
  explicit sqlserver_address(const std::string& url);

  [[nodiscard]] std::string url(const std::string& scheme = "sqlserver") const;
  /// The dialect's connection string for ODBC.
  [[nodiscard]] std::string connection_string() const;

  std::string user = {};
  std::string password = {};
  std::string host = {};  ///< As written, with port and instance.
  std::string database = {};
  std::map<std::string, std::string> settings = {};
};

/// A plain client of SQL Server, like `sqlcmd`.
class sqlserver_client {
 public:
  /// @throws std::runtime_error when no session can be opened, without the driver's message.
  explicit sqlserver_client(const std::string& connection_string);

  /// One batch; the rows of its last result that has any.
  /// @throws std::runtime_error with the server's message.
  rows run(const std::string& text);
  /// The plans of a batch that is not run, as XML.
  [[nodiscard]] std::string plans(const std::string& text);
  /// The pages that this session has read so far.
  [[nodiscard]] std::int64_t pages_read();

 private:
  [[nodiscard]] odbc_outcome checked(const std::string& text);

  odbc_client odbc_;
};

/// The caller's values in place of `:name`.
std::string with_literals(const std::string& text, const parameters& with);
/// The same as variables, whose values the server does not have when it plans.
std::string with_variables(const std::string& text, const parameters& with);
/// A call of sp_executesql, as ODBC drivers send statements: the server keeps its plan by the text.
std::string as_prepared(const std::string& text, const parameters& with);

}  // namespace tableq_test
