#include "drivers/dialects.hpp"
#include "drivers/postgresql/postgresql_sql.hpp"
#include "drivers/transport/libpq_address.hpp"

namespace tableq::drivers {
namespace {

endpoint resolve(const dialect& self, const connection_url& url) {
  return {
      .connect = libpq::connect_string(url),
      .setup =
          {
              "SET client_encoding TO 'UTF8'",
              // Above it, readers that meet fail with 40001 instead of stepping aside.
              "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
              // A plan is made once and kept. It may be made while the table is empty, where
              // reading all of it and sorting looks cheapest, and must still be right when a
              // million messages wait: so it may only follow an index.
              "SET plan_cache_mode TO force_generic_plan",
              "SET enable_seqscan TO off",
              "SET enable_bitmapscan TO off",
              "SET enable_sort TO off",
              // What is switched off is planned all the same where there is no other way, at a
              // price that would have the statement compiled.
              "SET jit TO off",
          },
      .able = self.able,
  };
}

}  // namespace

dialect make_postgresql_dialect() {
  return {
      .name = "postgresql",
      .schemes = {"postgresql", "postgres"},
      .transport = "libpq",
      .statements = postgresql_sql::statements,
      .ddl = {{"catalog", postgresql_sql::ddl_catalog},
              {"heap", postgresql_sql::ddl_heap},
              {"fifo", postgresql_sql::ddl_fifo},
              {"lifo", postgresql_sql::ddl_lifo},
              {"pending", postgresql_sql::ddl_pending},
              {"claim", postgresql_sql::ddl_claim}},
      // Not READ WRITE: on a standby that would fail with another error than writing does.
      .begin = "BEGIN ISOLATION LEVEL READ COMMITTED",
      .batches = batching::arrays,
      // The server holds no value of 1 GiB, and a row travels in one message with what surrounds
      // it.
      .able = {.strict_needs_lock = true, .schemas = true, .max_payload = 1'000'000'000},
      .resolve = resolve,
      .classify = classify_postgresql,
  };
}

}  // namespace tableq::drivers
