#include "drivers/transport/odbc_uri.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "core/input/connection_string.hpp"

namespace tableq::inline v0::drivers::odbc {
namespace {

constexpr std::size_t npos = std::string_view::npos;

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
