#include "drivers/transport/odbc_drivers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "drivers/transport/odbc_address.hpp"

namespace tableq::inline v0::drivers::odbc {
namespace {

using namespace std::chrono_literals;

bool says(std::string_view name, std::string_view word) {
  return lowered(name).find(word) != std::string::npos;
}

constexpr driver_ways of_others{};
constexpr driver_ways of_microsoft{.unlimited = true, .attention = 2s, .recovers = true};

/// Why a driver does not connect, by its own number.
struct reason {
  int number;
  advice safe;
  std::string_view sentence;  ///< Empty: the driver's own.
  std::string_view option = {};
};

constexpr std::string_view unknown_host =
    "the host's name is unknown: check the host of the address";
constexpr std::string_view nothing_there =
    "nothing answers at the host and the port; check both, and the firewall. A wrong port may cost "
    "the whole login time, which login_timeout limits";
constexpr std::string_view or_encrypt =
    "; encrypt=no (in a connection string Encrypt=no) does without encryption: the password then "
    "crosses the network readable";

constexpr std::array reasons{
    // Microsoft's: the network's numbers, the login's, those of TLS.
    reason{11001, advice::session, unknown_host},
    reason{10057, advice::session, nothing_there},
    reason{10060, advice::session, nothing_there},
    reason{10061, advice::session, nothing_there},
    reason{258, advice::session,
           "the server did not answer the login in time; check host, port and firewall, then its "
           "load"},
    reason{20, advice::never, "the server offers no encryption", or_encrypt},
    reason{-1,
           advice::session,
           {},
           "; if the server's certificate is one that nobody has signed, "
           "trust_server_certificate=yes (in a connection string TrustServerCertificate=yes) "
           "accepts it"},
    // FreeTDS's.
    reason{20013, advice::session, unknown_host},
    reason{20009, advice::session, nothing_there},
    reason{20002, advice::session,
           "the server ended the connection before the login: it may offer no encryption, demand "
           "it, or be no SQL Server",
           "; encrypt=no (in a connection string Encryption=request) does without encryption: the "
           "password then crosses the network readable"},
};

}  // namespace

std::string lowered(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

const driver_ways& ways_of(std::string_view name) {
  const bool microsoft =
      says(name, "msodbcsql") || says(name, "sqlncli") || microsoft_release(name) > 0;
  return microsoft ? of_microsoft : of_others;
}

int microsoft_release(std::string_view name) {
  constexpr std::string_view before = "odbc driver ";
  const std::string low = lowered(name);
  int out = 0;
  if (!low.starts_with(before) || !low.ends_with(" for sql server")) return 0;
  std::from_chars(low.data() + before.size(), low.data() + low.size(), out);
  return out;
}

bool is_freetds(std::string_view name) {
  return says(name, "tds");
}

int preference(std::string_view name) {
  if (const int release = microsoft_release(name); release > 0) return 2 + release;
  if (is_freetds(name)) return 2;
  return says(name, "sql server") ? 1 : 0;
}

std::string with_needs(std::string connect) {
  bool recovers = false;
  for (const attribute& one : parse(connect)) {
    recovers = recovers || (one.key == "DRIVER" && ways_of(one.value).recovers);
    if (one.key == "CONNECTRETRYCOUNT") return connect;
  }
  return recovers ? "ConnectRetryCount=0;" + std::move(connect) : connect;
}

bool gives_no_reason(const native_error& what) {
  // 01S00: a warning of Microsoft's driver, because the address has a login_timeout.
  return what.number == 0 &&
         (what.sqlstate == "08001" || what.sqlstate == "HYT00" || what.sqlstate == "01S00");
}

native_failure explained(native_error what) {
  const auto* const found = std::find_if(
      reasons.begin(), reasons.end(), [&](const reason& one) { return one.number == what.number; });
  if (found == reasons.end()) return native_failure(std::move(what));
  // Another attempt meets the same certificate.
  const bool stays = found->safe == advice::never || says(what.sentence, "certificate verify");
  if (!found->sentence.empty()) what.sentence = found->sentence;
  what.sentence += found->option;
  return native_failure::judged_as(
      {errc::connection_failed, stays ? advice::never : advice::session}, std::move(what));
}

}  // namespace tableq::inline v0::drivers::odbc
