#include "drivers/transport/odbc_options.hpp"

#include <array>

#include "drivers/transport/odbc_address.hpp"
#include "drivers/transport/odbc_drivers.hpp"
#include "drivers/transport/odbc_records.hpp"

namespace tableq::inline v0::drivers::odbc {
namespace {

/// Of a type by its number; empty if the driver has none. psqlODBC answers without its server.
std::string name_of_type(SQLHDBC link, SQLSMALLINT type) {
  SQLHSTMT statement = SQL_NULL_HSTMT;
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, link, &statement))) return {};
  std::array<char, 64> name{};
  SQLLEN length = 0;
  const bool found = SQL_SUCCEEDED(SQLGetTypeInfo(statement, type)) &&
                     SQL_SUCCEEDED(SQLFetch(statement)) &&
                     SQL_SUCCEEDED(SQLGetData(statement, 1, SQL_C_CHAR, name.data(),
                                              static_cast<SQLLEN>(name.size()), &length));
  SQLFreeHandle(SQL_HANDLE_STMT, statement);
  return found ? std::string(name.data()) : std::string();
}

/// The options are this driver's: psqlodbcw.so, psqlodbca.so, PSQLODBC35W.DLL.
bool is_psqlodbc(SQLHDBC link) {
  return lowered(information(link, SQL_DRIVER_NAME)).find("psqlodbc") != std::string::npos;
}

/// A connection without SOCI.
class plain_connection {
 public:
  /// @param login seconds for the login; 0: the driver's.
  explicit plain_connection(const std::string& connect, SQLULEN login = 0) {
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &manager_))) return;
    // ODBC passes numbers as pointers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const version = reinterpret_cast<SQLPOINTER>(static_cast<SQLULEN>(SQL_OV_ODBC3));
    SQLSetEnvAttr(manager_, SQL_ATTR_ODBC_VERSION, version, 0);
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, manager_, &link_))) return;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const seconds = reinterpret_cast<SQLPOINTER>(login);
    if (login != 0) SQLSetConnectAttr(link_, SQL_ATTR_LOGIN_TIMEOUT, seconds, SQL_IS_UINTEGER);
    std::string text = connect;  // ODBC's functions take non-const pointers, but do not write
    open_ = SQL_SUCCEEDED(SQLDriverConnect(link_, nullptr, reinterpret_cast<SQLCHAR*>(text.data()),
                                           SQL_NTS, nullptr, 0, nullptr, SQL_DRIVER_NOPROMPT));
  }
  plain_connection(const plain_connection&) = delete;
  plain_connection& operator=(const plain_connection&) = delete;
  ~plain_connection() {
    if (open_) SQLDisconnect(link_);
    if (link_ != SQL_NULL_HDBC) SQLFreeHandle(SQL_HANDLE_DBC, link_);
    if (manager_ != SQL_NULL_HENV) SQLFreeHandle(SQL_HANDLE_ENV, manager_);
  }

  [[nodiscard]] bool open() const noexcept { return open_; }
  [[nodiscard]] SQLHDBC handle() const noexcept { return link_; }

 private:
  SQLHENV manager_ = SQL_NULL_HENV;
  SQLHDBC link_ = SQL_NULL_HDBC;
  bool open_ = false;
};

std::vector<native_error> refusal_of(const plain_connection& own) {
  if (own.open() || own.handle() == SQL_NULL_HDBC) return {};
  return records_of(SQL_HANDLE_DBC, own.handle());
}

}  // namespace

std::string refused_option(SQLHDBC link) {
  if (!is_psqlodbc(link)) return {};
  if (information(link, SQL_DATA_SOURCE_READ_ONLY) == "Y") {
    return "the ODBC driver's option ReadOnly=1 refuses every statement but SELECT, also those "
           "that begin a session; set ReadOnly=0 in the address or the data source";
  }
  if (name_of_type(link, SQL_LONGVARBINARY) != "bytea") {
    return "the ODBC driver's option ByteaAsLongVarBinary=0 (\"bytea as LO\") would store the "
           "number of a large object in place of each payload; set ByteaAsLongVarBinary=1 in the "
           "address or the data source";
  }
  return {};
}

std::string refused_option_of(const std::string& connect) {
  const plain_connection own(connect);
  return own.open() ? refused_option(own.handle()) : std::string();
}

std::vector<native_error> refusal_of(const std::string& connect) {
  // Without its login time-out, which the driver manager would set again.
  builder asked;
  for (const attribute& one : parse(connect)) {
    if (one.key != "DMCONNATTR") asked.add(one.key, one.written);
  }
  return refusal_of(plain_connection(asked.text(), 1));
}

std::vector<native_error> refusal_in_full(const std::string& connect) {
  return refusal_of(plain_connection(connect));
}

}  // namespace tableq::inline v0::drivers::odbc
