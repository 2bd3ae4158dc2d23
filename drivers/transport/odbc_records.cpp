#include "drivers/transport/odbc_records.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

namespace tableq::inline v0::drivers::odbc {
namespace {

constexpr SQLSMALLINT most_records = 16;

/// How many `[part]`s stand before a message. ODBC puts two before a message of the driver, and a
/// third, the data source, before one of the server. FreeTDS has two before both.
int parts_before(std::string_view message) {
  int out = 0;
  while (message.starts_with('[')) {
    const std::size_t end = message.find(']');
    if (end == std::string_view::npos) break;
    message.remove_prefix(end + 1);
    ++out;
  }
  return out;
}

std::size_t rank_of(const native_error& what, std::string_view message) {
  if (what.sqlstate.starts_with("01") || what.sqlstate.starts_with("00")) return 2;
  return parts_before(message) > 2 ? 0 : 1;
}

}  // namespace

std::string plain_sentence(std::string_view message) {
  for (int parts = parts_before(message); parts > 0; --parts) {
    message.remove_prefix(message.find(']') + 1);
  }
  message = message.substr(0, message.find('\n'));
  message.remove_prefix(std::min(message.find_first_not_of(' '), message.size()));
  while (!message.empty() && (message.back() == ';' || message.back() == ' ')) {
    message.remove_suffix(1);
  }
  return std::string(message);
}

std::vector<native_error> records_of(SQLSMALLINT kind, SQLHANDLE handle) {
  std::array<std::vector<native_error>, 3> found;  // by rank
  for (SQLSMALLINT i = 1; i <= most_records; ++i) {
    std::array<SQLCHAR, 6> state{};
    std::array<SQLCHAR, SQL_MAX_MESSAGE_LENGTH> text{};
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    if (!SQL_SUCCEEDED(SQLGetDiagRec(kind, handle, i, state.data(), &native, text.data(),
                                     static_cast<SQLSMALLINT>(text.size()), &length))) {
      break;
    }
    const std::string_view message(
        reinterpret_cast<const char*>(text.data()),
        std::min(static_cast<std::size_t>(std::max<SQLSMALLINT>(length, 0)), text.size() - 1));
    native_error one{.sqlstate = reinterpret_cast<const char*>(state.data()),
                     .number = native,
                     .sentence = plain_sentence(message)};
    // The name may be one that a trigger has made of data.
    if (one.sqlstate == "26000") one.sentence = "the server forgot a prepared statement";
    found.at(rank_of(one, message)).push_back(std::move(one));
  }
  std::vector<native_error> out;
  for (auto& each : found) std::ranges::move(each, std::back_inserter(out));
  return out;
}

}  // namespace tableq::inline v0::drivers::odbc
