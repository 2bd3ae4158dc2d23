#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "support/backends.hpp"
#include "support/postgresql_place.hpp"

namespace tableq_test {
namespace {

#if defined(TABLEQ_WITH_ODBC)
/// A schema, used through the server's ODBC driver.
class odbc_schema_place : public schema_place {
 public:
  std::string url() const override { return "odbc://" + odbc(tableq_settings()); }
  std::string url_with(std::string_view key, std::string_view value) const override {
    settings more = tableq_settings();
    more[std::string(key)] = value;
    return "odbc://" + odbc(more);
  }
  std::vector<std::string> other_forms() const override { return {schema_place::url()}; }
  std::vector<address_check> session_checks() const override {
    auto checks = schema_place::session_checks();
    checks.erase(
        std::remove_if(checks.begin(), checks.end(),
                       [](const address_check& each) { return each.url.rfind("odbc://", 0) != 0; }),
        checks.end());
    return checks;
  }
  std::vector<std::pair<std::string, std::string>> bad_settings() const override {
    return {{"ByteaAsLongVarBinary", "0"}, {"ReadOnly", "1"}};
  }
  std::unique_ptr<soci::session> refused_session() const override {
    settings own = tableq_settings();
    own["ByteaAsLongVarBinary"] = "0";
    return soci_odbc_session(odbc(own));
  }
  std::optional<std::string> listening_sql() const override { return {}; }
  std::optional<std::string> session_count_sql() const override { return {}; }
  /// The driver prepares statements of its own.
  std::optional<std::string> leftovers_sql() const override { return {}; }
  std::unique_ptr<soci::session> session() const override {
    settings own = tableq_settings();
    own["application_name"] = "caller";
    return soci_odbc_session(odbc(own));
  }

 protected:
  std::string address_of(const settings& all) const override { return "odbc://" + odbc(all); }

 private:
  /// The driver's keywords, if it has them; the other parts go to its client library.
  static std::string odbc(settings all) {
    // Protocol 7.4-0: no savepoint of the driver's own before each statement.
    std::string out = "Driver={PostgreSQL Unicode};Protocol=7.4-0";
    for (const auto& [ours, theirs] : {std::pair{"host", "Servername"},
                                       {"port", "Port"},
                                       {"dbname", "Database"},
                                       {"user", "UID"},
                                       {"sslmode", "SSLmode"},
                                       {"ByteaAsLongVarBinary", "ByteaAsLongVarBinary"},
                                       {"ReadOnly", "ReadOnly"},
                                       {"password", "PWD"}}) {
      if (all.count(ours) != 0) out += std::string(";") + theirs + "=" + all[ours];
      all.erase(ours);
    }
    return out + ";pqopt={" + as_libpq_string(all) + "}";
  }
};
#endif

class server_backend : public backend {
 public:
  std::string name() const override { return "postgresql"; }
  features can() const override { return {}; }
  std::optional<std::string> missing() const override {
    if (std::getenv(server_variable) != nullptr) return {};
    return std::string("the environment variable ") + server_variable + " is not set";
  }
  std::unique_ptr<place> fresh() const override { return std::make_unique<schema_place>(); }
};

#if defined(TABLEQ_WITH_ODBC)
class odbc_server_backend : public server_backend {
 public:
  std::string name() const override { return "postgresql_odbc"; }
  features can() const override { return {.checks_keys = false, .second_way = true}; }
  std::unique_ptr<place> fresh() const override { return std::make_unique<odbc_schema_place>(); }
};
#endif

}  // namespace

const backend& postgresql_backend() {
  static const server_backend only;
  return only;
}

#if defined(TABLEQ_WITH_ODBC)
const backend& postgresql_odbc_backend() {
  static const odbc_server_backend only;
  return only;
}
#endif

}  // namespace tableq_test
