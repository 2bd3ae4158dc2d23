#include "support/odbc_client.hpp"

#include <array>
#include <boost/locale/encoding_utf.hpp>
#include <utility>

namespace tableq_test {
namespace {

/// The text of a statement: a driver manager would widen bytes one by one.
class wide {
 public:
  explicit wide(const std::string& text)
      : units_(boost::locale::conv::utf_to_utf<char16_t>(text)) {}
  SQLWCHAR* get() { return reinterpret_cast<SQLWCHAR*>(units_.data()); }

 private:
  std::u16string units_;
};

/// ODBC takes non-const text, but does not change it.
SQLCHAR* characters(const std::string& text) {
  return reinterpret_cast<SQLCHAR*>(const_cast<char*>(text.data()));
}

/// ODBC takes numbers as pointers.
template <class Integer>
SQLPOINTER as_pointer(Integer value) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that is its interface.
  return reinterpret_cast<SQLPOINTER>(static_cast<std::uintptr_t>(value));
}

odbc_records records_of(SQLSMALLINT kind, SQLHANDLE handle) {
  odbc_records out;
  std::array<SQLCHAR, 6> state{};
  std::array<SQLCHAR, 1024> text{};
  SQLINTEGER native = 0;
  SQLSMALLINT size = 0;
  for (SQLSMALLINT i = 1;
       SQL_SUCCEEDED(SQLGetDiagRec(kind, handle, i, state.data(), &native, text.data(),
                                   static_cast<SQLSMALLINT>(text.size()), &size));
       ++i) {
    out.push_back({reinterpret_cast<const char*>(state.data()), native,
                   reinterpret_cast<const char*>(text.data())});
  }
  return out;
}

bool binary(SQLHSTMT statement, SQLUSMALLINT column) {
  SQLLEN type = 0;
  SQLColAttribute(statement, column, SQL_DESC_CONCISE_TYPE, nullptr, 0, nullptr, &type);
  return type == SQL_BINARY || type == SQL_VARBINARY || type == SQL_LONGVARBINARY;
}

/// Reads a value in pieces. @return an error code, or SQL_SUCCESS.
SQLRETURN read_value(SQLHSTMT statement, SQLUSMALLINT column, std::optional<std::string>& into) {
  const bool raw = binary(statement, column);
  std::array<char16_t, 32768> piece{};
  const std::size_t capacity = sizeof piece - (raw ? 0 : sizeof(char16_t));
  std::string whole;
  for (bool more = true; more;) {
    SQLLEN left = 0;
    const SQLRETURN code = SQLGetData(statement, column, raw ? SQL_C_BINARY : SQL_C_WCHAR,
                                      piece.data(), sizeof piece, &left);
    if (code == SQL_NO_DATA) break;
    if (!SQL_SUCCEEDED(code)) return code;
    if (left == SQL_NULL_DATA) return SQL_SUCCESS;
    more = left == SQL_NO_TOTAL || static_cast<std::size_t>(left) > capacity;
    whole.append(reinterpret_cast<const char*>(piece.data()),
                 more ? capacity : static_cast<std::size_t>(left));
  }
  const auto* units = reinterpret_cast<const char16_t*>(whole.data());
  into = raw ? whole
             : boost::locale::conv::utf_to_utf<char>(units, units + whole.size() / sizeof *units);
  return SQL_SUCCESS;
}

}  // namespace

odbc_parameter binary_parameter(std::optional<std::string> value) {
  odbc_parameter out;
  out.size = value ? value->size() : 0;
  out.bytes = std::move(value);
  return out;
}

odbc_client::odbc_client(const std::string& connection_string) {
  SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment_);
  SQLSetEnvAttr(environment_, SQL_ATTR_ODBC_VERSION, as_pointer(SQL_OV_ODBC3), 0);
  SQLAllocHandle(SQL_HANDLE_DBC, environment_, &connection_);
  SQLSetConnectAttr(connection_, SQL_ATTR_LOGIN_TIMEOUT, as_pointer(60), 0);
  const SQLRETURN code = SQLDriverConnect(connection_, nullptr, characters(connection_string),
                                          SQL_NTS, nullptr, 0, nullptr, SQL_DRIVER_NOPROMPT);
  if (!SQL_SUCCEEDED(code)) {
    odbc_records all = records_of(SQL_HANDLE_DBC, connection_);
    SQLFreeHandle(SQL_HANDLE_DBC, connection_);
    SQLFreeHandle(SQL_HANDLE_ENV, environment_);
    throw odbc_failure("odbc: connect", std::move(all));
  }
  SQLAllocHandle(SQL_HANDLE_STMT, connection_, &statement_);
}

odbc_client::~odbc_client() {
  SQLFreeHandle(SQL_HANDLE_STMT, statement_);
  SQLDisconnect(connection_);
  SQLFreeHandle(SQL_HANDLE_DBC, connection_);
  SQLFreeHandle(SQL_HANDLE_ENV, environment_);
}

odbc_outcome odbc_client::run(const std::string& text, const std::vector<odbc_parameter>& with) {
  std::vector<SQLLEN> indicators;
  bind(with, indicators);
  odbc_outcome out;
  read_all(SQLExecDirectW(statement_, wide(text).get(), SQL_NTS), out);
  return out;
}

std::string odbc_client::information(SQLUSMALLINT which) const {
  std::array<char, 256> text{};
  SQLGetInfo(connection_, which, text.data(), static_cast<SQLSMALLINT>(text.size()), nullptr);
  return text.data();
}

void odbc_client::bind(const std::vector<odbc_parameter>& with, std::vector<SQLLEN>& indicators) {
  SQLFreeStmt(statement_, SQL_RESET_PARAMS);
  indicators.resize(with.size());
  for (std::size_t i = 0; i < with.size(); ++i) {
    const odbc_parameter& each = with[i];
    const std::size_t size = each.bytes ? each.bytes->size() : 0;
    indicators[i] = each.bytes ? static_cast<SQLLEN>(size) : SQL_NULL_DATA;
    SQLBindParameter(statement_, static_cast<SQLUSMALLINT>(i + 1), SQL_PARAM_INPUT, each.c_type,
                     each.sql_type, each.size, 0, each.bytes ? characters(*each.bytes) : nullptr,
                     static_cast<SQLLEN>(size), &indicators[i]);
  }
}

void odbc_client::read_all(SQLRETURN code, odbc_outcome& into) {
  for (; code != SQL_NO_DATA; code = SQLMoreResults(statement_)) {
    SQLSMALLINT columns = 0;
    if (SQL_SUCCEEDED(code)) {
      SQLNumResultCols(statement_, &columns);
      into.results.emplace_back();
      while (columns > 0 && SQL_SUCCEEDED(code = SQLFetch(statement_))) {
        auto& row = into.results.back().emplace_back(static_cast<std::size_t>(columns));
        for (std::size_t i = 0; i < row.size() && SQL_SUCCEEDED(code); ++i) {
          code = read_value(statement_, static_cast<SQLUSMALLINT>(i + 1), row[i]);
        }
        if (!SQL_SUCCEEDED(code)) break;
      }
    }
    if (!SQL_SUCCEEDED(code) && code != SQL_NO_DATA) {
      into.errors = records_of(SQL_HANDLE_STMT, statement_);
      break;
    }
  }
  SQLFreeStmt(statement_, SQL_CLOSE);
}

}  // namespace tableq_test
