#pragma once

/// @file
/// Values to and from an ODBC driver. Text is sent as UTF-16 or UTF-8, as the dialect requires:
/// some drivers would convert the other form to the locale's character set. For odbc.cpp only.

#include <array>
#include <boost/locale/encoding_utf.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/seam/value.hpp"
#include "drivers/text.hpp"
#include "drivers/transport.hpp"
#include "drivers/transport/odbc_api.hpp"
#include "drivers/transport/odbc_records.hpp"

namespace tableq::inline v0::drivers::odbc {

static_assert(sizeof(SQLWCHAR) == sizeof(char16_t));

/// Throws the failure of the handle's diagnostic records.
[[noreturn]] void fail(SQLSMALLINT kind, SQLHANDLE handle, SQLHDBC link);

/// The parameters of one run, bound to a statement. Borrows bytes; owns converted text.
class bound_values {
 public:
  /// @param unlimited driver_ways::unlimited
  bound_values(SQLHSTMT statement, SQLHDBC link, bool wide_text, bool unlimited,
               const std::vector<parameter>& places, const arguments& given)
      : statement_(statement), link_(link), wide_text_(wide_text), unlimited_(unlimited) {
    indicators_.resize(places.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      add(i, places[i].type, given.value_of(places[i]));
  }
  bound_values(const bound_values&) = delete;
  bound_values& operator=(const bound_values&) = delete;

 private:
  // Declared sizes are the same for all values, so that a server keeps one plan for a text. FreeTDS
  // silently cuts values that are longer than a declared size: odbc_records.hpp.
  void add(std::size_t position, core::value_type type, const core::value& given) {
    const bool null = given.is == core::value::shape::null;
    if (type == core::value_type::integer) {
      const SQLBIGINT& number = numbers_.emplace_back(given.number);
      bind(position, SQL_C_SBIGINT, {SQL_BIGINT, 19}, &number,
           null ? SQL_NULL_DATA : sizeof number);
    } else if (type == core::value_type::bytes) {
      bind(position, SQL_C_BINARY, type_of_bytes(unlimited_, given.data.size()), given.data.data(),
           null ? SQL_NULL_DATA : static_cast<SQLLEN>(given.data.size()));
    } else if (!wide_text_) {
      bind(position, SQL_C_CHAR, type_of_text(unlimited_, given.data.size()), given.data.data(),
           null ? SQL_NULL_DATA : static_cast<SQLLEN>(given.data.size()));
    } else {
      const std::u16string& wide = texts_.emplace_back(boost::locale::conv::utf_to_utf<char16_t>(
          given.data.data(), given.data.data() + given.data.size()));
      bind(position, SQL_C_WCHAR, type_of_text(unlimited_, wide.size()), wide.data(),
           null ? SQL_NULL_DATA : static_cast<SQLLEN>(wide.size() * sizeof(char16_t)));
    }
  }

  void bind(std::size_t position, SQLSMALLINT c_type, const declared_type& declared,
            const void* data, SQLLEN indicator) {
    indicators_[position] = indicator;
    // Drivers may read a null pointer as NULL; an empty payload is not NULL.
    static const char nothing = 0;
    const void* source = data == nullptr ? &nothing : data;
    const SQLRETURN result = SQLBindParameter(
        statement_, static_cast<SQLUSMALLINT>(position + 1), SQL_PARAM_INPUT, c_type, declared.type,
        declared.size, 0,
        const_cast<void*>(
            source),  // NOLINT(cppcoreguidelines-pro-type-const-cast): ODBC reads only
        0, &indicators_[position]);
    if (!SQL_SUCCEEDED(result)) fail(SQL_HANDLE_STMT, statement_, link_);
  }

  SQLHSTMT statement_;
  SQLHDBC link_;
  bool wide_text_;
  bool unlimited_;
  std::vector<SQLLEN> indicators_;
  std::deque<SQLBIGINT> numbers_;  // deques: the pointers must hold
  std::deque<std::u16string> texts_;
};

/// Reads the fields of a statement's current row.
class field_reader {
 public:
  field_reader(SQLHSTMT statement, SQLHDBC link, bool wide_text) noexcept
      : statement_(statement), link_(link), wide_text_(wide_text) {}

  [[nodiscard]] core::cell read(SQLUSMALLINT column, core::value_type type) const {
    if (type == core::value_type::integer) return integer(column);
    std::string data;
    if (type == core::value_type::bytes) {
      if (!long_data(column, SQL_C_BINARY, 0, data)) return {};
      return data;
    }
    if (!wide_text_) {
      if (!long_data(column, SQL_C_CHAR, 1, data)) return {};
      return data;
    }
    if (!long_data(column, SQL_C_WCHAR, sizeof(SQLWCHAR), data)) return {};
    const auto* wide = reinterpret_cast<const char16_t*>(data.data());
    return boost::locale::conv::utf_to_utf<char>(wide, wide + data.size() / sizeof(char16_t));
  }

 private:
  [[nodiscard]] core::cell integer(SQLUSMALLINT column) const {
    SQLBIGINT number = 0;
    SQLLEN indicator = 0;
    const SQLRETURN result =
        SQLGetData(statement_, column, SQL_C_SBIGINT, &number, sizeof number, &indicator);
    if (!SQL_SUCCEEDED(result)) fail(SQL_HANDLE_STMT, statement_, link_);
    if (indicator == SQL_NULL_DATA) return {};
    return std::int64_t{number};
  }

  /// Reads in parts: some drivers do not know the whole length beforehand.
  /// @param terminator bytes that the driver puts after each part.
  /// @return false for NULL.
  bool long_data(SQLUSMALLINT column, SQLSMALLINT c_type, std::size_t terminator,
                 std::string& out) const {
    constexpr std::size_t first_part = 8192;
    constexpr std::size_t next_part = std::size_t{1} << 20U;
    // Most values are short, and a batch has many: each uses no more memory than it needs.
    alignas(SQLWCHAR) std::array<char, first_part + sizeof(SQLWCHAR)> first;  // written below
    char* target = first.data();
    std::size_t room = first_part;
    for (std::size_t done = 0;;) {
      SQLLEN left = 0;
      const SQLRETURN result = SQLGetData(statement_, column, c_type, target,
                                          static_cast<SQLLEN>(room + terminator), &left);
      if (result == SQL_NO_DATA) {  // the value was complete already
        out.resize(done);
        return true;
      }
      if (!SQL_SUCCEEDED(result)) fail(SQL_HANDLE_STMT, statement_, link_);
      if (left == SQL_NULL_DATA) return false;
      const bool all = left != SQL_NO_TOTAL && static_cast<std::size_t>(left) <= room;
      const std::size_t got = all ? static_cast<std::size_t>(left) : room;
      if (done == 0) out.assign(target, got);
      done += got;
      if (all) {
        out.resize(done);
        return true;
      }
      room = left == SQL_NO_TOTAL ? next_part : static_cast<std::size_t>(left) - room;
      out.resize(done + room + terminator);
      target = out.data() + done;
    }
  }

  SQLHSTMT statement_;
  SQLHDBC link_;
  bool wide_text_;
};

}  // namespace tableq::inline v0::drivers::odbc
