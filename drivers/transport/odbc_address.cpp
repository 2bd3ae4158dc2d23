#include "drivers/transport/odbc_address.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <locale>
#include <random>
#include <system_error>

#include <tableq/error.hpp>

#include "core/input/connection_string.hpp"
#include "drivers/transport/odbc_api.hpp"

namespace tableq::inline v0::drivers::odbc {
namespace {

constexpr std::size_t npos = std::string_view::npos;
constexpr std::string_view stars = "***";
constexpr std::string_view does_not_start = "IM004";
constexpr std::string_view withheld =
    "the ODBC driver's words are withheld, because they may show the password";

bool blank(char c) noexcept {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool letter(char c) noexcept {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// True if the character has no special meaning in a connection string.
bool harmless(char c) noexcept {
  constexpr std::string_view also = "._-:,/\\+";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || also.find(c) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string key_of(std::string_view text) {
  return boost::algorithm::to_upper_copy(std::string(trimmed(text)), std::locale::classic());
}

/// The length of the value at the beginning of `text`, with its braces.
std::size_t length_of_value(std::string_view text) noexcept {
  if (!text.starts_with('{')) return std::min(text.find(';'), text.size());
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '}') continue;
    if (i + 1 == text.size() || text[i + 1] != '}') return i + 1;
    ++i;
  }
  return text.size();
}

std::string without_braces(std::string_view written) {
  if (!written.starts_with('{')) return std::string(written);
  std::string out;
  for (std::size_t i = 1; i < written.size(); ++i) {
    if (written[i] == '}' && ++i == written.size()) break;
    out += written[i];
  }
  return out;
}

bool names_a_secret(std::string_view key) {
  constexpr std::array<std::string_view, 6> parts{"PWD",        "PASSWORD", "PASSWD",
                                                  "PASSPHRASE", "SECRET",   "TOKEN"};
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return key.find(part) != npos; });
}

/// Whether the stars and the rest of the sentence reveal the hidden text.
bool distinctive(std::string_view secret) {
  return secret.size() >= 4 && !std::all_of(secret.begin(), secret.end(), letter);
}

/// The forms in which drivers may show the secrets, longest first: decoded, as written, and in
/// pieces, since some drivers end a value at the first semicolon.
std::vector<std::string> secrets_of(std::string_view connection_string) {
  std::vector<std::string> out;
  const auto add = [&out](std::string_view form) {
    if (!trimmed(form).empty()) out.emplace_back(trimmed(form));
  };
  for (const attribute& one : parse(connection_string)) {
    if (!names_a_secret(one.key)) continue;
    const std::string_view written = one.written;
    add(one.value);
    add(written);
    if (written.starts_with('{')) {
      add(written.substr(1, written.size() - (written.ends_with('}') ? 2 : 1)));
    }
    for (std::size_t at = 0; at < one.value.size();) {
      const std::size_t end = std::min(one.value.find(';', at), one.value.size());
      add(std::string_view(one.value).substr(at, end - at));
      at = end + 1;
    }
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return out;
}

class environment {
 public:
  environment() {
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &handle_))) refuse();
    // ODBC passes numbers as pointers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const version = reinterpret_cast<SQLPOINTER>(static_cast<SQLULEN>(SQL_OV_ODBC3));
    if (!SQL_SUCCEEDED(SQLSetEnvAttr(handle_, SQL_ATTR_ODBC_VERSION, version, 0))) {
      SQLFreeHandle(SQL_HANDLE_ENV, handle_);
      refuse();
    }
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() { SQLFreeHandle(SQL_HANDLE_ENV, handle_); }

  [[nodiscard]] SQLHENV handle() const noexcept { return handle_; }

 private:
  [[noreturn]] static void refuse() {
    throw error(errc::connection_failed, advice::never, "the ODBC driver manager does not answer",
                {.backend = "odbc", .operation = "connect"});
  }

  SQLHENV handle_ = SQL_NULL_HENV;
};

/// Whole addresses are decoded before they are split. So the parts are decoded here again, from the
/// raw text. A part holds no question mark.
std::string decoded(std::string_view part) {
  return core::parse_connection_string("part://" + std::string(part)).rest;
}

