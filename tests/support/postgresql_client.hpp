#pragma once

#include <libpq-fe.h>

#include <map>
#include <memory>
#include <string>

#include "support/backend.hpp"

namespace tableq_test {

/// A plain client of PostgreSQL, like `psql`.
class postgresql_client {
 public:
  /// @throws std::runtime_error when no session can be opened.
  explicit postgresql_client(const std::string& connect);

  /// Any number of statements; the rows of the last one.
  rows run(const std::string& text);
  /// The parameters of the session, explicit or from the environment: host, port, user, ...
  [[nodiscard]] std::map<std::string, std::string> settings() const;

 private:
  struct closer {
    void operator()(PGconn* open) const noexcept { PQfinish(open); }
  };
  std::unique_ptr<PGconn, closer> handle_;
};

}  // namespace tableq_test
