#pragma once

#include <map>
#include <string>

#include "support/backend.hpp"
#include "support/tds_client.hpp"

namespace tableq_test {

/// `sqlserver://user:password@host/database?key=value`, taken apart to be changed.
struct sqlserver_address {
  /// @throws std::runtime_error when it is no such address.
  explicit sqlserver_address(const std::string& url);

  [[nodiscard]] std::string url(const std::string& scheme = "sqlserver") const;
  /// What the dialect makes of it, for ODBC.
  [[nodiscard]] std::string connection_string() const;

  std::string user = {};
  std::string password = {};
  std::string host = {};  ///< As written, with port and instance.
  std::string database = {};
  std::map<std::string, std::string> settings = {};
};

/// A plain client of SQL Server, as `sqlcmd` is one.
class sqlserver_client {
 public:
  /// @throws std::runtime_error when no session can be had, without the words of the driver.
  explicit sqlserver_client(const std::string& connection_string);

  /// One batch; the rows of its last result that has any.
  /// @throws std::runtime_error with the server's words.
  rows run(const std::string& text);
  /// The plans of a batch that is not run, as XML.
  [[nodiscard]] std::string plans(const std::string& text);
  /// The pages that this session has read so far.
  [[nodiscard]] std::int64_t pages_read();

 private:
  [[nodiscard]] odbc_outcome checked(const std::string& text);

  tds_client odbc_;
};

/// What `:name` stands for is what the caller gives, in place.
std::string with_literals(const std::string& text, const parameters& with);
/// The same as variables, of which the server knows no value when it plans.
std::string with_variables(const std::string& text, const parameters& with);
/// A call of sp_executesql, as ODBC drivers send statements: its plan stays, by the text.
std::string as_prepared(const std::string& text, const parameters& with);

}  // namespace tableq_test