/// A special character that was not encoded moves part of the password into another part of the
/// address: to the host, or into an error.
[[noreturn]] void refuse_place(std::string_view backend) {
  refuse(backend,
         "this address cannot be read; write scheme://user:password@host:port/database?key=value, "
         "with a port from 1 to 65535 after a colon, an IPv6 address in brackets, and characters "
         "such as / @ : ? % within a part as %2F %40 %3A %3F %25");
}

std::uint16_t port_of(std::string_view text, std::string_view backend) {
  std::uint16_t out = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failed != std::errc() || end != text.data() + text.size() || out == 0) refuse_place(backend);
  return out;
}

/// Reads `host:port` or `[host]:port`.
void read_place(std::string_view text, std::string_view backend, uri& out) {
  const bool bracketed = text.starts_with('[');
  const std::size_t end =
      bracketed ? std::min(text.find(']'), text.size()) : std::min(text.find(':'), text.size());
  out.host = decoded(bracketed ? text.substr(1, end - 1) : text.substr(0, end));
  const std::string_view known = bracketed ? ":.%-_" : ".-_\\";
  if (bracketed && (end == text.size() || out.host.empty())) refuse_place(backend);
  if (!std::all_of(out.host.begin(), out.host.end(), [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || known.find(c) != npos;
      })) {
    refuse_place(backend);
  }
  text.remove_prefix(bracketed ? end + 1 : end);
  if (text.empty()) return;
  if (!text.starts_with(':')) refuse_place(backend);
  out.port = port_of(text.substr(1), backend);
}

}  // namespace

std::string quoted(std::string_view value) {
  if (std::all_of(value.begin(), value.end(), harmless)) return std::string(value);
  std::string out = "{";
  for (const char c : value) out.append(c == '}' ? 2 : 1, c);
  return out + '}';
}

std::optional<std::string> quoted_without_doubling(std::string_view value) {
  if (value.find('}') == npos) return quoted(value);
  if (value.find(';') != npos || value.front() == '{') return std::nullopt;
  return std::string(value);
}

builder& builder::add(std::string_view key, std::string_view value) {
  text_.append(key).append("=").append(value).append(";");
  return *this;
}

std::vector<attribute> parse(std::string_view connection_string) {
  std::vector<attribute> out;
  std::string_view rest = connection_string;
  for (;;) {
    const std::size_t start = std::min(rest.find_first_not_of("; \t\n\r\f\v"), rest.size());
    rest.remove_prefix(start);
    const std::size_t equals = rest.find('=');
    if (equals == npos) return out;
    attribute one{.key = key_of(rest.substr(0, equals)), .value = {}, .written = {}};
    rest.remove_prefix(equals + 1);
    one.written = rest.substr(0, length_of_value(rest));
    one.value = without_braces(one.written);
    rest.remove_prefix(one.written.size());
    out.push_back(std::move(one));
  }
}

std::string without_secrets(std::string sentence, std::string_view connection_string) {
  std::vector<bool> hidden(sentence.size(), false);
  for (const std::string& secret : secrets_of(connection_string)) {
    for (std::size_t at = sentence.find(secret); at != npos; at = sentence.find(secret, at + 1)) {
      const auto first = hidden.begin() + static_cast<std::ptrdiff_t>(at);
      const auto last = first + static_cast<std::ptrdiff_t>(secret.size());
      if (std::find(first, last, false) == last) continue;
      if (!distinctive(secret)) return std::string(withheld);
      std::fill(first, last, true);
    }
  }
  std::string out;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    if (!hidden[i]) {
      out += sentence[i];
    } else if (i == 0 || !hidden[i - 1]) {
      out += stars;
    }
  }
  return out;
}

std::string unshared(std::string_view connection_string) {
  std::random_device random;
  std::string out = "TableqSession=";
  for (int i = 0; i < 4; ++i) out.append(std::to_string(random())).append(".");
  return out.append(";").append(connection_string);  // the end may be an open brace
}

