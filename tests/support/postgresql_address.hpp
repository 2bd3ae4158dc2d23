#pragma once

#include <cstdlib>
#include <map>
#include <string>

#include "support/text.hpp"

namespace tableq_test {

inline constexpr const char* server_variable = "TABLEQ_TEST_POSTGRESQL";
/// The parts of an address, with libpq's names.
using settings = std::map<std::string, std::string>;

/// The variable in libpq's form: SOCI's form is a libpq string after a scheme.
inline std::string server_address(const char* variable = server_variable) {
  const std::string given = std::getenv(variable);
  const std::string scheme = "postgresql://";
  const bool soci_form = given.rfind(scheme, 0) == 0 && contains(given, "dbname=") &&
                         !contains(given, "?") && !contains(given, "@");
  return soci_form ? given.substr(scheme.size()) : given;
}

inline std::string quoted(const std::string& value) {
  return "'" + replaced(replaced(value, "\\", "\\\\"), "'", "\\'") + "'";
}

inline std::string as_libpq_string(const settings& all) {
  std::string out;
  for (const auto& [key, value] : all) out += key + "=" + quoted(value) + " ";
  return out;
}

/// `postgresql://user:password@hosts/dbname?rest`
inline std::string as_uri(settings all, const std::string& scheme, const std::string& first_hosts) {
  const auto take = [&all](const std::string& key) {
    const std::string value = percent_encoded(all[key]);
    all.erase(key);
    return value;
  };
  std::string uri = scheme + take("user");
  if (const std::string password = take("password"); !password.empty()) uri += ":" + password;
  const std::string host = take("host");
  uri += "@" + first_hosts + host + ":" + take("port") + "/" + take("dbname");
  char separator = '?';
  for (const auto& [key, value] : all) {
    uri += separator + key + "=" + percent_encoded(value);
    separator = '&';
  }
  return uri;
}

}  // namespace tableq_test
