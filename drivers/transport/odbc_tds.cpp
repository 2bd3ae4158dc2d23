#include "drivers/transport/odbc_tds.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/connection_string.hpp"
#include "drivers/transport/odbc_address.hpp"
#include "drivers/transport/odbc_drivers.hpp"

namespace tableq::inline v0::drivers::odbc {
namespace {

using namespace std::chrono_literals;

/// The settings of an address, checked as far as possible without a driver.
struct tds_settings {
  std::string_view backend;
  uri location;
  std::string instance = {};
  std::string driver = {};
  std::string encrypt = {};  ///< `yes`, `no`, `strict` or empty.
  std::optional<bool> trust = {};
  std::string application = {};
  bool windows_login = false;
  std::chrono::milliseconds statement_timeout = 30s;
  std::optional<std::chrono::milliseconds> login_timeout = {};
};

/// Whether a key names a part of the address that stands before the question mark. Other programs
/// have keys for these.
bool is_a_part(std::string_view key) {
  constexpr std::array<std::string_view, 9> parts{"user", "username", "uid",  "password", "pwd",
                                                  "host", "server",   "port", "database"};
  return std::ranges::find(parts, lowered(key)) != parts.end();
}

void read_setting(const std::string& key, const std::string& given, tds_settings& settings) {
  const auto one_of = [&](std::initializer_list<std::string_view> known, const char* sentence) {
    if (std::find(known.begin(), known.end(), given) == known.end()) {
      refuse(settings.backend, sentence);
    }
    return given;
  };
  if (key == "driver") {
    settings.driver = given;
  } else if (key == "encrypt") {
    settings.encrypt = one_of({"yes", "no", "strict"}, "encrypt is one of yes, no and strict");
  } else if (key == "trust_server_certificate") {
    settings.trust = one_of({"yes", "no"}, "trust_server_certificate is yes or no") == "yes";
  } else if (key == "application_name") {
    check_characters(settings.backend, "application_name", given);
    settings.application = given;
  } else if (key == "instance") {
    if (!settings.instance.empty()) refuse(settings.backend, "the instance is given twice");
    if (given.empty()) refuse(settings.backend, "instance is given without a name");
    check_characters(settings.backend, "instance", given);
    settings.instance = given;
  } else if (key == "authentication") {
    one_of({"windows"}, "authentication takes windows only; leave it out to log in with a name");
    settings.windows_login = true;
  } else if (key == "statement_timeout") {
    settings.statement_timeout = core::parse_duration(key, given, 1s, 24h);
  } else if (key == "login_timeout") {
    settings.login_timeout = core::parse_duration(key, given, 1s, 1h);
  } else if (is_a_part(key)) {
    refuse(settings.backend,
           core::shown(key) +
               " stands before the question mark: sqlserver://user:password@host:1433/database, "
               "with characters such as / @ : ? % as %2F %40 %3A %3F %25");
  } else {
    refuse(settings.backend,
           "unknown key " + core::shown(key) +
               "; known are driver, encrypt, trust_server_certificate, application_name, instance, "
               "authentication, statement_timeout and login_timeout");
  }
}

void check(const tds_settings& given) {
  const auto no = [&](const char* sentence) { refuse(given.backend, sentence); };
  if (given.location.host.empty()) {
    no("no host is named; write sqlserver://user:password@host:1433/database");
  }
  if (given.location.host.find('\\') != std::string::npos ||
      !std::all_of(given.instance.begin(), given.instance.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '#';
      })) {
    no("an instance's name holds letters, digits, _, $ and # only");
  }
  if (!given.instance.empty() && given.location.port) {
    no("give either a port or an instance: the instance's port is asked of the host");
  }
  if (given.windows_login && !(given.location.user.empty() && given.location.password.empty())) {
    no("authentication=windows logs in as the user of the process; leave name and password out");
  }
  if (!given.windows_login && given.location.user.empty()) {
    no("no user is named; write sqlserver://user:password@host:1433/database, or "
       "authentication=windows after the question mark");
  }
  for (const std::string* each : {&given.location.user, &given.location.password,
                                  &given.location.database, &given.application}) {
    // The login message has no more room, and a driver would cut longer values.
    if (each->size() > 128) no("no name or password may be longer than 128 characters");
  }
  if (given.encrypt == "strict" && given.trust == true) {
    no("encrypt=strict always checks the certificate; leave trust_server_certificate out");
  }
}

tds_settings read(const connection_url& url, std::string_view backend) {
  tds_settings out{.backend = backend, .location = parse_uri(url, backend)};
  if (const std::size_t cut = out.location.host.find('\\'); cut != std::string::npos) {
    out.instance = out.location.host.substr(cut + 1);
    if (out.instance.empty()) refuse(backend, "after the backslash no instance is named");
    out.location.host.resize(cut);
  }
  core::named(backend, "connect", [&] {
    for (const auto& [key, given] : url.settings) read_setting(key, given, out);
  });
  check(out);
  return out;
}

std::string choose(const tds_settings& given, const std::vector<std::string>& installed) {
  const auto end = installed.end();
  auto found = end;
  if (given.driver.empty()) {
    found = std::max_element(installed.begin(), end, [](const auto& a, const auto& b) {
      return preference(a) < preference(b);
    });
  } else {
    found = std::find_if(installed.begin(), end, [&](const std::string& name) {
      return lowered(name) == lowered(given.driver);
    });
  }
  if (found != end && preference(*found) > 0) return *found;
  if (found != end && !given.driver.empty()) {
    refuse(given.backend,
           "`driver` names an ODBC driver that is not for SQL Server; odbc:// takes a connection "
           "string for any");
  }
  const std::string usual(usual_drivers);
  const std::string help = "; install Microsoft's package msodbcsql18, or FreeTDS (tdsodbc)";
  if (given.driver.empty()) {
    refuse(given.backend,
           "no ODBC driver for SQL Server is installed: looked for " + usual +
               ", and for other names with SQL Server" + help,
           errc::connection_failed);
  }
  std::string there;
  for (const std::string& name : installed) {
    if (preference(name) > 0) there += (there.empty() ? "" : ", ") + name;
  }
  refuse(given.backend, "`driver` names no installed ODBC driver. Usual names are " + usual +
                            "; installed of these: " + (there.empty() ? "none" + help : there) +
                            ". A blank is written as %20");
}

/// SOCI sets no attribute before it connects. unixODBC sets those that the connection string names.
void add_login_timeout(builder& out, std::chrono::milliseconds longest) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(longest).count();
  out.add("DMConnAttr", "{SQL_ATTR_LOGIN_TIMEOUT=" + std::to_string(seconds) + "}");
}

