#include "support/sqlserver_client.hpp"

#include <stdexcept>

#include <tableq/unstable/dialect.hpp>

#include "support/text.hpp"

namespace tableq_test {
namespace {

std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%' && at + 2 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

/// Cuts off the text after the first `mark`. @return that text, without the mark.
std::string cut(std::string& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {};
  std::string rest = text.substr(at + 1);
  text.resize(at);
  return rest;
}

[[noreturn]] void fail(const char* deed, const odbc_records& why, bool in_words = true) {
  std::string told = std::string("plain client: ") + deed + ":";
  for (const odbc_record& each : why) {
    told += " " + each.state + " " + std::to_string(each.native);
    if (in_words) told += " " + each.text;
  }
  throw std::runtime_error(told);
}

std::string literal(const std::string& text) {
  return "N'" + replaced(text, "'", "''") + "'";
}

/// A batch of one item: one row of VALUES, with the number 1.
std::string with_one_item(std::string text) {
  const std::string opening = "{items:";
  for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
    text.erase(at, opening.size());
    text.erase(text.find('}', at), 1);
  }
  return text;
}

std::string value_of(const std::string& name, const parameters& with) {
  return name == "item" ? "1" : with.at(name);
}

/// The text with `@p_name` for `:name`, and each name's value.
struct named {
  std::string text;
  std::map<std::string, std::string> values;
};
named as_named(const std::string& text, const parameters& with) {
  named out;
  out.text = with_markers(with_one_item(text), [&](const std::string& name) {
    out.values[name] = value_of(name, with);
    // Statements have their own variables.
    return "@p_" + name;
  });
  return out;
}

}  // namespace

sqlserver_address::sqlserver_address(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::string name = url.substr(0, scheme);
  if (scheme == std::string::npos || (name != "sqlserver" && name != "mssql")) {
    throw std::runtime_error("an address begins with sqlserver://");
  }
  host = url.substr(scheme + 3);
  std::string query = cut(host, '?');
  database = decoded(cut(host, '/'));
  if (contains(host, "@")) {
    std::string login = host;
    host = cut(login, '@');
    password = decoded(cut(login, ':'));
    user = decoded(login);
  }
  while (!query.empty()) {
    std::string rest = cut(query, '&');
    const std::string value = cut(query, '=');
    settings[decoded(query)] = decoded(value);
    query = rest;
  }
}

std::string sqlserver_address::url(const std::string& scheme) const {
  std::string out = scheme + "://";
  if (!user.empty()) out += percent_encoded(user) + ":" + percent_encoded(password) + "@";
  out += host;
  if (!database.empty()) out += "/" + percent_encoded(database);
  char separator = '?';
  for (const auto& [key, value] : settings) {
    out += separator + percent_encoded(key) + "=" + percent_encoded(value);
    separator = '&';
  }
  return out;
}

std::string sqlserver_address::connection_string() const {
  const tableq::dialect spoken = tableq::find_dialect("sqlserver");
  tableq::connection_url parts;
  parts.scheme = "sqlserver";
  parts.settings = settings;
  parts.raw = url();
  return spoken.resolve(spoken, parts).connect;
}

sqlserver_client::sqlserver_client(const std::string& connection_string) try
    : odbc_(connection_string) {
} catch (const odbc_failure& refused) {
  // A driver's message may contain the login data.
  fail("connect", refused.records, false);
}

odbc_outcome sqlserver_client::checked(const std::string& text) {
  odbc_outcome out = odbc_.run(text);
  if (!out.errors.empty()) fail("run", out.errors);
  return out;
}

rows sqlserver_client::run(const std::string& text) {
  odbc_outcome out = checked(text);
  for (auto result = out.results.rbegin(); result != out.results.rend(); ++result) {
    if (!result->empty()) return *result;
  }
  return {};
}

std::string sqlserver_client::plans(const std::string& text) {
  static_cast<void>(checked("SET SHOWPLAN_XML ON"));
  const odbc_outcome shown = odbc_.run(text);
  static_cast<void>(checked("SET SHOWPLAN_XML OFF"));
  if (!shown.errors.empty()) fail("plan", shown.errors);
  std::string out;
  for (const rows& result : shown.results) {
    for (const row& each : result) out += each.at(0).value_or("") + "\n";
  }
  return out;
}

std::int64_t sqlserver_client::pages_read() {
  const rows told = run("SELECT logical_reads FROM sys.dm_exec_sessions WHERE session_id = @@SPID");
  return std::stoll(told.at(0).at(0).value());
}

std::string with_literals(const std::string& text, const parameters& with) {
  return with_markers(with_one_item(text),
                      [&](const std::string& name) { return value_of(name, with); });
}

std::string with_variables(const std::string& text, const parameters& with) {
  const named all = as_named(text, with);
  std::string declared;
  for (const auto& [name, value] : all.values) {
    declared += "DECLARE @p_" + name + " bigint = " + value + ";\n";
  }
  return declared + all.text;
}

std::string as_prepared(const std::string& text, const parameters& with) {
  const named all = as_named(text, with);
  std::string declared;
  std::string given;
  for (const auto& [name, value] : all.values) {
    declared += (declared.empty() ? "@p_" : ", @p_") + name + " bigint";
    given += ", @p_" + name + " = " + value;
  }
  if (declared.empty()) return "EXEC sp_executesql " + literal(all.text);
  return "EXEC sp_executesql " + literal(all.text) + ", " + literal(declared) + given;
}

}  // namespace tableq_test
