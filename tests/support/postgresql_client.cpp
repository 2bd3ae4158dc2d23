#include "support/postgresql_client.hpp"

#include <stdexcept>

namespace tableq_test {
namespace {

struct clearer {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

void ignore_notice(void* /*context*/, const PGresult* /*notice*/) {}

}  // namespace

postgresql_client::postgresql_client(const std::string& connect)
    : handle_(PQconnectdb(connect.c_str())) {
  if (PQstatus(handle_.get()) != CONNECTION_OK) {
    throw std::runtime_error(std::string("plain client: ") + PQerrorMessage(handle_.get()));
  }
  PQsetNoticeReceiver(handle_.get(), ignore_notice, nullptr);
}

rows postgresql_client::run(const std::string& text) {
  const std::unique_ptr<PGresult, clearer> result(PQexec(handle_.get(), text.c_str()));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    throw std::runtime_error(std::string("plain client: ") + PQresultErrorMessage(result.get()));
  }
  rows out;
  for (int r = 0; r < PQntuples(result.get()); ++r) {
    row& line = out.emplace_back();
    for (int c = 0; c < PQnfields(result.get()); ++c) {
      if (PQgetisnull(result.get(), r, c) != 0) {
        line.emplace_back();
      } else {
        line.emplace_back(PQgetvalue(result.get(), r, c));
      }
    }
  }
  return out;
}

std::map<std::string, std::string> postgresql_client::settings() const {
  std::map<std::string, std::string> found;
  const std::unique_ptr<PQconninfoOption, clearer> all(PQconninfo(handle_.get()));
  for (const PQconninfoOption* each = all.get(); each->keyword != nullptr; ++each) {
    if (each->val != nullptr && *each->val != '\0') found[each->keyword] = each->val;
  }
  // Only the session has the values of the defaults.
  found["host"] = PQhost(handle_.get());
  found["port"] = PQport(handle_.get());
  found["user"] = PQuser(handle_.get());
  found["dbname"] = PQdb(handle_.get());
  return found;
}

}  // namespace tableq_test
