#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "support/backends.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

void replace(std::string& text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  ASSERT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), by);
}

/// A server whose numbers of transactions are used up. That takes hours, so the tests make its
/// error by other means, and give doctor's query another age.
class wraparound : public on_each_backend {
 protected:
  /// The sentence of doctor at an age of the oldest transaction.
  std::string finding_at(std::int64_t age) {
    std::string text =
        tableq::statements("postgresql", tableq::kind::claim, "jobs").at("doctor.database");
    replace(text, "FROM pg_database) AS used",
            "FROM (SELECT CAST(CAST((pg_catalog.txid_current() + 4294967296 - " +
                std::to_string(age) +
                ") % 4294967296 AS text) AS xid) AS datfrozenxid) AS databases) AS used");
    replace(text, "pg_catalog.mxid_age(datminmxid)", "0");
    for (const auto& [name, value] : {std::pair(":layout", "0"), {":kind", "'claim'"}}) {
      while (contains(text, name)) replace(text, name, value);
    }
    std::string out;
    for (const auto& each : here().sql(text)) {
      const std::string what = each.at(1).value();
      if (contains(what, "numbers of transactions") || contains(what, "takes writes")) {
        out += each.at(0).value() + ' ' + what;
      }
    }
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(, wraparound, testing::Values(&postgresql_backend()), backend_name);

TEST_P(wraparound, is_a_warning_before_the_server_stops_and_a_problem_at_the_stop) {
  EXPECT_EQ(finding_at(1'000'000'000), "0 the server takes writes");
  EXPECT_EQ(finding_at(1'700'000'000),
            "1 79.2 per cent of the numbers of transactions are used up");
  // Three million before 2^31.
  EXPECT_EQ(finding_at(2'144'483'648),
            "2 the numbers of transactions are used up: writes fail, or soon will");
}

TEST_P(wraparound, is_trouble_that_a_worker_outlasts) {
  auto jobs = db().claim("jobs");
  jobs.enqueue("job");
  // An entry of an index that is too long has the same SQLSTATE, and no value of the statement.
  here().sql(
      "CREATE FUNCTION long_text(integer) RETURNS text IMMUTABLE LANGUAGE sql AS "
      "$$SELECT string_agg(md5(CAST(i AS text)), '') FROM generate_series($1, 999) AS i$$");
  here().sql("CREATE INDEX stop ON jobs ((CASE WHEN attempts > 0 THEN long_text(1) END))");
  std::atomic<int> troubles = 0;
  tableq::worker pool(jobs, [](const tableq::delivery&) {},
                      {.observe = [&](const tableq::worker_event& event) {
                        if (event.what != tableq::worker_event::kind::trouble) return;
                        EXPECT_TRUE(contains(event.why, "numbers of transactions")) << event.why;
                        ++troubles;
                      }});
  while (troubles < 2 && !pool.wait_for(10ms)) {
  }
  EXPECT_EQ(pool.counts().completed, 0U);
  here().sql("DROP INDEX stop");
  while (pool.counts().completed < 1 && !pool.wait_for(10ms)) {
  }
  pool.stop();
  EXPECT_NO_THROW(pool.join());
  EXPECT_EQ(pool.counts().completed, 1U);
}

}  // namespace
