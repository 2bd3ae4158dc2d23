#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(_WIN32)
#include <windows.h>
#endif

#include <sql.h>
#include <sqlext.h>

namespace tableq_test {

/// A result of SQLGetDiagRec.
struct odbc_record {
  std::string state;
  std::int32_t native = 0;
  std::string text = {};
};
using odbc_records = std::vector<odbc_record>;

struct odbc_failure : std::runtime_error {
  odbc_failure(const char* what, odbc_records all)
      : std::runtime_error(what), records(std::move(all)) {}
  odbc_records records;
};

/// A value and its binding.
struct odbc_parameter {
  SQLSMALLINT c_type = SQL_C_BINARY;
  SQLSMALLINT sql_type = SQL_LONGVARBINARY;
  SQLULEN size = 0;
  /// Its bytes in memory; NULL when empty.
  std::optional<std::string> bytes = {};
};
odbc_parameter binary_parameter(std::optional<std::string> value);

/// The results of a statement up to the first error, if any.
struct odbc_outcome {
  /// One list for each result; text in UTF-8 and bytes as they are, integers in digits.
  std::vector<std::vector<std::vector<std::optional<std::string>>>> results = {};
  odbc_records errors = {};
};

/// A plain ODBC client, to test a driver's handling of a server's messages.
class odbc_client {
 public:
  /// Throws odbc_failure.
  explicit odbc_client(const std::string& connection_string);
  ~odbc_client();
  odbc_client(const odbc_client&) = delete;
  odbc_client& operator=(const odbc_client&) = delete;

  odbc_outcome run(const std::string& text, const std::vector<odbc_parameter>& with = {});
  [[nodiscard]] std::string information(SQLUSMALLINT which) const;

 private:
  void bind(const std::vector<odbc_parameter>& with, std::vector<SQLLEN>& indicators);
  void read_all(SQLRETURN code, odbc_outcome& into);

  SQLHENV environment_ = nullptr;
  SQLHDBC connection_ = nullptr;
  SQLHSTMT statement_ = nullptr;
};

}  // namespace tableq_test
