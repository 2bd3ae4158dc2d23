#include "odbc_client.hpp"

#include <stdexcept>

namespace bench {

namespace {

SQLCHAR* text_of(const std::string& text) {
  return reinterpret_cast<SQLCHAR*>(const_cast<char*>(text.c_str()));  // ODBC takes no const.
}

}  // namespace

odbc_connection::odbc_connection(const std::string& connection_string) {
  SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment_);
  SQLSetEnvAttr(environment_, SQL_ATTR_ODBC_VERSION,
                reinterpret_cast<SQLPOINTER>(SQL_OV_ODBC3),  // NOLINT(performance-no-int-to-ptr)
                0);
  SQLAllocHandle(SQL_HANDLE_DBC, environment_, &connection_);
  const SQLRETURN code = SQLDriverConnect(connection_, nullptr, text_of(connection_string), SQL_NTS,
                                          nullptr, 0, nullptr, SQL_DRIVER_NOPROMPT);
  if (!SQL_SUCCEEDED(code)) {
    SQLFreeHandle(SQL_HANDLE_DBC, connection_);
    SQLFreeHandle(SQL_HANDLE_ENV, environment_);
    throw std::runtime_error("ODBC: cannot connect");
  }
}

odbc_connection::~odbc_connection() {
  SQLDisconnect(connection_);
  SQLFreeHandle(SQL_HANDLE_DBC, connection_);
  SQLFreeHandle(SQL_HANDLE_ENV, environment_);
}

odbc_statement::odbc_statement(const odbc_connection& connection, const std::string& text)
    : row_(4096) {
  SQLAllocHandle(SQL_HANDLE_STMT, connection.handle(), &handle_);
  check(SQLPrepare(handle_, text_of(text), SQL_NTS));
}

odbc_statement::~odbc_statement() {
  SQLFreeHandle(SQL_HANDLE_STMT, handle_);
}

void odbc_statement::check(SQLRETURN code) const {
  if (SQL_SUCCEEDED(code) || code == SQL_NO_DATA) return;
  SQLCHAR state[6] = {};
  SQLCHAR text[512] = {};
  SQLINTEGER native = 0;
  SQLSMALLINT length = 0;
  SQLGetDiagRec(SQL_HANDLE_STMT, handle_, 1, state, &native, text, sizeof text, &length);
  throw std::runtime_error("ODBC: " + std::string(reinterpret_cast<const char*>(text)));
}

void odbc_statement::bind(SQLSMALLINT c_type, SQLSMALLINT sql_type, const void* bytes,
                          std::size_t size) {
  value_.assign(static_cast<const char*>(bytes), size);
  length_ = static_cast<SQLLEN>(size);
  check(SQLBindParameter(handle_, 1, SQL_PARAM_INPUT, c_type, sql_type, size, 0, value_.data(),
                         length_, &length_));
}

void odbc_statement::bind_bytes(const std::string& bytes) {
  bind(SQL_C_BINARY, SQL_LONGVARBINARY, bytes.data(), bytes.size());
}

void odbc_statement::bind_text(const std::string& text) {
  bind(SQL_C_CHAR, SQL_LONGVARCHAR, text.data(), text.size());
}

void odbc_statement::bind_number(std::int64_t number) {
  bind(SQL_C_SBIGINT, SQL_BIGINT, &number, sizeof number);
}

const std::vector<std::int64_t>& odbc_statement::run() {
  ids_.clear();
  const SQLRETURN executed = SQLExecute(handle_);
  check(executed);
  SQLSMALLINT columns = 0;
  check(SQLNumResultCols(handle_, &columns));
  if (columns > 0 && executed != SQL_NO_DATA) {
    SQLRETURN code = SQL_SUCCESS;
    while (SQL_SUCCEEDED(code = SQLFetch(handle_))) {
      std::int64_t id = 0;
      SQLLEN size = 0;
      check(SQLGetData(handle_, 1, SQL_C_SBIGINT, &id, sizeof id, &size));
      ids_.push_back(id);
      check(SQLGetData(handle_, 2, SQL_C_BINARY, row_.data(), static_cast<SQLLEN>(row_.size()),
                       &size));
    }
    check(code);
  }
  check(SQLFreeStmt(handle_, SQL_CLOSE));
  return ids_;
}

}  // namespace bench
