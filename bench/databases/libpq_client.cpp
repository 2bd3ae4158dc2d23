#include "libpq_client.hpp"

#include <cstring>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::uint32_t oid_of_bytea = 17;
constexpr std::uint32_t oid_of_bigint = 20;

template <class Number>
void append(std::string& out, Number value) {
  for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xFF);
  }
}

void append_head(std::string& out, std::uint32_t type, std::size_t count) {
  append<std::uint32_t>(out, 1);  // One dimension,
  append<std::uint32_t>(out, 0);  // without NULLs,
  append(out, type);
  append(out, static_cast<std::uint32_t>(count));
  append<std::uint32_t>(out, 1);  // from 1.
}

}  // namespace

libpq_connection::libpq_connection(const std::string& address)
    : handle_(PQconnectdb(address.c_str())) {
  if (PQstatus(handle_.get()) != CONNECTION_OK) {
    throw std::runtime_error("PostgreSQL: cannot connect");
  }
  PQsetNoticeProcessor(
      handle_.get(), [](void*, const char*) {}, nullptr);
}

libpq_result libpq_connection::checked(PGresult* result) {
  libpq_result owned(result);
  const ExecStatusType status = PQresultStatus(owned.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(std::string("PostgreSQL: ") + PQerrorMessage(handle_.get()));
  }
  return owned;
}

libpq_result libpq_connection::run(const std::string& text) {
  return checked(PQexec(handle_.get(), text.c_str()));
}

std::string libpq_connection::value(const std::string& text) {
  const libpq_result result = run(text);
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

void libpq_connection::prepare(const char* name, const std::string& text) {
  checked(PQprepare(handle_.get(), name, text.c_str(), 0, nullptr));
}

void libpq_connection::run_with(const std::string& text, std::string_view parameter) {
  const char* values[] = {parameter.data()};
  const int lengths[] = {static_cast<int>(parameter.size())};
  const int formats[] = {1};
  checked(PQexecParams(handle_.get(), text.c_str(), 1, nullptr, values, lengths, formats, 1));
}

libpq_result libpq_connection::execute(const char* name, const std::string* parameter) {
  const char* values[] = {parameter == nullptr ? nullptr : parameter->data()};
  const int lengths[] = {parameter == nullptr ? 0 : static_cast<int>(parameter->size())};
  const int formats[] = {1};
  return checked(PQexecPrepared(handle_.get(), name, parameter == nullptr ? 0 : 1, values, lengths,
                                formats, 1));
}

std::string binary_array(const std::vector<std::string_view>& items) {
  std::string out;
  append_head(out, oid_of_bytea, items.size());
  for (const std::string_view item : items) {
    append(out, static_cast<std::uint32_t>(item.size()));
    out += item;
  }
  return out;
}

std::string binary_array(const std::vector<std::int64_t>& items) {
  std::string out;
  append_head(out, oid_of_bigint, items.size());
  for (const std::int64_t item : items) {
    append<std::uint32_t>(out, sizeof item);
    append(out, item);
  }
  return out;
}

std::int64_t binary_number(const PGresult* result, int row, int column) {
  std::uint64_t value = 0;
  const char* bytes = PQgetvalue(result, row, column);
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace bench