/// Refuses settings that the driver does not know.
void check_driver(const tds_settings& given, const std::string& driver) {
  if (!is_freetds(driver)) {
    if (given.encrypt == "strict" && microsoft_release(driver) < 18) {
      refuse(given.backend, "encrypt=strict takes ODBC Driver 18 for SQL Server, or a later one");
    }
    return;
  }
  if (given.encrypt == "strict") {
    refuse(given.backend,
           "FreeTDS does not know encrypt=strict in all its releases; use yes, or "
           "Microsoft's driver");
  }
  if (given.trust == false) {
    refuse(given.backend,
           "FreeTDS does not check the server's certificate, so trust_server_certificate=no "
           "cannot be had; use Microsoft's driver");
  }
}

std::string connect_string(const tds_settings& given, const std::string& driver) {
  check_driver(given, driver);
  const bool freetds = is_freetds(driver);
  const uri& to = given.location;
  const std::string port = std::to_string(to.port.value_or(1433));
  builder out;
  const auto add = [&](const char* key, const char* part, const std::string& value) {
    if (value.empty()) return;
    // Up to version 1.3.20 FreeTDS reads `}}` as two braces; later versions accept no single `}`
    // between braces.
    const auto written = freetds ? quoted_without_doubling(value) : odbc::quoted(value);
    if (!written) {
      refuse(given.backend, std::string(part) +
                                " holds } together with ;, or with { at the beginning, which "
                                "FreeTDS cannot read; use Microsoft's driver");
    }
    out.add(key, *written);
  };
  out.add("Driver", odbc::quoted(driver));
  const std::string host = freetds ? to.host : "tcp:" + to.host;
  if (!given.instance.empty()) {
    out.add("Server", host + '\\' + given.instance);
  } else if (freetds) {
    out.add("Server", host).add("Port", port);
  } else {
    out.add("Server", host + ',' + port);
  }
  add("Database", "the database", to.database);
  if (given.windows_login) out.add("Trusted_Connection", "yes");
  add("UID", "the user's name", to.user);
  add("PWD", "the password", to.password);
  if (freetds) out.add("TDS_Version", "7.4").add("ClientCharset", "UTF-8");
  if (freetds && !given.encrypt.empty()) {
    // Not `off`: that would leave the login, and so the password, unencrypted as well.
    out.add("Encryption", given.encrypt == "yes" ? "require" : "request");
  } else if (!given.encrypt.empty()) {
    out.add("Encrypt", given.encrypt);
  }
  if (!freetds && given.trust) out.add("TrustServerCertificate", *given.trust ? "yes" : "no");
  add("APP", "application_name", given.application);
  // Microsoft's default. FreeTDS alone would wait without end for a server that accepts a
  // connection and says nothing.
  if (freetds || given.login_timeout) add_login_timeout(out, given.login_timeout.value_or(15s));
  return out.text();
}

}  // namespace

tds_address resolve_tds(const connection_url& url, std::string_view backend,
                        const std::vector<std::string>& installed) {
  const tds_settings given = read(url, backend);
  const std::string driver = choose(given, installed);
  return {.connect = connect_string(given, driver), .statement_timeout = given.statement_timeout};
}

}  // namespace tableq::inline v0::drivers::odbc
