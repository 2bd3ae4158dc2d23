#include "postgresql_place.hpp"

#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>

namespace bench {

namespace {

/// Options in the address stay; the last one of a name counts.
std::string with_options(std::string address, const std::string& schema,
                         const std::string& synchronous) {
  const std::string more = "-csearch_path%3D" + schema + "%20-csynchronous_commit%3D" + synchronous;
  std::size_t begin = address.find("?options=");
  if (begin == std::string::npos) begin = address.find("&options=");
  if (begin == std::string::npos) {
    return address + (address.find('?') == std::string::npos ? '?' : '&') + "options=" + more;
  }
  const std::size_t end = address.find('&', begin + 1);
  return address.insert(end == std::string::npos ? address.size() : end, "%20" + more);
}

std::string quoted(std::string_view name) {
  return '"' + std::string(name) + '"';
}

}  // namespace

postgresql_place::postgresql_place(const std::string& address, const std::string& synchronous)
    : schema_("tableq_bench_" + std::to_string(::getpid()) + '_' + synchronous),
      url_(with_options(address, schema_, synchronous)),
      on_(url_) {
  on_.run("CREATE SCHEMA " + schema_);
  on_.run("CREATE TABLE plain (id bigserial PRIMARY KEY, payload bytea NOT NULL)");
  on_.run(
      "CREATE TABLE claims (id bigserial PRIMARY KEY, taken boolean NOT NULL DEFAULT false,"
      " payload bytea NOT NULL)");
  on_.run("CREATE INDEX ready ON claims (id) WHERE NOT taken");
}

postgresql_place::~postgresql_place() {
  try {
    on_.run("DROP SCHEMA " + schema_ + " CASCADE");
  } catch (const std::exception& failure) {
    // A destructor must not throw; what remains is reported.
    std::cerr << "left behind the schema " << schema_ << ": " << failure.what() << '\n';
  }
}

raw_words postgresql_place::words() {
  return {.mail = "plain",
          .claims = "claims",
          .waiting = "NOT taken",
          .order = "id",
          .taken = "taken = true"};
}

void postgresql_place::clear(std::string_view table) {
  on_.run("TRUNCATE " + quoted(table));
}

std::string postgresql_place::addition(std::string_view table, std::size_t messages) {
  return "INSERT INTO " + quoted(table) + " (payload) SELECT decode(repeat('61', " +
         std::to_string(payload().size()) + "), 'hex') FROM generate_series(1, " +
         std::to_string(messages) + ")";
}

void postgresql_place::add(std::string_view table, std::size_t messages) {
  on_.run(addition(table, messages));
}

void postgresql_place::tidy(std::string_view table) {
  on_.run("VACUUM (ANALYZE) " + quoted(table));
}

double postgresql_place::log_bytes() {
  return std::stod(on_.value("SELECT pg_current_wal_insert_lsn() - '0/0'"));
}

json postgresql_place::describe() {
  json out;
  out["postgresql"] = on_.value("SHOW server_version");
  for (const char* setting : {"shared_buffers", "max_wal_size", "fsync", "full_page_writes"}) {
    out[setting] = on_.value(std::string("SHOW ") + setting);
  }
  return out;
}

}  // namespace bench
