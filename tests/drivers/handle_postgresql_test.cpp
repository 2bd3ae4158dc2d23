#include <libpq-fe.h>

#include <gtest/gtest.h>

#include <memory>

#include <tableq/libpq.hpp>

#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

struct finish {
  void operator()(PGconn* open) const noexcept { PQfinish(open); }
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using answer_of_server = std::unique_ptr<PGresult, finish>;

class enlisted_connection : public on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, enlisted_connection, testing::Values(&postgresql_backend()),
                         backend_name);

TEST_P(enlisted_connection, with_a_statement_under_way_is_refused_and_keeps_its_results) {
  auto mail = db().fifo("mail");
  const std::unique_ptr<PGconn, finish> own(PQconnectdb(here().url().c_str()));
  answer_of_server(PQexec(own.get(), "CREATE TABLE own (n integer)"));
  tableq::enlistment joined = tableq::enlist(db(), own.get(), tableq::autocommit);

  ASSERT_EQ(PQsendQuery(own.get(), "INSERT INTO own VALUES (1)"), 1);
  EXPECT_CODE(invalid_argument, mail.in(joined).enqueue("lost"));
  EXPECT_EQ(PQresultStatus(answer_of_server(PQgetResult(own.get())).get()), PGRES_COMMAND_OK);
  EXPECT_EQ(PQgetResult(own.get()), nullptr);

  EXPECT_EQ(PQresultStatus(answer_of_server(PQexec(own.get(), "COPY own FROM STDIN")).get()),
            PGRES_COPY_IN);
  EXPECT_CODE(invalid_argument, mail.in(joined).enqueue("lost"));
  EXPECT_EQ(PQputCopyData(own.get(), "2\n", 2), 1);
  EXPECT_EQ(PQputCopyEnd(own.get(), nullptr), 1);
  EXPECT_EQ(PQresultStatus(answer_of_server(PQgetResult(own.get())).get()), PGRES_COMMAND_OK);
  EXPECT_EQ(PQgetResult(own.get()), nullptr);

  mail.in(joined).enqueue("stored");
  EXPECT_EQ(mail.stats().waiting, 1U);
  EXPECT_EQ(here().sql("SELECT count(*) FROM own").at(0).at(0), "2");
}

}  // namespace
