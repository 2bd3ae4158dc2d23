#include <memory>
#include <utility>

#include "drivers/dialects.hpp"
#include "drivers/postgresql/floor/floor_session.hpp"
#include "drivers/postgresql/postgresql_sql.hpp"
#include "drivers/transport/libpq_address.hpp"
#include "drivers/transport/pooler_check.hpp"

namespace tableq::inline v0::drivers {
namespace {

std::shared_ptr<pooler_check> checked_pooler() {
  return std::make_shared<pooler_check>(pooler_texts{.begin = postgresql_sql::begin,
                                                     .process = postgresql_sql::session_process,
                                                     .probe = postgresql_sql::probe,
                                                     .kept = postgresql_sql::kept_statement});
}

endpoint resolve(const dialect& self, const connection_url& url) {
  libpq::address address = libpq::resolve_address(url);
  return {.connect = std::move(address.connect),
          .pooled = address.pooled,
          .capabilities = self.capabilities,
          .pooler = address.told && !address.pooled ? nullptr : checked_pooler()};
}

}  // namespace

dialect make_postgresql_dialect() {
  return {
      .name = "postgresql",
      .schemes = {"postgresql", "postgres"},
      .transport = "libpq",
      .products = {"PostgreSQL"},
      .statements = postgresql_sql::statements,
      .ddl = postgresql_sql::ddl(),
      .steps = postgresql_sql::steps(),
      .tables = postgresql_sql::tables,
      .prepares = true,
      .setup = {postgresql_sql::setup},
      // Not READ WRITE: on a standby that fails with another error than a write.
      .begin = "BEGIN ISOLATION LEVEL READ COMMITTED",
      .read_only_state = postgresql_sql::read_only_state,
      .batches = batching::arrays,
      // The server stores no value of 1 GiB, and a message has a row together with other data. It
      // writes bytes as text with two digits for each and no row of 1 GiB either: one of 537 MB
      // makes pg_dump fail. Through ODBC this text is also how they are sent.
      .capabilities = {.strict_needs_lock = true,
                       .schemas = true,
                       .notifies = true,
                       .takes_look = true,
                       .deleted_rows_linger = true,
                       .partial_indexes = true,
                       .null_breaks_order = true,
                       .max_payload = 1'000'000'000,
                       .usual_payload = 500'000'000},
      .own = &postgresql::floor_sessions,
      .resolve = resolve,
      .classify = classify_postgresql,
  };
}

}  // namespace tableq::inline v0::drivers
