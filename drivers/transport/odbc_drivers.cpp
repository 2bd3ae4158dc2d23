#include "drivers/transport/odbc_drivers.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>
#include <charconv>
#include <locale>
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
  /// The driver tells it when the time for the login has run out.
  bool late = false;
};

constexpr std::string_view unknown_host =
    "the host's name is unknown: check the host of the address";
constexpr std::string_view nothing_there =
    "nothing answers at the host and the port; check both, and the firewall";
constexpr std::string_view tries_on =
    ". The driver tries until login_timeout is over: a shorter one tells it sooner";
constexpr std::string_view after_a_comma =
    ". This driver takes the port after a comma, as in Server=host,1433";
constexpr std::string_view no_ticket =
    "no login as the user of the process: it needs a ticket of Kerberos (kinit, klist), and "
    "Microsoft's driver";
constexpr std::string_view no_instance =
    "the host does not tell the port of this instance: check its name, and that SQL Server Browser "
    "runs there (UDP port 1434), or give the port instead of the instance";
constexpr std::string_view broken_off =
    "the server ended the connection in the middle of the login: its log may tell why. It may "
    "demand encryption, or be no SQL Server";
constexpr std::string_view or_encrypt =
    "; encrypt=no (in a connection string Encrypt=no) does without encryption: the password then "
    "crosses the network readable";

constexpr int freetds_unreachable = 20009;
constexpr int freetds_failed = 20002;

constexpr std::array reasons{
    // Microsoft's: the network's numbers, the login's, those of TLS.
    reason{11001, advice::session, unknown_host},
    reason{10057, advice::session, nothing_there, {}, true},
    reason{10060, advice::session, nothing_there, {}, true},
    reason{10061, advice::session, nothing_there, {}, true},
    reason{10054, advice::session, broken_off},
    reason{458752, advice::session, no_ticket},
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
    reason{20017, advice::session, broken_off},
    reason{20013, advice::session, unknown_host},
    reason{freetds_unreachable, advice::session, nothing_there},
    reason{freetds_failed, advice::session,
           "the server ended the connection before the login: it may offer no encryption, demand "
           "it, or be no SQL Server",
           "; encrypt=no (in a connection string Encryption=request) does without encryption: the "
           "password then crosses the network readable"},
};

/// Of the first attribute with one of the keys; empty if there is none.
std::string value_of(const std::vector<attribute>& all,
                     std::initializer_list<std::string_view> keys) {
  const auto found = std::ranges::find_if(all, [&](const attribute& one) {
    return std::ranges::find(keys, one.key) != keys.end() && !one.value.empty();
  });
  return found == all.end() ? std::string() : found->value;
}

/// Whether the port stands where Microsoft's driver does not look for it.
bool misplaces_port(const std::vector<attribute>& all) {
  std::string server = lowered(value_of(all, {"SERVER"}));
  if (server.starts_with("tcp:")) server.erase(0, 4);
  return !value_of(all, {"PORT"}).empty() || std::ranges::count(server, ':') == 1;
}

}  // namespace

std::string lowered(std::string_view text) {
  return boost::algorithm::to_lower_copy(std::string(text), std::locale::classic());
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
  // That the host's name is unknown stands in another record.
  if (what.number == freetds_unreachable) return true;
  // 01S00: a warning of Microsoft's driver, because the address has a login_timeout.
  return what.number == 0 &&
         (what.sqlstate == "08001" || what.sqlstate == "HYT00" || what.sqlstate == "01S00");
}

std::string mistake_in(const std::string& connect, const native_error& what) {
  // The driver names the key.
  if (says(what.sentence, "value specified for connection string attribute")) return what.sentence;
  const std::string_view sqlstate = what.sqlstate;
  const std::vector<attribute> all = parse(connect);
  const std::string driver = value_of(all, {"DRIVER"});
  const std::string source = value_of(all, {"DSN", "FILEDSN"});
  if (missing_driver(sqlstate) && !driver.empty()) {
    const std::vector<std::string> installed = installed_drivers();
    const bool known = driver.find('/') != std::string::npos ||
                       std::ranges::any_of(installed, [&](const std::string& name) {
                         return lowered(name) == lowered(driver);
                       });
    if (!known) return "no ODBC driver has the name that Driver gives; " + listed_drivers();
  } else if (missing_driver(sqlstate) && source.empty()) {
    return "the connection string names neither a driver nor a data source: begin it with "
           "Driver=NAME; " +
           listed_drivers();
  } else if (sqlstate == no_such_source) {
    return "no data source has the name that DSN gives: `odbcinst -q -s` lists those there are. Or "
           "name a driver and a server instead, Driver=NAME;Server=host";
  }
  if (preference(driver) == 0 || !source.empty() ||
      !value_of(all, {"SERVER", "SERVERNAME", "ADDRESS", "ADDR"}).empty()) {
    return {};
  }
  return std::string("the connection string names no server: add ") +
         (is_freetds(driver) ? "Server=host;Port=1433" : "Server=host,1433");
}

native_failure explained(native_error what, const std::string& connect, bool limited) {
  const auto* const found = std::find_if(
      reasons.begin(), reasons.end(), [&](const reason& one) { return one.number == what.number; });
  if (found == reasons.end()) return native_failure(std::move(what));
  const std::vector<attribute> all = parse(connect);
  const bool by_name = value_of(all, {"SERVER"}).find('\\') != std::string::npos;
  const bool certificate = says(what.sentence, "certificate");
  std::string_view more = found->number == -1 && !certificate ? std::string_view() : found->option;
  if (found->late && limited) more = tries_on;
  if (found->number >= 10'000 && found->number < 20'000 && misplaces_port(all))
    more = after_a_comma;
  // Another attempt meets the same certificate.
  const bool stays = found->safe == advice::never || says(what.sentence, "certificate verify");
  if (!found->sentence.empty()) what.sentence = found->sentence;
  if (found->number == freetds_failed && lowered(value_of(all, {"TRUSTED_CONNECTION"})) == "yes") {
    what.sentence = no_ticket;
    more = {};
  }
  if (by_name && (found->number == freetds_unreachable || says(what.sentence, "locating server"))) {
    what.sentence = no_instance;
  }
  what.sentence += more;
  return native_failure::judged_as(
      {errc::connection_failed, stays ? advice::never : advice::session}, std::move(what));
}

}  // namespace tableq::inline v0::drivers::odbc
