#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sql.h>
#include <sqlext.h>

namespace bench {

/// A connection through the driver manager, committing each statement. Used by one thread at a
/// time.
class odbc_connection {
 public:
  /// @throws std::runtime_error without the connection string: it may hold a password.
  explicit odbc_connection(const std::string& connection_string);
  odbc_connection(const odbc_connection&) = delete;
  odbc_connection& operator=(const odbc_connection&) = delete;
  ~odbc_connection();

  [[nodiscard]] SQLHDBC handle() const { return connection_; }

 private:
  SQLHENV environment_ = SQL_NULL_HENV;
  SQLHDBC connection_ = SQL_NULL_HDBC;
};

/// A prepared statement with at most one parameter.
class odbc_statement {
 public:
  odbc_statement(const odbc_connection& connection, const std::string& text);
  odbc_statement(const odbc_statement&) = delete;
  odbc_statement& operator=(const odbc_statement&) = delete;
  ~odbc_statement();

  void bind_bytes(const std::string& bytes);
  void bind_text(const std::string& text);
  void bind_number(std::int64_t number);
  /// Runs to the end, with a copy of each payload. @return the ids; empty where there are no
  /// columns.
  const std::vector<std::int64_t>& run();

 private:
  void check(SQLRETURN code) const;
  void bind(SQLSMALLINT c_type, SQLSMALLINT sql_type, const void* bytes, std::size_t size);

  SQLHSTMT handle_ = SQL_NULL_HSTMT;
  std::string value_;
  SQLLEN length_ = 0;
  std::vector<std::int64_t> ids_;
  std::vector<char> row_;
};

}  // namespace bench