std::string raw_connection_string(const connection_url& url) {
  const std::size_t scheme = url.raw.find("://");
  std::string out = scheme == npos ? "" : url.raw.substr(scheme + 3);
  const bool readable = std::none_of(out.begin(), out.end(), [](char c) {
    return std::iscntrl(static_cast<unsigned char>(c)) != 0;
  });
  if (!readable || out.find('=') == npos) {
    throw error(errc::invalid_argument, advice::never,
                "after odbc:// an ODBC connection string is expected, without control characters, "
                "such as odbc://Driver=PostgreSQL Unicode;Servername=localhost;Database=app",
                {.backend = "odbc", .operation = "connect"});
  }
  return out;
}

std::vector<std::string> installed_drivers() {
  const environment manager;
  std::vector<std::string> out;
  std::array<SQLCHAR, 512> name{};
  SQLSMALLINT length = 0;
  for (SQLUSMALLINT which = SQL_FETCH_FIRST; SQL_SUCCEEDED(
           SQLDrivers(manager.handle(), which, name.data(), static_cast<SQLSMALLINT>(name.size()),
                      &length, nullptr, 0, nullptr));
       which = SQL_FETCH_NEXT) {
    // Ends at the NUL: `length` is that of the whole name, even if the buffer was too short.
    out.emplace_back(reinterpret_cast<const char*>(name.data()));
  }
  return out;
}

bool missing_driver(std::string_view sqlstate) noexcept {
  constexpr std::string_view not_loaded = "01000";
  return sqlstate == no_such_source || sqlstate == not_loaded;
}

bool loads_driver(std::string_view sqlstate) noexcept {
  return !missing_driver(sqlstate) && sqlstate != does_not_start;
}

std::string listed_drivers() {
  std::string names;
  for (const std::string& name : installed_drivers()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return "installed are: " + (names.empty() ? "none" : names) +
         ". Name one of them, or install another (packages odbc-postgresql, libsqliteodbc, "
         "tdsodbc, or the database's vendor's)";
}

std::string advice_for_connect(std::string_view sqlstate) {
  // Of several records SOCI keeps the first, and the cause may be in another.
  if (sqlstate.starts_with("08") || sqlstate.starts_with("HYT0")) {
    return "; check host, port, firewall, encryption and way of login";
  }
  if (missing_driver(sqlstate)) {
    return "; the driver's library, or one that it needs, is missing: `odbcinst -j` names the file "
           "with its path, ldd what it needs";
  }
  if (sqlstate != does_not_start) return {};
  return "; the driver was found and does not start: files beside its library may be missing, of "
         "Microsoft's those in share/resources";
}

uri parse_uri(const connection_url& url, std::string_view backend) {
  std::string_view rest = url.raw;
  rest.remove_prefix(rest.find("://") + 3);
  const std::size_t question = std::min(rest.find('?'), rest.size());
  if (rest.find('@', question) != npos) refuse_place(backend);
  if (!url.problem.empty()) refuse(backend, url.problem);
  rest = rest.substr(0, question);

  uri out;
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  if (slash < rest.size()) {
    const std::string_view database = rest.substr(slash + 1);
    if (database.find_first_of("/@") != npos) refuse_place(backend);
    out.database = decoded(database);
  }
  rest = rest.substr(0, slash);
  if (const std::size_t at = rest.find('@'); at != npos) {
    const std::string_view login = rest.substr(0, at);
    const std::size_t colon = std::min(login.find(':'), login.size());
    out.user = decoded(login.substr(0, colon));
    out.password = decoded(login.substr(std::min(colon + 1, login.size())));
    rest.remove_prefix(at + 1);
  }
  read_place(rest, backend, out);
  check_characters(backend, "the host", out.host);
  check_characters(backend, "the user's name", out.user);
  check_characters(backend, "the password", out.password);
  check_characters(backend, "the database's name", out.database);
  return out;
}

void check_characters(std::string_view backend, std::string_view part, std::string_view value) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      refuse(backend, std::string(part) +
                          " holds characters other than ASCII, which ODBC driver "
                          "managers do not hand on unchanged");
    }
    if (std::iscntrl(byte) != 0) {
      refuse(backend, std::string(part) + " must not hold control characters");
    }
  }
}

void refuse(std::string_view backend, const std::string& sentence, errc code) {
  throw error(code, advice::never, sentence,
              {.backend = std::string(backend), .operation = "connect"});
}

}  // namespace tableq::inline v0::drivers::odbc
