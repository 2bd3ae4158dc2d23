#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

namespace bench {

struct result_closer {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using libpq_result = std::unique_ptr<PGresult, result_closer>;

struct closer {
  bool owns = true;
  void operator()(PGconn* connection) const noexcept {
    if (owns) PQfinish(connection);
  }
};

/// A connection of libpq. Used by one thread at a time.
class libpq_connection {
 public:
  /// @throws std::runtime_error without the address: it may hold a password.
  explicit libpq_connection(const std::string& address);
  explicit libpq_connection(PGconn* borrowed) : handle_(borrowed, closer{.owns = false}) {}

  /// Statements without parameters.
  libpq_result run(const std::string& text);
  /// The first field of the first row.
  std::string value(const std::string& text);
  /// With one binary parameter, and not prepared.
  void run_with(const std::string& text, std::string_view parameter);
  void prepare(const char* name, const std::string& text);
  /// With one binary parameter, or none if that is empty. Results in binary.
  libpq_result execute(const char* name, const std::string* parameter);
  [[nodiscard]] PGconn* handle() const { return handle_.get(); }

 private:
  libpq_result checked(PGresult* result);

  std::unique_ptr<PGconn, closer> handle_;
};

/// PostgreSQL's binary form of `bytea[]` and `bigint[]`.
std::string binary_array(const std::vector<std::string_view>& items);
std::string binary_array(const std::vector<std::int64_t>& items);
/// A `bigint` of a result in binary.
std::int64_t binary_number(const PGresult* result, int row, int column);

}  // namespace bench
